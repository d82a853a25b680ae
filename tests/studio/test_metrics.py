"""What monitoring reads."""

import re

from cvzoo.studio.access.tokens import new_token
from cvzoo.studio.jobs.spec import TrainSpec

LINE = re.compile(r'([a-z_]+)(?:\{([a-z]+)="([^"\\\n]*)"\})? (-?[0-9.e+]+)')


def read(text):
    """{(name, label's value): value}; each family has its help and type, and stands once."""
    found, kinds = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name not in kinds
            kinds[name] = kind
        elif not line.startswith("# HELP "):
            name, _, value, number = LINE.fullmatch(line).groups()
            assert name in kinds
            assert (kinds[name] == "counter") == name.endswith("_total")
            found[name, value] = float(number)
    return found


def test_a_token_of_an_administrator_that_reads_gets_the_numbers(browser, stranger, studio):
    spec = TrainSpec("ssd300", "voc:shapes")
    studio.jobs.create("first", spec, None)
    studio.jobs.create("second", spec, None, is_draft=True)
    bearer = {"authorization": f"Bearer {new_token(studio.engine, 'prometheus', 'read', 1, studio.clock)}"}
    browser.get("/api/v1/jobs/none")
    answer = stranger.get("/api/v1/metrics", headers=bearer)
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found = read(answer.text)
    assert {state: n for (name, state), n in found.items() if name == "cvzoo_studio_jobs" and n} == {
        "queued": 1,
        "draft": 1,
    }
    assert found["cvzoo_studio_jobs", "succeeded"] == 0
    assert (found["cvzoo_studio_queue_length", "long"], found["cvzoo_studio_queue_length", "short"]) == (1, 0)
    assert found["cvzoo_studio_jobs_running", None] == 0
    assert found["cvzoo_studio_answers_total", "4xx"] == 1
    assert found["process_resident_memory_bytes", None] > 1e6
    assert 0 < found["cvzoo_studio_disk_free_bytes", None] < found["cvzoo_studio_disk_size_bytes", None]
