"""A studio with a few runs on disk, and browsers with and without a session."""

import contextlib
import dataclasses
import importlib.util
import json
import os
import pathlib
import shutil

import pytest

NEEDED = ("fastapi", "sqlalchemy", "alembic", "jinja2", "uvicorn", "psutil", "python_multipart", "httpx2")


MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]


CLASSES = ("cat", "dog")


class _Skipped(pytest.File):
    """A file of tests that is not imported, as packages that it needs are not installed."""

    def collect(self):
        pytest.skip(f'{", ".join(MISSING)} not installed; pip install "cvzoo[studio-test]"', allow_module_level=True)


def pytest_pycollect_makemodule(module_path, parent):
    """The file as a module of tests, unless packages are missing."""
    return _Skipped.from_parent(parent, path=module_path) if MISSING else None


class Clock:
    """A clock that tests set, milliseconds."""

    def __init__(self):
        self.now = 1_800_000_000_000

    def __call__(self):
        return self.now


def write_run(folder, *, state="finished", best=(0.2, 0.6, 0.5), batch_size=4, lr=0.01, **status):
    """A folder as `cvzoo train` writes it, of a training of 4 epochs with 10 images, 3 epochs of which are done."""
    folder = pathlib.Path(folder)
    (folder / "images").mkdir(parents=True)
    recipe = {"data": "voc:shapes", "epochs": 4, "batch_size": batch_size, "lr": lr, "model": {"min_size": 320}}
    words = ["train", "--recipe", "ssd300", "--data", "voc:shapes", "--out", "{out}"]
    command = {"script": None, "module": "cvzoo", "arguments": words, "folder": ".."}
    config = {"format": 1, "recipe": recipe, "seed": 0, "command": command}
    tree = {"state": state, "epoch": 3.0, "iteration": 8, "seen": "2026-11-22 08:10:03 UTC"}
    tree |= {"best": "validation/main/map", "best_is": "largest", "reason": "", "resume_with": None} | status
    part = {"n_example": 10, "label_names": ["cat", "dog"]}
    for name, each in (("config", config), ("status", tree), ("data", {"train": part, "val": part})):
        (folder / f"{name}.json").write_text(json.dumps(each))
    rows = [
        {"epoch": i + 1, "iteration": round(2.5 * (i + 1)), "elapsed_time": 10.0 * (i + 1), "main/loss": 3.0 - i}
        | {"validation/main/map": value, "validation/main/ap/cat": value - 0.1, "validation/main/ap/dog": value + 0.1}
        for i, value in enumerate(best)
    ]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    steps = [{"epoch": 0, "iteration": i, "elapsed_time": 3.75 * i, "main/loss": 9.0 / i} for i in range(1, 9)]
    (folder / "iterations.jsonl").write_text("".join(json.dumps(row) + "\n" for row in steps))
    (folder / "report.html").write_text("<!doctype html><title>report</title><script>1</script>")
    (folder / "best.safetensors").write_bytes(b"weights")
    (folder / "snapshot_iter_8.npz").write_bytes(b"snapshot")
    (folder / "images" / "predictions.jpg").write_bytes(b"\xff\xd8\xff\xe0image")
    return folder


@pytest.fixture(name="write_run")
def write_run_fixture():
    return write_run


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def watched(tmp_path):
    """A folder with two runs."""
    write_run(tmp_path / "watched" / "first")
    write_run(tmp_path / "watched" / "cats" / "second", best=(0.3, 0.4, 0.9), lr=0.02)
    return tmp_path / "watched"


@pytest.fixture(autouse=True)
def cost_of_passwords(monkeypatch):
    """The hash of a password is made in no time; the value is the cost without this."""
    from cvzoo.studio.access import passwords

    cost = passwords.COST
    monkeypatch.setattr(passwords, "COST", 2)
    return cost


@pytest.fixture(autouse=True)
def requests_at_once(monkeypatch):
    """So many may be sent that tests, whose clock stands, are not refused; the value is the usual number of seconds."""
    from cvzoo.studio.access import rates

    usual = rates.BURST_S
    monkeypatch.setattr(rates, "BURST_S", 1000)
    return usual


