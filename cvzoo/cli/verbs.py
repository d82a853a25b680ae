"""The verbs of the command line, and what each is for: the files in `options/`, read without importing them."""

import pkgutil

_FOLDER = "cvzoo.cli.options"


def summaries(prefix: str = "") -> dict[str, str]:
    """Verb to its line in a help text, sorted: each file `options/VERB.py` begins with it.

    prefix: only files whose names begin with this, by the rest of the name: "data_" gives the actions of `cvzoo data`
    """
    folder = pkgutil.resolve_name(_FOLDER).__path__
    lines = {}
    for file in pkgutil.iter_modules(folder):
        name = file.name.removeprefix(prefix)
        if file.name.startswith(prefix) and "_" not in name:
            source = pkgutil.get_data(_FOLDER, f"{file.name}.py") or b""
            line = source.decode().splitlines()[0].strip('"')
            lines[name] = line.partition("`: ")[2].removesuffix(".")
    return lines
