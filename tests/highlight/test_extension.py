"""What is tested in node itself (editors/test): the package for VS Code, CodeMirror's language."""

from __future__ import annotations

from tests.highlight.needed import need_packages, run


def test_the_packaged_extension() -> None:
    need_packages()
    run("npm", "run", "--silent", "vsix")
    run("node", "--test", "test/extension.test.mjs")


def test_the_language_in_codemirror() -> None:
    need_packages()
    run("node", "--test", "test/codemirror.test.mjs")
