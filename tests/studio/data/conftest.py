"""Data sets in a studio; the work of other processes is done in this one, as starting them takes a second each."""

import shutil
import subprocess
import types

import pytest


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Tasks, imaging and splits without processes."""
    from cvzoo.studio.data import archives, fixes, split, tasks
    from cvzoo.studio.photos.imaging import Imaging
    from cvzoo.studio.photos.imaging_worker import answer
    from cvzoo.studio.uploads import upload
    from cvzoo.studio.worker import data_task
    from cvzoo.studio.worker.fix_data import fixed
    from cvzoo.studio.worker.split import parts

    class Done:
        def __init__(self, argv, **_):
            data_task.main(argv[-1])

        def poll(self):
            return 0

    monkeypatch.setattr(tasks, "subprocess", types.SimpleNamespace(Popen=Done, DEVNULL=subprocess.DEVNULL))
    monkeypatch.setattr(Imaging, "_ask", lambda self, question: answer(question))
    monkeypatch.setattr(split, "_ask", parts)
    monkeypatch.setattr(fixes, "_ask", fixed)
    for each in (upload, archives):
        monkeypatch.setattr(each, "room", lambda folder: 1 << 30)  # whatever the disk of this machine has


def work(studio):
    """Does all open tasks."""
    for _ in range(20):
        if not studio.data.tasks.open():
            return
        studio.data.tasks.tick()
    raise AssertionError("the tasks do not end")


@pytest.fixture(name="work")
def work_fixture():
    return work


@pytest.fixture(scope="session")
def first_imports():
    """Of each data set that `imported_once` imported: a copy of its files, its rows, and the texts in them that differ
    between tests.
    """
    return {}


@pytest.fixture
def imported_once(browser, studio, tmp_path, tmp_path_factory, first_imports):
    """`imported_once(name, make)`: the identifier of a data set of the COCO folder that `make(folder)` writes.

    The first test imports it; later ones get its rows and files, as an import takes half of a test.
    """
    from sqlalchemy import insert, select

    from cvzoo.studio.database.engine import reading, writing
    from cvzoo.studio.database.tables import METADATA, USER

    tables = [table for table in METADATA.sorted_tables if table.name == "dataset" or "dataset" in table.c]
    folders = ("images", "checks")

    def imported_once(name, make):
        root = tmp_path / name
        with reading(studio.engine) as connection:
            texts = (str(tmp_path), connection.scalar(select(USER.c.id).where(USER.c.name == "admin")))
        if name not in first_imports:
            make(root)
            body = {"name": name, "source": {"spec": f"coco:{root}"}}
            answer = browser.post("/api/v1/datasets", json=body)
            assert answer.status_code == 202
            work(studio)
            kept = tmp_path_factory.mktemp(name)
            shutil.copytree(root, kept / name)
            for folder in folders:
                shutil.copytree(studio.place.home / folder, kept / folder)
            with reading(studio.engine) as connection:
                rows = {table: [row._asdict() for row in connection.execute(select(table))] for table in tables}
            first_imports[name] = answer.json()["id"], kept, rows, texts
            return answer.json()["id"]
        dataset, kept, rows, before = first_imports[name]
        shutil.copytree(kept / name, root)
        for folder in folders:
            shutil.copytree(kept / folder, studio.place.home / folder, dirs_exist_ok=True)

        def here(value):
            for old, new in zip(before, texts):
                value = value.replace(old, new) if isinstance(value, str) else value
            return value

        with writing(studio.engine) as connection:
            for table, found in rows.items():
                if found:
                    connection.execute(
                        insert(table), [{key: here(value) for key, value in row.items()} for row in found]
                    )
        return dataset

    return imported_once


@pytest.fixture
def dataset(imported_once, write_coco):
    """The identifier of an imported data set of ten images with two boxes each."""
    return imported_once("shapes", write_coco)