@pytest.fixture(autouse=True)
def without_waiting_for_the_disk(monkeypatch):
    """Only a power cut could tell that nothing waits until the disk has written."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


@pytest.fixture(autouse=True)
def without_waiting_for_a_retry(monkeypatch):
    """A job whose attempt was lost is started again at once; the value is how long it would wait without this."""
    from cvzoo.studio.jobs import retry

    back_off = retry.BACK_OFF_S
    monkeypatch.setattr(retry, "BACK_OFF_S", (0,))
    return back_off


@pytest.fixture(scope="session")
def zoo_of_the_command_line():
    """[] or [what `cvzoo models --json` lists], which takes a second."""
    return []


@pytest.fixture(autouse=True)
def zoo_listed_once(monkeypatch, zoo_of_the_command_line):
    """The real list of the zoo, for all tests that do not make one up."""
    from cvzoo.studio.models import zoo

    listed, once = zoo._list, zoo_of_the_command_line
    monkeypatch.setattr(zoo, "_list", lambda: once[0] if once else once.append(listed()) or once[0])


@pytest.fixture(scope="session")
def new_database(tmp_path_factory):
    """A database without rows, which tests copy: its migrations take 0.2 s."""
    from cvzoo.studio.database.migrate import ready_database
    from cvzoo.studio.place import Place

    place = Place(tmp_path_factory.mktemp("new_studio"))
    place.make()
    ready_database(place).dispose()
    return place.database


@pytest.fixture(scope="session")
def compiled():
    """[] or [the first database's dialect, its compiled statements]: to compile them is a fifth of a test."""
    return []


@pytest.fixture
def studio(tmp_path, clock, watched, new_database, compiled):
    from sqlalchemy import event

    from cvzoo.studio.database.migrate import ready_database
    from cvzoo.studio.place import Place
    from cvzoo.studio.settings import Settings
    from cvzoo.studio.state import make_studio

    place = Place(tmp_path / "home")
    place.make()
    settings = Settings(home=place.home, port=8700, watch=(watched,))
    shutil.copyfile(new_database, place.database)
    engine = ready_database(place)
    engine.dispose()  # connections from here on do not wait for the disk, either
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF"))
    if not compiled:
        compiled.extend((engine.dialect, {}))
    engine.dialect = compiled[0]  # by which compiled statements are found
    engine.update_execution_options(compiled_cache=compiled[1])
    yield make_studio(settings, place, engine, clock)
    engine.dispose()


@pytest.fixture(scope="session")
def routes():
    """The routes of the first application, which have no state: another one would take 0.2 s to make its own."""
    return []


@pytest.fixture
def client_of(routes):
    """`client_of(studio)`: a browser without a session, or a program without a token."""
    from fastapi.testclient import TestClient
    from whole_answers import WholeAnswers

    from cvzoo.studio.app import create_app

    def client_of(studio):
        app = create_app(studio)
        if not routes:
            routes.extend(app.router.routes)
        app.router.routes = routes
        client = TestClient(app, base_url="http://127.0.0.1:8700", follow_redirects=False)
        # otherwise, each request would make a thread and an event loop of its own
        clients.enter_context(client)
        client._transport.close()
        client._transport = WholeAnswers(app, client.portal)
        return client

    with contextlib.ExitStack() as clients:
        yield client_of


@pytest.fixture
def stranger(studio, client_of):
    return client_of(studio)


@pytest.fixture
def browser(studio, client_of):
    """A browser that has used a one-time link."""
    from cvzoo.studio.access.tickets import new_ticket

    client = client_of(studio)
    client.headers["sec-fetch-site"] = "same-origin"
    answer = client.post("/open", data={"ticket": new_ticket(studio.engine, studio.clock)})
    assert answer.status_code == 303
    return client


@pytest.fixture
def run_id(studio):
    """The identifier of the run "first"."""
    return next(each.id for each in studio.runs.records() if each.name == "first")


@pytest.fixture
def https(studio):
    """The same studio behind a proxy with TLS."""
    settings = dataclasses.replace(studio.settings, behind_proxy="10.0.0.1", hostnames=("studio.example.org",))
    return dataclasses.replace(studio, settings=settings)


def write_coco(root, *, n=10, boxes=2, seed=0, splits=("train", "val")):
    """A data set in COCO's layout: n images, every fifth in val, with a few boxes each."""
    import numpy as np
    from PIL import Image

    rng = np.random.default_rng(seed)
    (root / "images").mkdir(parents=True)
    (root / "annotations").mkdir()
    categories = [{"id": k + 1, "name": name} for k, name in enumerate(CLASSES)]
    files = {split: {"images": [], "annotations": [], "categories": categories} for split in splits}
    for i in range(n):
        pixels = rng.integers(0, 255, (6, 8, 3), np.uint8)
        Image.fromarray(pixels).resize((80, 60)).save(root / "images" / f"{i}.png")
        file = files[splits[-1] if i % 5 == 4 else splits[0]]
        file["images"].append({"id": i + 1, "file_name": f"{i}.png", "height": 60, "width": 80})
        for k in range(boxes):
            box = [5.5 + 20 * k, 10, 12, 8.25]
            number = len(file["annotations"]) + 1000 * (file is files[splits[-1]]) + 1
            more = {"category_id": (i + k) % 2 + 1, "area": 99.0, "iscrowd": 0}
            file["annotations"].append({"id": number, "image_id": i + 1, "bbox": box} | more)
    for split, file in files.items():
        (root / "annotations" / f"instances_{split}.json").write_text(json.dumps(file))
    return root


@pytest.fixture(name="write_coco")
def write_coco_fixture():
    return write_coco
