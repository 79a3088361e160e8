"""Write the grammars of `editors/`, from the lexical rules of the language.

    python scripts/grammars.py            write what differs
    python scripts/grammars.py --check    write nothing; exit 1 if a file is not up to date

The grammar for tree-sitter is written by hand, since it parses; the parser made of it is a file
too, which needs tree-sitter's own generator (see editors/README.md).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

from axon.highlight.lexicon import PLACED_CLASS, RULES, WORD_CLASS, Class

EDITORS = Path(__file__).resolve().parents[1] / "editors"
NOTE = "Made by scripts/grammars.py from src/axon/highlight/lexicon.py; change those instead."

SCOPES = {
    Class.COMMENT: "comment.line.number-sign.axon",
    Class.STRING: "string.quoted.double.axon",
    Class.NUMBER: "constant.numeric.axon",
    Class.CONSTANT: "constant.language.axon",
    Class.KEYWORD: "keyword.control.axon",
    Class.WORD_OPERATOR: "keyword.operator.word.axon",
    Class.TYPE: "support.type.axon",
    Class.FUNCTION: "entity.name.function.axon",
    Class.CALL: "entity.name.function.call.axon",
    Class.NAME: "variable.other.axon",
    Class.RUNTIME: "variable.language.size.axon",
    Class.FIELD: "variable.other.property.axon",
    Class.OPERATOR: "keyword.operator.axon",
    Class.PUNCTUATION: "punctuation.axon",
    Class.BAD: "invalid.illegal.axon",
}
"""TextMate's names, by which themes choose colours."""

TAGS = {
    Class.COMMENT: "lineComment",
    Class.STRING: "string",
    Class.NUMBER: "number",
    Class.CONSTANT: "atom",
    Class.KEYWORD: "keyword",
    Class.WORD_OPERATOR: "operatorKeyword",
    Class.TYPE: "typeName",
    Class.FUNCTION: "variableName.function.definition",
    Class.CALL: "variableName.function",
    Class.NAME: "variableName",
    Class.RUNTIME: "variableName.special",
    Class.FIELD: "propertyName",
    Class.OPERATOR: "operator",
    Class.PUNCTUATION: "punctuation",
    Class.BAD: "invalid",
}
"""CodeMirror's names: a tag of Lezer and its modifiers."""

VIM_GROUPS = {
    Class.COMMENT: "Comment",
    Class.STRING: "String",
    Class.NUMBER: "Number",
    Class.CONSTANT: "Constant",
    Class.KEYWORD: "Keyword",
    Class.WORD_OPERATOR: "Operator",
    Class.TYPE: "Type",
    Class.FUNCTION: "Function",
    Class.CALL: "Function",
    Class.NAME: "Identifier",
    Class.RUNTIME: "Special",
    Class.FIELD: "Identifier",
    Class.OPERATOR: "Operator",
    Class.PUNCTUATION: "Delimiter",
    Class.BAD: "Error",
}

EMACS_FACES = {
    Class.CONSTANT: "font-lock-constant-face",
    Class.KEYWORD: "font-lock-keyword-face",
    Class.WORD_OPERATOR: "font-lock-keyword-face",
    Class.TYPE: "font-lock-type-face",
}


def textmate() -> str:
    grammar = {
        "information_for_contributors": [NOTE],
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "Axon",
        "scopeName": "source.axon",
        "fileTypes": ["axon"],
        "patterns": [{"name": SCOPES[rule.kind], "match": rule.pattern} for rule in RULES],
    }
    return json.dumps(grammar, indent=2, ensure_ascii=False) + "\n"


def codemirror() -> str:
    rules = ",\n".join(
        f"  [{json.dumps(TAGS[rule.kind])}, /{rule.pattern.replace('/', chr(92) + '/')}/y]"
        for rule in RULES
    )
    words = json.dumps(sorted({*WORD_CLASS, *PLACED_CLASS}))
    return _filled("axon.js", rules=rules, words=words)


