"""`cvzoo studio list`, `show`, `log`, `submit`, `pull` and the actions, against the application without a network."""

import io
import json
import os
import pathlib
import urllib.error

import pytest

from cvzoo.cli.main import main
from cvzoo.errors.exceptions import ConfigError
from cvzoo.studio.access import rates
from cvzoo.studio.access.tokens import new_token
from cvzoo.studio.client.server import Server, named_server
from cvzoo.studio.client.spec_file import request_of
from cvzoo.studio.client.verbs import follow_log, pull
from cvzoo.studio.jobs import recipe_helper
from cvzoo.studio.jobs.conductor import attempt_folder
from cvzoo.studio.jobs.spec import TrainSpec
from cvzoo.studio.jobs.states import Facts

ADDRESS = "http://127.0.0.1:8700"


class Opener:
    """In the place of urllib's: the application answers; `lost` answers are lost after they took effect."""

    def __init__(self, client):
        self.client, self.lost, self.asked = client, 0, []

    def open(self, request, timeout):
        path = request.full_url.removeprefix(ADDRESS)
        self.asked.append((request.get_method(), path))
        answer = self.client.request(request.get_method(), path, content=request.data, headers=dict(request.headers))
        if self.lost:
            self.lost -= 1
            raise urllib.error.URLError("connection reset")
        body = io.BytesIO(answer.content)
        if answer.status_code >= 400:
            raise urllib.error.HTTPError(request.full_url, answer.status_code, "", answer.headers, body)
        return body


@pytest.fixture
def token(studio, browser, tmp_path, monkeypatch):
    """The file of an administrator's token, which the environment names."""
    path = tmp_path / "token"
    path.write_text(new_token(studio.engine, "mine", "write", 1, studio.clock) + "\n")
    path.chmod(0o600)
    monkeypatch.setenv("CVZOO_STUDIO", ADDRESS)
    monkeypatch.setenv("CVZOO_STUDIO_TOKEN_FILE", str(path))
    monkeypatch.setattr(recipe_helper, "_ask", lambda question: {"fields": {}, "recipes": []})
    return path


@pytest.fixture
def opener(client_of, studio, token, monkeypatch):
    opener = Opener(client_of(studio))
    monkeypatch.setattr("cvzoo.studio.client.server.urllib.request.build_opener", lambda *_: opener)
    monkeypatch.setattr("cvzoo.studio.client.verbs.time.sleep", lambda _: None)
    return opener


@pytest.fixture
def server(opener, studio):
    found = named_server(studio.place.home)
    found._sleep = lambda _: None
    return found


def run(capsys, *words):
    """(status, what is printed)."""
    status = main(["studio", *words])
    said = capsys.readouterr()
    return status, said.out + said.err


def test_a_training_is_submitted_listed_shown_and_asked(studio, opener, capsys):
    status, job = run(capsys, "submit", "--recipe", "ssd300", "--data", "voc:shapes", "--name", "mine", "lr=0.1")
    assert (status, studio.jobs.get(job.strip()).spec) == (0, TrainSpec("ssd300", "voc:shapes", (("lr", "0.1"),)))
    status, listed = run(capsys, "list", "--text", "mine")
    assert (status, listed.split()) == (0, [job.strip(), "queued", "mine"])
    assert len(run(capsys, "list")[1].splitlines()) == 3  # with those of the watched folder
    shown = run(capsys, "show", "mine")[1]
    assert "state:     queued" in shown
    assert "recipe:    ssd300" in shown
    assert run(capsys, "pause", "mine") == (0, "mine: paused\n")
    status, refused = run(capsys, "pause", job.strip())
    assert status == 2
    assert "a paused job cannot pause" in refused
    assert "resume, stop, kill" in refused
    assert run(capsys, "stop", "nothing")[0] == 2
    draft = run(capsys, "submit", "--recipe", "ssd300", "--data", "voc:shapes", "--draft")[1].strip()
    assert studio.jobs.get(draft).state == "draft"
    assert run(capsys, "submit", "--recipe", "ssd300", "--data", "x", "lr")[0] == 2


def test_a_submission_whose_answer_is_lost_is_queued_once(studio, server, opener):
    opener.lost = 2
    assert server.post("/jobs", {"recipe": "ssd300", "data": "voc:shapes"})["state"] == "queued"
    assert len(opener.asked) == 3
    assert len(studio.jobs.all()) == 1


def test_a_server_that_stays_away_is_said(server, opener):
    opener.lost = 99
    with pytest.raises(ConfigError, match="does not answer: connection reset"):
        server.get("/jobs")


