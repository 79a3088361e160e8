"""The VS Code extension is built, and its package tested in node (editors/test)."""

from __future__ import annotations

from tests.highlight.needed import need_packages, run


def test_the_packaged_extension() -> None:
    need_packages()
    run("npm", "run", "--silent", "vsix")
    run("node", "--test", "test/extension.test.mjs")
