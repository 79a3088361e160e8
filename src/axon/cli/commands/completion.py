"""`axon completion SHELL`: a script that completes command lines; it asks Axon at each TAB."""

from __future__ import annotations

import argparse
import re

from axon.cli.out import wrong
from axon.cli.status import FINE

BASH = """\
_axon() {
  local IFS=$'\\n' line words=("${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=()
  while IFS= read -r line; do
    line="${line%%$'\\t'*}"
    case "${words[-1]}" in *=*) [[ "$COMP_WORDBREAKS" == *=* ]] && line="${line#*=}" ;; esac
    COMPREPLY+=("$line")
  done < <(axon completion --words "${words[@]}" 2>/dev/null)
  if [[ ${#COMPREPLY[@]} == 1 && "${COMPREPLY[0]}" == *[/=] ]]; then compopt -o nospace; fi
}
complete -F _axon axon
"""

ZSH = """\
#compdef axon
_axon() {
  local -a plain described
  local line word text
  while IFS= read -r line; do
    word="${line%%$'\\t'*}"
    text="${line#*$'\\t'}"
    if [[ "$word" == *[/=] ]]; then plain+=("$word")
    elif [[ -n "$text" ]]; then described+=("${word//:/\\\\:}:$text")
    else described+=("${word//:/\\\\:}")
    fi
  done < <(axon completion --words "${(@)words[2,$CURRENT]}" 2>/dev/null)
  (( ${#plain} )) && compadd -S '' -- $plain
  (( ${#described} )) && _describe -t values axon described
}
if [[ "${funcstack[1]}" == "_axon" ]]; then _axon "$@"; else compdef _axon axon; fi
"""

FISH = """\
function __axon_complete
  set -l words (commandline -opc) (commandline -ct)
  axon completion --words $words[2..-1] 2>/dev/null
end
complete -c axon -f -a '(__axon_complete)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", nargs="?", choices=SCRIPTS, help="whose script to print")
    parser.add_argument(
        "--words",
        nargs=argparse.REMAINDER,
        metavar="WORD",
        help="what the script asks: the words up to the cursor",
    )


def run(options: argparse.Namespace) -> int:
    if options.words is not None:
        from axon.cli.complete import candidates

        for word, text in candidates(options.words):
            if not re.search(r"[\x00-\x1f\x7f]", word):
                print(f"{word}\t{text}")
        return FINE
    if options.shell is None:
        return wrong(f"say for which shell: {', '.join(SCRIPTS)}")
    print(SCRIPTS[options.shell], end="")
    return FINE