def test_a_server_that_gets_too_much_is_asked_again_when_it_says(server, monkeypatch, clock, requests_at_once):
    monkeypatch.setattr(rates, "BURST_S", requests_at_once)
    monkeypatch.setattr(rates, "PER_S", 5)
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        clock.now += int(1000 * seconds)

    server._sleep = sleep

    def ask():
        return [server.get("/me")["name"] for _ in range(16)]

    assert ask() == ["admin"] * 16
    assert waits == [1, 1]
    server._sleep = waits.append  # others of this token take what becomes free
    with pytest.raises(ConfigError, match="requests"):
        ask()
    assert sum(waits[2:]) == 120


def test_two_jobs_of_one_name_are_not_guessed(studio, opener, capsys):
    for _ in range(2):
        studio.jobs.create("same", TrainSpec("ssd300", "voc:shapes"), None)
    status, said = run(capsys, "stop", "same")
    assert status == 2
    assert "several runs are named same" in said
    assert {job.state for job in studio.jobs.all()} == {"queued"}


def test_the_output_is_followed_over_attempts_until_the_end(studio, server):
    job = studio.jobs.create("mine", TrainSpec("ssd300", "voc:shapes"), None).id
    run_folder, said = studio.place.run(job), []

    def attempt(number, text):
        folder = attempt_folder(run_folder, number)
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / "log.txt", "ab") as file:
            file.write(text.encode())

    studio.jobs.apply(studio.jobs.get(job), "admit", attempt=1)
    attempt(1, "first\x1b[31m \u00e4\n" + "x" * 300_000 + "\n")

    def write(text):
        said.append(text)
        if len(said) == 2:  # killed, and started again
            studio.jobs.apply(studio.jobs.get(job), "lose", Facts(signal=9))
            studio.jobs.apply(studio.jobs.get(job), "admit", attempt=2)
            attempt(2, "second\n")
        if len(said) == 3:
            attempt(2, "third\n")
            studio.jobs.apply(studio.jobs.get(job), "exit", Facts(code=2, reason="wrong"))

    follow_log(server, job, write, follow=True)
    assert "".join(said) == "first \u00e4\n" + "x" * 300_000 + "\nsecond\nthird\n"


