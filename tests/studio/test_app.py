"""Who gets what of each route."""

import json
import os
import re
import subprocess
import sys

import pytest

from cvzoo.studio.app import API, PAGES

PUBLIC = {("GET", "/open"), ("POST", "/open"), ("GET", "/sign-in"), ("POST", "/sign-in")}
PUBLIC |= {("GET", "/api/v1/health"), ("GET", "/api/v1/version")}


def routes():
    """(method, path) of all routes."""
    return [(method, each.path) for router in (*API, *PAGES) for each in router.routes for method in each.methods]


def test_a_stranger_gets_nothing_but_health_and_the_way_in(stranger, run_id):
    found = routes()
    assert len(found) > 12
    assert set(found) >= PUBLIC
    for method, path in found:
        filled = re.sub(r"\{name.*\}", "config.json", path.replace("{job}", run_id))
        status = stranger.request(method, filled, headers={"sec-fetch-site": "same-origin"}).status_code
        assert (status == 401) is ((method, path) not in PUBLIC), (method, path, status)


def test_a_page_for_a_stranger_says_how_to_get_in(stranger):
    answer = stranger.get("/jobs", headers={"accept": "text/html"})
    assert answer.status_code == 401
    assert "cvzoo studio open" in answer.text


def test_each_page_is_whole(browser, run_id):
    for path in ("/", "/jobs", "/jobs?state=finished&text=ssd", f"/jobs/{run_id}", f"/jobs/{run_id}/facts", "/compare"):
        answer = browser.get(path, headers={"accept": "text/html"})
        assert answer.status_code == 200, path
        assert "Traceback" not in answer.text


def test_the_list_has_the_runs_of_the_command_line(browser):
    body = browser.get("/api/v1/jobs").json()
    assert {each["name"] for each in body["items"]} == {"first", "cats/second"}
    (first,) = [each for each in body["items"] if each["name"] == "first"]
    assert first["recipe"] == "ssd300"
    assert first["best"] == 0.6
    assert first["best_epoch"] == 2
    assert browser.get("/api/v1/jobs?text=SECOND").json()["total"] == 1
    assert browser.get("/api/v1/jobs?state=running").json()["total"] == 0
    page = browser.get("/api/v1/jobs?limit=1").json()
    rest = browser.get(f"/api/v1/jobs?limit=1&after={page['next']}").json()
    assert page["items"] != rest["items"]
    assert rest["next"] is None


def test_a_run_shows_its_command_line(browser, run_id):
    body = browser.get(f"/api/v1/jobs/{run_id}").json()
    assert body["command"] == "cvzoo train --recipe ssd300 --data voc:shapes --out first"
    assert body["command"] in browser.get(f"/jobs/{run_id}").text


def test_a_hostile_name_is_text(browser, watched, write_run):
    write_run(watched / "<img src=x onerror=alert(1)>")
    assert "<img src=x" not in browser.get("/jobs").text
    assert "&lt;img src=x" in browser.get("/jobs").text


@pytest.mark.parametrize(
    "name",
    ["../first/config.json", "..%2f..%2fhome%2fstudio.db", "%2e%2e/config.json", "/etc/passwd"]
    + [
        "images/..%2fconfig.json",
        "script.py",
        "events.out.tfevents",
        ".hidden",
        "images/a/b.jpg",
        "snapshot_iter_x.npz",
    ],
)
def test_only_known_files_are_served(browser, run_id, name):
    assert browser.get(f"/api/v1/jobs/{run_id}/files/{name}").status_code == 404


