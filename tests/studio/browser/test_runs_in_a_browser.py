"""What a person does: opens the link, looks at runs, watches one, compares two."""

import json
import signal

import pytest

from cvzoo.training.run.run_status import folder_lock

pytestmark = pytest.mark.slow


def test_a_run_is_watched_while_it_is_trained(pages, server, watched, run_id):
    run = watched / "first"
    page = pages.sign_in(server.link)
    status = json.loads((run / "status.json").read_text()) | {"state": "running"}
    with folder_lock(run):
        (run / "status.json").write_text(json.dumps(status))
        page.goto(f"{server.address}/jobs/{run_id}")
        page.wait_for_selector("#charts canvas")
        page.locator("#facts .badge", has_text="running").wait_for()
        with open(run / "metrics.jsonl", "a") as file:
            file.write(
                '{"epoch": 4, "iteration": 10, "elapsed_time": 40, "main/loss": 0.1, "validation/main/map": 0.75}\n'
            )
        page.locator("#tables", has_text="0.75").wait_for()
        page.locator("#facts", has_text="0.75").wait_for()
        (run / "status.json").write_text(json.dumps(status | {"state": "finished"}))
        page.locator("#facts .badge", has_text="finished").wait_for()
    assert pages.faults == []


def test_a_page_survives_the_death_of_the_server(pages, server, watched, run_id):
    page = pages.sign_in(server.link)
    page.goto(f"{server.address}/jobs/{run_id}")
    page.wait_for_selector("#charts canvas")
    server.process.send_signal(signal.SIGKILL)
    page.wait_for_selector("#stream-note:not([hidden])")
    server.kill()
    server.start()
    page.wait_for_selector("#stream-note", state="hidden")
    with open(watched / "first" / "metrics.jsonl", "a") as file:
        file.write('{"epoch": 4, "iteration": 10, "elapsed_time": 40, "main/loss": 0.1, "validation/main/map": 0.75}\n')
    page.locator("#tables", has_text="0.75").wait_for()


def test_runs_are_compared_by_keyboard_alone(pages, server):
    page = pages.sign_in(server.link)
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/jobs")
    page.keyboard.press("/")
    page.keyboard.type("ssd")
    page.keyboard.press("Enter")
    page.wait_for_url("**text=ssd**")
    for box in page.query_selector_all("input[type=checkbox]"):
        box.focus()
        page.keyboard.press("Space")
    page.keyboard.press("Enter")
    page.wait_for_selector("#compare canvas")
    assert "Settings that differ" in page.inner_text("main")
    assert pages.faults == []


def test_the_report_is_in_an_origin_of_its_own(pages, server, watched, run_id):
    (watched / "first" / "report.html").write_text(
        "<!doctype html><title>r</title><p id=p>no script</p><script>"
        "let cookie; try { cookie = document.cookie } catch (e) { cookie = 'refused' }"
        "document.getElementById('p').textContent = origin + ' ' + cookie"
        "</script>"
    )
    page = pages.sign_in(server.link)
    page.goto(f"{server.address}/jobs/{run_id}")
    page.click("#report summary")
    frame = page.frame_locator("iframe")
    frame.locator("#p", has_text="null refused").wait_for()


def test_eight_pages_at_once_are_all_kept_up_to_date(pages, server, watched, run_id):
    run = watched / "first"
    first = pages.sign_in(server.link)
    opened = [first, *(first.context.new_page() for _ in range(7))]  # a browser allows six connections
    for page in opened:
        page.goto(f"{server.address}/jobs/{run_id}")
        page.wait_for_selector("#charts canvas")
    with open(run / "metrics.jsonl", "a") as file:
        file.write('{"epoch": 4, "iteration": 10, "elapsed_time": 40, "main/loss": 0.1, "validation/main/map": 0.75}\n')
    for page in opened:
        page.locator("#tables", has_text="0.75").wait_for()
        assert page.is_hidden("#stream-note")
    assert pages.faults == []
