"""The output of a job is searched."""

import itertools
import random

import pytest

from cvzoo.studio.jobs import log_search
from cvzoo.studio.jobs.log_search import find_in_log
from cvzoo.studio.jobs.spec import TrainSpec


@pytest.fixture
def write(tmp_path):
    """Writes the output of the first attempt of a run, which it returns."""

    def write(data):
        (tmp_path / "attempts" / "1").mkdir(parents=True, exist_ok=True)
        (tmp_path / "attempts" / "1" / "log.txt").write_bytes(data)
        return tmp_path

    return write


def test_lines_are_found_in_any_case_with_their_offsets(write):
    data = "first\nGRÜSSE, \x1b[1mno\x1b[0m Error\n\nan error: 2\nno newline: ERROR".encode()
    found = find_in_log(write(data), 1, "error")
    assert [text for _, text in found.lines] == ["GRÜSSE, no Error", "an error: 2", "no newline: ERROR"]
    assert [data[at:].decode()[:4] for at, _ in found.lines] == ["GRÜS", "an e", "no n"]
    assert found.next is None
    assert [text for _, text in find_in_log(write(data), 1, "no error").lines] == ["GRÜSSE, no Error"]
    assert find_in_log(write(data), 1, "grüße").lines == ((6, "GRÜSSE, no Error"),)
    assert find_in_log(write(data), 2, "error") == log_search.FoundLines((), None)


def test_a_search_goes_on_where_it_ended(write):
    run = write(b"".join(b"line %d\n" % i for i in range(10)))
    first = find_in_log(run, 1, "line", limit=4)
    assert (len(first.lines), first.next) == (4, 28)
    second = find_in_log(run, 1, "line", first.next, limit=6)
    assert [text for _, text in (*first.lines, *second.lines)] == [f"line {i}" for i in range(10)]
    assert second.next is None


def test_chunks_of_any_size_find_the_same_lines(write, monkeypatch):
    rng = random.Random(0)
    lines = ["".join(rng.choices("ab ü", k=rng.randrange(30))) for _ in range(200)]
    run = write("\n".join(lines).encode())
    whole = find_in_log(run, 1, "ab", limit=1000)
    assert [text for _, text in whole.lines] == [line for line in lines if "ab" in line]
    for size in (64, 100, 1000):  # a line has at most 60 bytes
        monkeypatch.setattr(log_search, "_CHUNK", size)
        assert find_in_log(run, 1, "ab", limit=1000) == whole


def test_a_long_search_ends_after_a_second_and_goes_on(write, monkeypatch):
    monkeypatch.setattr(log_search, "_CHUNK", 8)
    run = write(b"1234567\n" * 3 + b"8\n")
    answers, offset = [], 0
    while offset is not None:
        seconds = itertools.count()
        answers.append(find_in_log(run, 1, "8", offset, clock=lambda seconds=seconds: next(seconds)))
        offset = answers[-1].next
    assert [each.next for each in answers] == [8, 16, 24, 26, None]
    assert [each.lines for each in answers] == [(), (), (), ((24, "8"),), ()]


def test_a_long_line_is_cut_around_what_was_found(write):
    ((at, text),) = find_in_log(write(b"x" * 1000 + b"here" + b"y" * 1000), 1, "here").lines
    assert at == 0
    assert text == f"…{'x' * 100}here{'y' * 296}…"


def test_a_link_is_not_followed(write, tmp_path):
    run = write(b"")
    (tmp_path / "secret").write_text("secret")
    (run / "attempts" / "1" / "log.txt").unlink()
    (run / "attempts" / "1" / "log.txt").symlink_to(tmp_path / "secret")
    assert find_in_log(run, 1, "secret").lines == ()


def test_the_output_of_a_job_is_searched_by_rest(browser, studio, run_id):
    job = studio.jobs.create("mine", TrainSpec("ssd300", "voc:shapes"), None)
    for number, text in (("1", "one: lost\n"), ("2", "two\nfound it\n")):
        folder = studio.place.run(job.id) / "attempts" / number
        folder.mkdir(parents=True)
        (folder / "log.txt").write_text(text)
    studio.jobs.apply(job, "admit", attempt=2)
    path = f"/api/v1/jobs/{job.id}/log"
    found = browser.get(path, params={"find": "FOUND"}).json()
    assert found == {"lines": [{"offset": 4, "text": "found it"}], "next": None, "attempt": 2, "newest": 2}
    assert browser.get(path, params={"find": "lost", "attempt": 1}).json()["lines"][0]["text"] == "one: lost"
    assert browser.get(path, params={"offset": 4, "size": 5}).json()["text"] == "found"
    assert browser.get(path, params={"find": "x" * 201}).status_code == 422
    assert browser.get(f"/api/v1/jobs/{run_id}/log?find=x").json()["lines"] == []
    page = browser.get(f"/jobs/{job.id}").text
    assert 'id="log-search"' in page
    assert "<option>1</option>" in page
