"""Scripts of others, and pages that ask no other host."""

import hashlib
import json
import pathlib
import re

from cvzoo.studio import pages

FOLDER = pathlib.Path(pages.__file__).parent
VENDOR = FOLDER / "static" / "vendor"


def test_vendored_files_are_those_of_the_list():
    listed = json.loads((VENDOR / "LIST.json").read_text())
    files = {name: digest for each in listed for name, digest in each["files"].items()}
    assert set(files) == {path.name for path in VENDOR.iterdir()} - {"LIST.json"}
    for name, digest in files.items():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest, name
    assert all({"name", "version", "licence", "source"} <= set(each) for each in listed)


def test_no_page_or_script_names_another_host():
    own = [*FOLDER.glob("templates/*.html"), *FOLDER.glob("static/*")]
    for path in (path for path in own if path.is_file()):
        hosts = re.findall(r"https?://[^\s\"'<>]+", path.read_text())
        assert set(hosts) <= {"http://www.w3.org/2000/svg"}, path.name


def test_requests_of_scripts_tell_their_failures():
    """Those that do without `ask.js` try again, or stop where the server has gone."""
    with_care = {"ask.js": 1, "import.js": 3, "journal.js": 2, "job.js": 1}
    found = {path.name: path.read_text().count("fetch(") for path in (FOLDER / "static").glob("*.js")}
    assert {name: n for name, n in found.items() if n} == with_care
