"""Shell completion: a script for bash, which zsh reads by `bashcompinit`, too."""

import argparse
from collections.abc import Iterator, Mapping

_SCRIPT = """\
# cvzoo's verbs, their actions and options: eval "$(cvzoo --completion)"
_cvzoo() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} words=
    case "$COMP_CWORD ${{COMP_WORDS[1]}} ${{COMP_WORDS[2]}}" in
    "1 "*) words="{verbs}" ;;
{cases}
    esac
    if [[ $word == -* || $COMP_CWORD -eq 1 || ($COMP_CWORD -eq 2 && -n $words && $words != -*) ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    fi
}}
complete -o default -F _cvzoo cvzoo
"""


def bash_completion(parsers: Mapping[str, argparse.ArgumentParser]) -> str:
    """A bash script that completes verbs, actions (`data check`) and options, and otherwise file names.

    parsers: the parsers by verb
    """
    cases = []
    for verb, parser in parsers.items():
        actions = dict(_actions(parser))
        if actions:
            cases.append(f'    "2 {verb} "*) words="{" ".join(actions)}" ;;')
        cases += [f'    *" {verb} {name}") words="{_options(one)}" ;;' for name, one in actions.items()]
        cases.append(f'    *" {verb} "*) words="{_options(parser)}" ;;')
    return _SCRIPT.format(verbs=" ".join([*parsers, "help"]), cases="\n".join(cases))


def _actions(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for each in parser._actions:
        if isinstance(each, argparse._SubParsersAction):
            yield from each.choices.items()


def _options(parser: argparse.ArgumentParser) -> str:
    return " ".join(word for each in parser._actions for word in each.option_strings if word.startswith("--"))
