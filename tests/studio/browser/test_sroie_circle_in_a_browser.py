"""The circle on SROIE's receipts by browser: import, train, evaluate, correct the worst image, train again.

The scores are those of the plain commands, to the bit. By name: a quarter of an hour on two cores.
"""

import json
import pathlib
import shlex
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow
SROIE = pathlib.Path(__file__).parents[4] / "shared" / "data" / "sroie"
RECIPE = "retinanet_resnet18_small"
SETTINGS = {
    "epochs": "1",
    "batch_size": "8",
    "processes": "0",
    "model.min_size": "192",
    "model.max_size": "288",
    "model.base_channels": "16",
}
HOUR = 3_600_000  # milliseconds


@pytest.fixture
def page(pages, server):
    if not SROIE.is_dir():
        pytest.skip(f"SROIE's receipts are not at {SROIE}")
    page = pages.sign_in(server.link)
    page.set_default_timeout(HOUR)
    return page


def new_version(page, dataset, name):
    """The specification of a new version of the data set."""
    page.goto(dataset)
    page.fill("#version-name", name)
    page.get_by_role("button", name="Make a version").click()
    page.locator(".badge.ready").wait_for()
    page.get_by_role("link", name="Train with this version").click()
    page.get_by_role("link", name=RECIPE, exact=True).click()
    page.wait_for_selector("#data")
    return page.input_value("#data")


def train(page):
    """Trains by the form that is open; the command that the page shows."""
    page.eval_on_selector_all("details", "all => all.forEach(each => each.open = true)")
    for name, value in SETTINGS.items():
        page.fill(f"[name='set:{name}']", value)
    page.get_by_role("button", name="Train", exact=True).click()
    page.wait_for_url("**/jobs/jb_*")
    page.locator("#facts .badge", has_text="succeeded").wait_for()
    page.reload()
    return page.inner_text("#command")


def evaluate(page):
    """Evaluates the model of the run whose page is open; (the address, the scores as the page's file has them)."""
    page.get_by_role("link", name="Evaluate this model").click()
    page.get_by_role("button", name="Evaluate").click()
    page.wait_for_selector("#verdicts[aria-busy=false]")
    name = page.url.rpartition("/")[2]
    scores = page.request.get(page.url.replace(f"/evaluations/{name}", f"/api/v1/jobs/{name}/files/scores.json"))
    return page.url, json.loads(scores.text())


def by_command(command, data, out):
    """(bytes of the model, scores) of the command of a job's page, in a shell, on these data."""
    words = [f"--data={data}" if word.startswith("--data=") else word for word in shlex.split(command)[1:]]
    words[words.index("--out") + 1] = str(out)
    scores = ["evaluate", "--model", str(out / "best.safetensors"), f"--data={data}", "--split", "val"]
    for each in (words, [*scores, "--json", str(out / "scores.json")]):
        subprocess.run([sys.executable, "-m", "cvzoo", *each], check=True, capture_output=True)
    return (out / "best.safetensors").read_bytes(), json.loads((out / "scores.json").read_text())


def model_of(page, run):
    """The bytes of a run's best model."""
    address = run.replace("/jobs/", "/api/v1/jobs/")
    return page.request.get(f"{address}/files/best.safetensors?download=true").body()


def compared(scores):
    """The scores without the names of files."""
    return {key: value for key, value in scores.items() if key not in ("model", "data", "run", "seconds")}


def test_receipts_go_round_the_circle_with_the_bits_of_the_plain_commands(page, pages, server, tmp_path):
    page.goto(f"{server.address}/data/new")
    page.fill("#name", "SROIE")
    page.fill("#spec", f"sroie:{SROIE}")
    page.click("button[value=spec]")
    page.locator("#version-name").wait_for()
    dataset = page.url.partition("#")[0]
    first = new_version(page, dataset, "as published")
    assert first.startswith("sroie:")
    command = train(page)
    first_run = page.url
    first_model = model_of(page, first_run)
    evaluation, first_scores = evaluate(page)
    model, scores = by_command(command, f"sroie:{SROIE}", tmp_path / "first")  # of the original, not of the version
    assert first_model == model
    assert compared(first_scores) == compared(scores)

    page.locator("#verdicts a", has_text="Correct").first.click()
    page.wait_for_selector("#canvas[data-ready]")
    page.focus("#canvas")
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+ArrowRight")
    page.locator("#saved", has_text="saved").wait_for()
    page.get_by_role("link", name="Back to the evaluation").click()
    page.wait_for_url(f"{evaluation}**")
    # the corrected image is of val: the training is the same, the score may differ
    second = new_version(page, dataset, "corrected")
    assert second != first
    command = train(page)
    second_model = model_of(page, page.url)
    _, second_scores = evaluate(page)
    model, scores = by_command(command, second, tmp_path / "second")
    assert second_model == model
    assert compared(second_scores) == compared(scores)
    page.goto(f"{server.address}/compare?job={first_run.rpartition('/')[2]}")
    assert pages.faults == []
