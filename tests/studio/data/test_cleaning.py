"""What a server removes at its start, while imports that outlived the one before may go on."""


def test_files_that_an_open_import_may_be_writing_are_kept_until_it_is_done(
    studio, browser, tmp_path, write_coco, work
):
    root = write_coco(tmp_path / "shapes")
    answer = browser.post("/api/v1/datasets", json={"name": "shapes", "source": {"spec": f"coco:{root}"}})
    assert answer.status_code == 202
    images = studio.place.images
    (images / "ab").mkdir()
    parts = [images / ".0123.part", images / "ab" / ".abcd.jpg.x.part"]
    parts.append(studio.place.versions / ".ve_a.files.jsonl.0123abcd.part")
    for part in parts:
        part.touch()
    studio.data.clean()
    assert all(part.exists() for part in parts)
    work(studio)
    stored = {path for path in images.rglob("*") if path.is_file()} - set(parts)
    (studio.place.versions / ".ve_a.0123abcd.part").mkdir()
    studio.data.clean()
    assert list(studio.place.versions.glob(".*")) == []
    assert {path for path in images.rglob("*") if path.is_file()} == stored
