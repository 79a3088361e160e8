"""The colours of pictures, in light and in dark.

The eight hues of symbols are those of Okabe and Ito, which people with the common kinds of colour
blindness can tell apart, made darker or lighter until text in them has a contrast of 4.5.
"""

from __future__ import annotations

LIGHT = {
    "paper": "#fbfbf9",
    "ink": "#1c2128",
    "soft": "#5b6470",
    "edge": "#8b95a1",
    "operator": "#ffffff",
    "operator-line": "#a7afb8",
    "function": "#eaf1fb",
    "function-line": "#5b8fd0",
    "input": "#f1f2f3",
    "input-line": "#a7afb8",
    "weight": "#fbf4e4",
    "weight-line": "#cfa94e",
    "wrong": "#b3261e",
    "wrong-wash": "#fde7e4",
}
DARK = {
    "paper": "#14171b",
    "ink": "#e4e7eb",
    "soft": "#9aa4b0",
    "edge": "#6b7683",
    "operator": "#1e232a",
    "operator-line": "#4c5662",
    "function": "#1a2a40",
    "function-line": "#4f82bf",
    "input": "#262c34",
    "input-line": "#4c5662",
    "weight": "#33290f",
    "weight-line": "#8a6f2c",
    "wrong": "#ff9a91",
    "wrong-wash": "#43201d",
}
SYMBOLS = ("#0067a3", "#b04a00", "#007a59", "#a13a78", "#7a5c00", "#0b7285", "#6741d9", "#c2255c")
SYMBOLS_DARK = (
    "#63b3f0", "#f29a4f", "#3fcf9f", "#e58bc0", "#e3c53d", "#5fd0e0", "#b39dff", "#ff8fb1",
)  # fmt: skip

_SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif'
_MONO = 'ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace'


def _rules(names: dict[str, str], symbols: tuple[str, ...]) -> str:
    at = ".axon-graph "
    rules = [
        f"{at}.paper{{fill:{names['paper']}}}",
        f"{at}text{{fill:{names['ink']}}}",
        f"{at}.line,{at}.name{{fill:{names['soft']}}}",
        f"{at}.halo{{fill:{names['paper']}}}",
        f"{at}.edge{{stroke:{names['edge']}}}",
        f"{at}.body,{at}.behind{{fill:{names['operator']};stroke:{names['operator-line']}}}",
    ]
    for kind, of in (
        ("function", "function"),
        ("input", "input"),
        ("result", "input"),
        ("weight", "weight"),
        ("constant", "weight"),
    ):
        rules.append(
            f"{at}.{kind}>.body,{at}.{kind}>.behind"
            f"{{fill:{names[of]};stroke:{names[of + '-line']}}}"
        )
    rules += [f"{at}.c{i}{{fill:{hue};color:{hue}}}" for i, hue in enumerate(symbols)]
    rules += [
        f"{at}.says{{fill:{names['wrong']}}}",
        f"{at}.edge.wrong{{stroke:{names['wrong']}}}",
        f"{at}.wrong>.body,{at}.unknown>.body"
        f"{{fill:{names['wrong-wash']};stroke:{names['wrong']}}}",
    ]
    return "".join(rules)


_SHAPES = (
    f".axon-graph text{{font:600 13px {_SANS}}}"
    ".axon-graph .title,.axon-graph .line,.axon-graph .tag,.axon-graph .mid{text-anchor:middle}"
    f".axon-graph .line{{font:10.8px {_MONO}}}"
    f".axon-graph .tag{{font:11.5px {_MONO};white-space:pre}}"
    ".axon-graph .name{font-style:italic}"
    ".axon-graph .says{font-weight:500;font-size:11.7px}"
    ".axon-graph .edge{fill:none;stroke-width:1.4}"
    ".axon-graph .edge.wrong{stroke-width:2.2}"
    ".axon-graph .far{stroke-dasharray:4 4;opacity:.6}"
    ".axon-graph .body,.axon-graph .behind{stroke-width:1.2}"
    ".axon-graph .wrong>.body{stroke-width:2}"
    ".axon-graph .u{text-decoration:underline}"
)
LIGHT_RULES, DARK_RULES = _rules(LIGHT, SYMBOLS), _rules(DARK, SYMBOLS_DARK)
STYLE = {
    "": f"{_SHAPES}{LIGHT_RULES}@media(prefers-color-scheme:dark){{{DARK_RULES}}}",
    "light": _SHAPES + LIGHT_RULES,
    "dark": _SHAPES + DARK_RULES,
}
