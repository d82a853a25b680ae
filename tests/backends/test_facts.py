import os
import re
import subprocess
import sys

from cvzoo.backends.facts import backend_facts
from cvzoo.backends.onednn.library import why_no_onednn


def test_the_facts_name_what_runs_and_why():
    facts = backend_facts()
    assert list(facts)[:2] == ["backend", "oneDNN"]
    assert all(isinstance(value, str) and value for value in facts.values())
    documented = set(re.findall(r'"([^"]+)"', backend_facts.__doc__))
    assert facts.keys() <= documented
    if why_no_onednn() is None:
        assert facts["threads"].split()[0].isdigit()
        assert facts["oneDNN library"]
        assert facts.keys() == documented


def test_without_onednn_the_facts_say_why():
    code = "from cvzoo.backends.facts import backend_facts\nfor item in backend_facts().items(): print(*item)"
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "CVZOO_ONEDNN": "/nowhere/libdnnl.so.3", "CVZOO_BACKEND": "auto"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "backend numpy (asked for: auto)" in result.stdout
    assert "/nowhere/libdnnl.so.3" in result.stdout
    assert "threads" in result.stdout