def test_the_files_of_a_run_are_pulled(server, run_id, watched, tmp_path, opener):
    lines = pull(server, "first", tmp_path / "copy")
    assert (tmp_path / "copy" / "best.safetensors").read_bytes() == b"weights"
    assert (tmp_path / "copy" / "metrics.jsonl").read_bytes() == (watched / "first" / "metrics.jsonl").read_bytes()
    assert f"{tmp_path}/copy/best.safetensors 7" in lines
    with pytest.raises(ConfigError, match="no empty folder"):
        pull(server, "first", tmp_path / "copy")


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "", "a\\b", "./x"])
def test_a_server_cannot_write_elsewhere(tmp_path, monkeypatch, name):
    server = Server(ADDRESS, "cvz_x")
    answers = {"/jobs/jb_x": {"files": [{"name": name}]}}
    monkeypatch.setattr(server, "get", lambda path, query=None: answers[path])
    with pytest.raises(ConfigError, match="outside of the folder"):
        pull(server, "jb_x", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_token_that_others_can_read_or_that_is_none_is_refused(token, opener, studio):
    token.chmod(0o644)
    with pytest.raises(ConfigError, match="others can read"):
        named_server(studio.place.home)
    token.chmod(0o600)
    for text in ("", "secret", "cvz_a cvz_b", "cvz_\u00e4"):
        token.write_text(text)
        with pytest.raises(ConfigError, match="no token"):
            named_server(studio.place.home)
    os.unlink(token)
    with pytest.raises(ConfigError, match="cannot be read"):
        named_server(studio.place.home)


@pytest.mark.parametrize("address", ["http://studio.example.org", "http://10.0.0.5:8700", "ftp://127.0.0.1", "x"])
def test_a_token_is_not_sent_in_the_clear(address):
    with pytest.raises(ConfigError):
        Server(address, "cvz_x")
    assert Server("https://studio.example.org", "cvz_x").address == "https://studio.example.org"


def test_a_redirection_does_not_take_the_token_along():
    from cvzoo.studio.client.server import _NoRedirect

    assert _NoRedirect().redirect_request(None, None, 302, "", {}, "http://evil.example.org") is None


def test_the_server_of_this_machine_is_known_by_its_folder(token, opener, studio, monkeypatch):
    monkeypatch.delenv("CVZOO_STUDIO")
    with pytest.raises(ConfigError, match="no studio is named"):
        named_server(studio.place.home)
    studio.place.open_url.write_text("http://127.0.0.1:8701\n")
    assert named_server(studio.place.home).address == "http://127.0.0.1:8701"


def test_data_are_imported_and_a_version_is_what_a_training_names(monkeypatch, server, capsys):
    answers = {
        "/datasets/ds_a": [{"id": "ds_a", "state": "importing"}, {"id": "ds_a", "state": "ready"}],
        "/datasets": [{"items": [{"id": "ds_a", "name": "shapes"}]}],
        "/versions/ve_a": [{"id": "ve_a", "state": "making"}, {"id": "ve_a", "state": "ready", "data": "coco:x"}],
    }
    posted = []

    def post(path, tree):
        posted.append((path, tree))
        return {"id": "ds_a", "state": "importing"} if path == "/datasets" else {"id": "ve_a", "state": "making"}

    monkeypatch.setattr(server, "get", lambda path, query=None: answers[path].pop(0))
    monkeypatch.setattr(server, "post", post)
    monkeypatch.setattr("cvzoo.studio.client.server.named_server", lambda home: server)
    assert run(capsys, "import", "voc:shapes", "--name", "shapes") == (0, "ds_a\n")
    assert run(capsys, "version", "shapes", "--name", "first") == (0, "coco:x\n")
    assert posted == [
        ("/datasets", {"name": "shapes", "source": {"spec": "voc:shapes"}}),
        ("/datasets/ds_a/versions", {"name": "first"}),
    ]
    answers["/datasets"] = [{"items": []}]
    assert run(capsys, "version", "nothing", "--name", "x")[0] == 2
    answers["/datasets/ds_a"] = [{"id": "ds_a", "state": "failed", "detail": "there are no images"}]
    assert "the import failed: there are no images" in run(capsys, "import", "x", "--name", "y")[1]


def test_a_job_of_a_file_is_that_which_the_studio_shows(studio, server, opener, capsys, tmp_path):
    spec = TrainSpec("ssd300", "voc:shapes", (("lr", "0.1"),))
    first = studio.jobs.create("first", spec, None, is_draft=True)
    shown = server.get(f"/jobs/{first.id}")
    for tree, name in ((shown, "first"), (shown["spec"], "ssd300"), ({**spec.to_json(), "name": "mine"}, "mine")):
        (tmp_path / "job.json").write_text(json.dumps(tree))
        status, job = run(capsys, "submit", str(tmp_path / "job.json"))
        found = studio.jobs.get(job.strip())
        assert (status, found.spec, found.name, found.state) == (0, spec, name, "queued")
    job = run(capsys, "submit", str(tmp_path / "job.json"), "--draft", "--name", "later")[1].strip()
    assert (studio.jobs.get(job).name, studio.jobs.get(job).state) == ("later", "draft")
    for text in ("[", "[]", '{"kind": "bake"}', '{"recipe": "ssd300"}'):
        (tmp_path / "job.json").write_text(text)
        assert run(capsys, "submit", str(tmp_path / "job.json"))[0] == 2, text
    assert "no job is named" in run(capsys, "submit", "lr=0.1")[1]


@pytest.mark.parametrize(
    ("spec", "path", "body"),
    [
        (
            {"kind": "evaluate", "model": "f", "source": "jb_a", "sha256": "", "data": "voc:x", "split": "val"},
            "/evaluations",
            {"model": "jb_a", "data": "voc:x", "split": "val", "find_thresholds": False},
        ),
        (
            {"kind": "export", "model": "f", "source": "zoo:a/b", "sha256": "", "form": "onnx", "images": []},
            "/models/zoo:a%2Fb/exports",
            {"form": "onnx", "images": []},
        ),
        (
            {"kind": "predict", "model": "f", "source": "jb_a", "sha256": "", "images": "/x", "form": "csv"},
            "/models/jb_a/predictions",
            {"images": "/x", "form": "csv"},
        ),
    ],
)
def test_jobs_of_all_kinds_are_asked_for_where_pages_ask(spec, path, body):
    assert request_of(spec, "", start=True) == (path, body)
    with pytest.raises(ConfigError, match="only trainings"):
        request_of(spec, "", start=False)


def test_a_database_that_is_behind_is_told_and_migrated_after_a_copy(studio, capsys):
    from alembic import command
    from alembic.config import Config

    from cvzoo.studio.database import migrate
    from cvzoo.studio.database.engine import writing

    home = ("--home", str(studio.place.home))
    assert main(["studio", *home, "migrate", "--check"]) == 0
    assert f"schema {migrate.HEAD}" in capsys.readouterr().out
    config = Config()
    config.set_main_option("script_location", str(pathlib.Path(migrate.__file__).with_name("migrations")))
    with writing(studio.engine) as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "-1")
    studio.engine.dispose()
    before = migrate.schema_of(studio.place)
    assert before < migrate.HEAD
    assert main(["studio", *home, "migrate", "--check"]) == 1
    assert main(["studio", *home, "migrate"]) == 0
    assert f"{before} before" in capsys.readouterr().out
    assert main(["studio", *home, "migrate", "--check"]) == 0
    assert (studio.place.backups / f"before-{migrate.HEAD}-from-{before}.db").is_file()
