"""What is damaged, missing or wrong in a studio is found by comparing all of it with the database."""

import io
import pathlib
import zipfile

import pytest
from sqlalchemy import text

from cvzoo.cli.main import main
from cvzoo.errors.exceptions import ConfigError


@pytest.fixture
def full(studio, browser, work, dataset):
    """A studio with a data set, an edit, a version, a job with a snapshot, an upload, and an image of no data set."""
    from cvzoo.studio.jobs.spec import TrainSpec

    image = browser.get(f"/api/v1/datasets/{dataset}/images/0").json()
    put = {"edit_id": "edit-0001", "base": 1, "objects": image["labels"][:1]}
    assert browser.put(f"/api/v1/datasets/{dataset}/images/0/labels", json=put).status_code == 200
    change = {"ordinals": [1, 2], "add_tags": ["night"]}
    assert browser.patch(f"/api/v1/datasets/{dataset}/images", json=change).status_code == 200
    assert browser.post(f"/api/v1/datasets/{dataset}/versions", json={"name": "first"}).status_code == 202
    work(studio)
    job = studio.jobs.create("mine", TrainSpec("ssd300", "voc:shapes"), None)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("weights.npy", b"1234567890" * 10)
    (studio.place.run(job.id) / "snapshot_iter_8.npz").write_bytes(buffer.getvalue())
    upload = studio.data.uploads.create("images.tar", 20, "me")
    studio.place.upload(upload.id).write_bytes(b"seven..")
    with studio.engine.begin() as connection:
        connection.execute(text("UPDATE upload SET offset = 7"))
    return studio


def faults(studio):
    from cvzoo.studio.verify import verify

    return dict(verify(studio.place, studio.clock).faults)


def stored(studio):
    """An image of the store."""
    return next(path for path in sorted(studio.place.images.glob("??/*")) if not path.suffix)


def damage(path):
    """Changes a byte in the middle, as a disk does."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.chmod(0o600)
    path.write_bytes(data)


def only(found):
    ((name, why),) = found.items()
    return name, why


def test_a_whole_studio_has_no_fault(full, capsys):
    assert faults(full) == {}
    assert main(["studio", "--home", str(full.place.home), "verify"]) == 0
    said = capsys.readouterr().out
    assert said == "1 data set, 10 images, 1 version, 0 uploaded models, 1 upload, 1 job: all as the database says\n"


def test_a_damaged_image_is_named_with_the_versions_that_have_it(full, capsys):
    path = stored(full)
    damage(path)
    found = faults(full)
    assert found[f"images/{path.parent.name}/{path.name}"].startswith("is damaged: SHA-256 ")
    (version,) = (name for name in found if name.startswith("versions/"))
    assert "png is missing or damaged" in found[version]
    assert main(["studio", "--home", str(full.place.home), "verify"]) == 1
    assert capsys.readouterr().out.endswith("1 job: 2 faults\n")


def test_a_missing_image_and_a_missing_thumbnail_are_named(full):
    path = stored(full)
    path.with_suffix(".jpg").unlink()
    assert only(faults(full)) == (f"images/{path.parent.name}/{path.name}", "has no properties, or no thumbnail")
    path.unlink()
    assert only(faults(full))[1] == "is missing"


def test_a_damaged_image_of_no_data_set_is_named_as_the_next_import_would_take_it(full):
    path = full.place.images / "aa" / ("a" * 64)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"no such hash")
    assert only(faults(full))[0] == f"images/aa/{'a' * 64}"


def test_files_of_a_version_are_compared_with_its_list(full):
    (folder,) = (path for path in full.place.versions.iterdir() if path.is_dir())
    annotations = next(folder.rglob("*.json"))
    damage(annotations)
    (folder / "more.txt").write_text("mine")
    name, why = only(faults(full))
    assert name == f"versions/{folder.name}"
    assert why == f"annotations/{annotations.name} is missing or damaged; more.txt is not of the version"
    full.place.version_files(folder.name).write_text("{")
    assert only(faults(full))[1].startswith("cannot be read")
    folder.rename(folder.with_name("gone"))
    assert only(faults(full))[1] == "is missing"


def test_a_version_of_other_rows_than_its_hash_says_is_named(full):
    with full.engine.begin() as connection:
        connection.execute(text("UPDATE version SET content = 'other'"))
    assert only(faults(full))[1] == "its rows have another content"


def test_a_damaged_snapshot_and_a_lost_folder_of_a_job_are_named(full):
    (job,) = full.jobs.all()
    run = full.place.run(job.id)
    damage(run / "snapshot_iter_8.npz")
    assert only(faults(full)) == (f"runs/{job.id}", "snapshot_iter_8.npz is damaged at weights.npy")
    (run / "snapshot_iter_8.npz").unlink()
    (run / "best.safetensors").write_bytes(b"weights")
    assert "best.safetensors is damaged" in only(faults(full))[1]
    (run / "best.safetensors").unlink()
    (run / "job.json").write_text("{}")
    assert only(faults(full))[1] == "job.json is not what the database says"
    run.rename(full.place.home / "elsewhere")
    assert only(faults(full))[1] == "is missing"


def test_a_short_upload_is_named(full):
    (path,) = full.place.uploads.iterdir()
    path.write_bytes(b"six...")
    assert only(faults(full))[1] == "has 6 of 7 bytes that were accepted"


def test_kept_numbers_are_counted_again(full, dataset):
    with full.engine.begin() as connection:
        connection.execute(text("UPDATE facet SET n_image = n_image + 1 WHERE kind = 'tag'"))
    assert only(faults(full)) == (f"data/{dataset}", "the number of tag 'night' is wrong")


def test_what_a_server_deletes_meanwhile_is_no_fault(full, dataset, monkeypatch):
    from cvzoo.studio import verify as module

    first = stored(full)

    def purge_first(place):
        full.data.tasks.trash(full.data.datasets.get(dataset))
        full.trash.purge(dataset)
        first.unlink()
        monkeypatch.setattr(module, "_hash_fault", known)
        return known(place, "", {})

    known = module._hash_fault
    monkeypatch.setattr(module, "_hash_fault", lambda path, *_: purge_first(path))
    assert faults(full) == {}


def test_a_database_of_another_schema_is_not_migrated(full, capsys):
    with full.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    with pytest.raises(ConfigError, match="schema 0001"):
        faults(full)
    assert main(["studio", "--home", str(pathlib.Path(full.place.home, "no")), "verify"]) == 2
    assert "no server has run" in capsys.readouterr().err
