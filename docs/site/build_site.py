"""Build the documentation into build/site: `scripts/docs`. Any warning, broken link or foreign request is an error."""

import argparse
import importlib.util
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NEEDED = ("sphinx", "furo", "myst_parser")


def main(arguments: list[str] | None = None) -> int:
    """0 if the site lies in the folder and nothing is wrong with it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "site", help="the folder of the site")
    parser.add_argument("--processes", default="1", help="how many read and write pages at once; auto: all")
    given = parser.parse_args(arguments)
    absent = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if absent:
        print(f"the documentation needs {', '.join(absent)}: pip install 'cvzoo[docs]'", file=sys.stderr)
        return 2
    return build(given.out.resolve(), given.processes)


def build(out: pathlib.Path, processes: str = "1") -> int:
    """0 if the site lies in `out`; what is wrong is printed."""
    from site_checks import requests_elsewhere
    from site_pages import Stage
    from site_reference import reference_pages
    from site_sources import write_sources
    from sphinx.cmd.build import build_main

    stage = Stage(out.with_name(f"{out.name}-source"))
    stage.fill(reference_pages())
    for broken in stage.broken:
        print(f"broken link: {broken}", file=sys.stderr)
    shutil.rmtree(out, ignore_errors=True)
    doctrees = out.with_name(f"{out.name}-doctrees")
    options = ["-c", str(HERE), "-d", str(doctrees), "-b", "html", "-W", "--keep-going", "-q", "-j", processes]
    failed = build_main([*options, str(stage.folder), str(out)])
    write_sources(out)
    foreign = requests_elsewhere(out)
    for line in foreign:
        print(f"asks another origin: {line}", file=sys.stderr)
    if not (failed or foreign or stage.broken):
        print(f"the site: {out / 'index.html'}")
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