def _filled(template: str, **parts: str) -> str:
    """A file of `editors/templates` with each `{{name}}` replaced."""
    text = (EDITORS / "templates" / template).read_text(encoding="utf-8")
    for name, part in {"note": NOTE, **parts}.items():
        text = text.replace(f"{{{{{name}}}}}", part)
    return text


def _by_class(table: dict[str, Class]) -> dict[Class, list[str]]:
    found: dict[Class, list[str]] = {}
    for word, kind in sorted(table.items()):
        found.setdefault(kind, []).append(word)
    return found


_VIM_BRACKETS = (
    ("(?:", "%(", ")"),
    ("(?!", "%(", ")@!"),
    ("(?=", "%(", ")@="),
    ("(?<!", "%(", ")@1<!"),
)
_VIM_PIECE = re.compile(
    r"(?P<open>\(\?(?:<!|[:!=]))|(?P<close>\))|\[(?P<set>\^?(?:\\.|[^\]\\])+)\]|\\.|."
)
_VIM_SPECIAL = frozenset("=<>@{}&%~/")


def _vim_pattern(pattern: str) -> str:
    r"""The pattern in Vim's very magic form: `(…)@!` for `(?!…)`, and no newline in sets, which
    match none anyway. In a set `\/` would be two signs, so the slash is there by its number."""
    parts: list[str] = []
    closers: list[str] = []
    for piece in _VIM_PIECE.finditer(pattern):
        text = piece.group()
        if piece["open"]:
            made, closer = next(each[1:] for each in _VIM_BRACKETS if each[0] == text)
            parts.append(made)
            closers.append(closer)
        elif piece["close"]:
            parts.append(closers.pop())
        elif text == r"[^\n]":
            parts.append(".")
        elif inside := piece["set"]:
            plain = re.sub(r"\\([#(){}\[\"])", r"\1", re.sub(r"\\[nvf]", "", inside))
            parts.append(f"[{plain.replace('/', chr(92) + 'd47')}]")
        elif text in ('\\"', "\\#"):
            parts.append(text[1])
        else:
            parts.append(f"\\{text}" if text in _VIM_SPECIAL else text)
    return "".join(parts)


def vim() -> str:
    lines = [
        f'" Vim syntax for Axon. {NOTE}',
        'if exists("b:current_syntax")',
        "  finish",
        "endif",
        "",
        '" Of the items that match at one place Vim takes the last.',
        "syntax case match",
    ]
    for rule in reversed(RULES):
        group = f"axon{_camel(rule.kind)}"
        lines.append(f"syntax match {group} /\\v\\C{_vim_pattern(rule.pattern)}/ display")
    lines.append("")
    for kind in Class:
        lines.append(f"highlight default link axon{_camel(kind)} {VIM_GROUPS[kind]}")
    lines += ["", 'let b:current_syntax = "axon"', ""]
    return "\n".join(lines)


def _camel(kind: Class) -> str:
    return "".join(part.capitalize() for part in kind.split("_"))


def emacs() -> str:
    words = "\n".join(
        f"    (,(rx symbol-start (or {' '.join(json.dumps(word) for word in words)}) symbol-end)\n"
        f"     . '{EMACS_FACES[kind]})"
        for kind, words in _by_class(WORD_CLASS).items()
    )
    return _filled("axon-mode.el", words=words)


FILES: dict[str, Callable[[], str]] = {
    "vscode/syntaxes/axon.tmLanguage.json": textmate,
    "codemirror/axon.js": codemirror,
    "vim/syntax/axon.vim": vim,
    "emacs/axon-mode.el": emacs,
}


def outdated() -> list[str]:
    """The files that are not what the rules say."""
    paths = {name: EDITORS / name for name in FILES}
    return [
        name
        for name, path in paths.items()
        if not path.exists() or path.read_text(encoding="utf-8") != FILES[name]()
    ]


def main(arguments: list[str]) -> int:
    found = outdated()
    for name in found:
        if arguments == ["--check"]:
            print(f"editors/{name} is not up to date", file=sys.stderr)
            continue
        path = EDITORS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FILES[name](), encoding="utf-8")
        print(f"wrote editors/{name}")
    return 1 if found and arguments == ["--check"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