def test_a_link_in_a_run_is_not_followed_out_of_it(browser, watched, run_id, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    (watched / "first" / "environment.json").symlink_to(tmp_path / "secret.txt")
    assert browser.get(f"/api/v1/jobs/{run_id}/files/environment.json").status_code == 404


@pytest.mark.parametrize("name", ["metrics.jsonl", "iterations.jsonl", "config.json", "status.json", "data.json"])
def test_what_is_read_of_a_run_is_no_link(browser, watched, run_id, tmp_path, name):
    text = '{"iteration": 1, "elapsed_time": 1, "state": "secret", "recipe": {"data": "secret"}, "secret": 7.25}\n'
    (tmp_path / "secret.jsonl").write_text(text)
    (watched / "first" / name).unlink()
    (watched / "first" / name).symlink_to(tmp_path / "secret.jsonl")
    for path in (f"/jobs/{run_id}", f"/api/v1/jobs/{run_id}", f"/api/v1/jobs/{run_id}/metrics"):
        assert "secret" not in browser.get(path, headers={"accept": "text/html"}).text, path


def test_files_are_served_with_a_harmless_type(browser, run_id, watched):
    def get(name, query=""):
        return browser.get(f"/api/v1/jobs/{run_id}/files/{name}{query}")

    assert get("best.safetensors").headers["content-disposition"].startswith("attachment")
    assert get("config.json").headers["content-type"].startswith("text/plain")
    assert get("images/predictions.jpg").headers["content-type"] == "image/jpeg"
    report = get("report.html")
    assert report.headers["content-security-policy"].startswith("sandbox allow-scripts; default-src 'none'")
    (watched / "first" / "images" / "page.jpg").write_text("<html><script>alert(1)</script>")
    assert get("images/page.jpg").status_code == 404


@pytest.mark.parametrize("job", ["wr_aaaaaaaaaaaaaaaa", "jb_aaaaaaaaaaaaaaaa", "%2e%2e", "first", "wr_" + "a" * 5000])
def test_an_unknown_run_is_not_found(browser, job):
    assert browser.get(f"/api/v1/jobs/{job}/metrics").status_code == 404


def test_what_is_wrong_with_a_request_is_told_by_field(browser):
    body = browser.get("/api/v1/jobs?limit=0&after=-1").json()
    assert body["status"] == 422
    assert set(body["fields"]) == {"limit", "after"}


def test_two_runs_are_compared_by_what_differs(browser, studio):
    ids = [each.id for each in studio.runs.records()]
    text = browser.get(f"/compare?job={ids[0]}&job={ids[1]}").text
    assert "Settings that differ" in text
    assert re.search(r"<th scope=\"row\">lr</th>", text)
    assert "batch_size" not in text


def test_what_the_page_compares_is_had_by_rest(browser, studio):
    ids = [each.id for each in studio.runs.records()]
    found = browser.get("/api/v1/compare", params={"job": [*ids, ids[0]]}).json()
    assert [each["id"] for each in found["runs"]] == ids
    by_id = {each.id: "0.01" if each.name == "first" else "0.02" for each in studio.runs.records()}
    assert found["settings"] == {"lr": [by_id[each] for each in ids]}
    assert (found["data"], found["environment"], found["versions"]) == ({}, {}, [])
    assert browser.get(found["runs"][0]["metrics"]).json()["series"]
    assert browser.get("/api/v1/compare").json()["runs"] == []
    assert browser.get("/api/v1/compare?job=wr_aaaaaaaaaaaaaaaa").status_code == 404
    assert browser.get("/api/v1/compare", params={"job": ids[:1] * 9}).status_code == 422


def test_the_idle_server_imports_neither_networks_nor_what_reads_arrays_and_images(tmp_path):
    code = (
        "import sys, cvzoo.studio.serve; from cvzoo.cli.main import main\n"
        "def run(self, sockets):\n"  # with a new database, up to the first request
        "    bad = ('cvzoo.links', 'cvzoo.functions', 'cvzoo.autodiff', 'cvzoo.backends', 'cvzoo.config')\n"
        "    bad += ('cvzoo.geometry.', 'numpy', 'PIL', 'cv2', 'matplotlib', 'msgspec', 'alembic', 'sqlalchemy.orm')\n"
        "    print('imported:', [name for name in sys.modules if name.startswith(bad)])\n"
        "cvzoo.studio.serve._Server.run = run\n"
        f"sys.exit(main(['studio', '--home', {str(tmp_path)!r}, '--no-browser']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "imported: []"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config.json", '{"recipe": {"lr": 1e999}, "command": {"arguments": 5}}'),
        ("config.json", '{"recipe": {"epochs": 1e308, "batch_size": 1e-300, "data": "\\ud800"}}'),
        ("status.json", '{"state": "failed: \\udc80", "iteration": 1%s}' % ("0" * 400)),
        ("metrics.jsonl", '{"iteration": 1%s, "main/loss": 1e999, "epoch": 1e400}\n' % ("0" * 400)),
        ("data.json", '{"train": {"n_example": 1e308}}'),
    ],
)
def test_a_run_with_impossible_values_spoils_no_page(browser, watched, run_id, name, text):
    (watched / "first" / name).write_text(text)
    for path in ("/", "/jobs", f"/jobs/{run_id}", f"/api/v1/jobs/{run_id}", f"/api/v1/jobs/{run_id}/metrics"):
        answer = browser.get(path, headers={"accept": "text/html"})
        assert answer.status_code == 200, path
        assert "Infinity" not in answer.text


def test_a_job_that_failed_at_its_start_shows_no_settings(browser, studio, run_id):
    from cvzoo.studio.jobs.spec import TrainSpec
    from cvzoo.studio.jobs.states import Facts

    job = studio.jobs.create("failed", TrainSpec("ssd300", "voc:shapes"), None).id
    for event in ("admit", "begin"):
        studio.jobs.apply(studio.jobs.get(job), event)
    studio.jobs.apply(studio.jobs.get(job), "exit", Facts(code=1))
    assert studio.jobs.get(job).state == "failed"
    assert "settings of the recipe" not in browser.get(f"/jobs/{job}").text
    assert "<summary>All 5 settings of the recipe</summary>" in browser.get(f"/jobs/{run_id}").text


def test_a_run_in_a_folder_that_is_not_utf8_is_shown(browser, watched):
    folder = watched / os.fsdecode(b"caf\xe9")
    (watched / "first").rename(folder)
    found = browser.get("/api/v1/jobs").json()["items"]
    run_id = next(each["id"] for each in found if each["name"].startswith("caf"))
    for path in ("/jobs", f"/jobs/{run_id}", f"/api/v1/jobs/{run_id}/files/best.safetensors"):
        assert browser.get(path, headers={"accept": "text/html"}).status_code == 200, path


def test_a_damaged_database_is_told_with_a_try_again(studio, browser):
    from cvzoo.studio.database.engine import writing

    with writing(studio.engine) as connection:
        connection.exec_driver_sql("DROP TABLE job")
    answer = browser.get("/jobs", headers={"accept": "text/html"})
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert "no such table" in answer.text


def test_the_list_of_runs_has_the_record_of_each(browser, studio, run_id):
    found = browser.get("/api/v1/jobs").json()
    records = json.loads(json.dumps([each.to_json() for each in studio.runs.records()]))
    assert found == {"items": records, "next": None, "total": 2}
    assert browser.get("/api/v1/jobs?limit=1").json()["next"] == 1
    one = browser.get(f"/api/v1/jobs/{run_id}").json()
    assert one.items() >= next(each for each in found["items"] if each["id"] == run_id).items()
