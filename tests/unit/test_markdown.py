from __future__ import annotations

from tests.markdown import blocks


def test_the_info_string_is_a_tag_and_settings() -> None:
    [block] = blocks("Some text.\n\n```axon file=a.axon\nx = 1;\n```\n")
    assert (block.tag, block.settings) == ("axon", {"file": "a.axon"})
    assert (block.text, block.line) == ("x = 1;\n", 3)


def test_a_longer_fence_holds_a_shorter_one() -> None:
    [block] = blocks("````text\n```axon\n```\n````\n")
    assert block.text == "```axon\n```\n"


def test_an_indented_block_loses_its_indentation() -> None:
    [block] = blocks("1. a list\n\n   ```console\n   $ ls\n     a\n\n   ```\n")
    assert block.text == "$ ls\n  a\n\n"


def test_inline_code_opens_nothing() -> None:
    assert list(blocks("```not a block```\n")) == []


def test_a_block_without_an_end_goes_on_to_the_end() -> None:
    [first, second] = blocks("~~~\na\n~~~\n\n```\nb\n")
    assert (first.text, second.text) == ("a\n", "b\n")
