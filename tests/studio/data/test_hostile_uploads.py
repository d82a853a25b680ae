"""Archives and images that somebody made to do harm: each is refused, or judged, in words."""

import dataclasses
import functools
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib

import numpy as np
import pytest
from PIL import Image


def png(size=(8, 6), seed=0):
    buffer = io.BytesIO()
    Image.fromarray(np.random.default_rng(seed).integers(0, 255, (*size, 3), np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def zipped(entries, kind=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", kind) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return buffer.getvalue()


def tarred(entries):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data, more in entries:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for key, value in more.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def lying_tar():
    data = bytearray(tarred([("a.png", png(), {})]))
    data[124:136] = b"77777777777\0"
    data[148:156] = b"        "
    data[148:156] = b"%06o\0 " % sum(data[:512])
    return bytes(data)


def lying_zip():
    data = bytearray(zipped([("a.png", png() * 50)]))
    at = data.index(b"PK\x01\x02")
    struct.pack_into("<I", data, at + 24, 10)  # the uncompressed size
    return bytes(data)


ARCHIVES = {
    "up.zip": (zipped([("../../evil.png", png())]), "leads out of the folder"),
    "absolute.zip": (zipped([("/srv/evil.png", png())]), "leads out of the folder"),
    "windows.zip": (zipped([("..\\evil.png", png())]), "leads out of the folder"),
    "drive.zip": (zipped([("C:/evil.png", png())]), "leads out of the folder"),
    "symlink.tar": (tarred([("a.png", b"", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"})]), "neither file nor"),
    "hardlink.tar": (
        tarred([("a.png", b"", {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"})]),
        "neither file nor",
    ),
    "device.tar": (tarred([("a.png", b"", {"type": tarfile.CHRTYPE})]), "neither file nor folder"),
    "fifo.tar": (tarred([("a.png", b"", {"type": tarfile.FIFOTYPE})]), "neither file nor folder"),
    "twice.tar": (tarred([("a.png", png(), {}), ("a.png", png(), {})]), "two entries have the same name"),
    "lying.tar": (lying_tar(), "damaged or truncated"),
    "lying.zip": (lying_zip(), "damaged or truncated"),
    "cut.zip": (zipped([("a.png", png())])[:-30], "neither a tar nor a zip"),
    "cut.tgz": (gzip.compress(tarred([("a.png", png((60, 60)), {})]))[:2000], "damaged or truncated"),
    "no.zip": (b"no archive at all", "neither a tar nor a zip"),
    "empty.zip": (zipped([]), "there are no images"),
    "nested.zip": (zipped([("inner.zip", zipped([("a.png", png())]))]), "there are no images"),
    "svg.zip": (zipped([("a.svg", "<svg onload='alert(1)'/>")]), "there are no images"),
    "dots.tar": (tarred([("a/../../evil.png", png(), {})]), "leads out of the folder"),
    "slash.tar": (tarred([("/srv/evil.png", png(), {})]), "leads out of the folder"),
    "twice.zip": (zipped([("a.png", png()), ("./a.png", png())]), "two entries have the same name"),
    "deep.zip": (functools.reduce(lambda data, i: zipped([(f"{i}.zip", data)]), range(20), png()), "are no images"),
    "cut.tar.xz": (lzma.compress(tarred([("a.png", png((60, 60)), {})]))[:2000], "damaged or truncated"),
    "html.zip": (zipped([("a.html", "<script>alert(1)</script>")]), "there are no images"),
    "pickle.zip": (zipped([("a.pkl", b"cos\nsystem\n(S'id'\ntR.")]), "there are no images"),
    "null.tar": (tarred([("a.png\n", png(), {})]), "leads out of the folder"),
}


@pytest.fixture
def sent(browser, studio, work):
    """Imports bytes as a file of a name; gives the data set."""

    def send(name, data):
        upload = studio.data.uploads.create(name, len(data), None)
        studio.place.upload(upload.id).write_bytes(data)
        studio.data.uploads._accept(dataclasses.replace(upload, offset=len(data)))
        body = {"name": name, "source": {"uploads": [upload.id]}}
        dataset = browser.post("/api/v1/datasets", json=body).json()["id"]
        work(studio)
        assert list(studio.place.uploads.iterdir()) == []
        assert list(studio.place.tasks.iterdir()) == []
        return browser.get(f"/api/v1/datasets/{dataset}").json()

    return send


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_that_is_not_what_it_says_is_refused(sent, name, studio, tmp_path):
    before = set(tmp_path.iterdir())
    data, words = ARCHIVES[name]
    found = sent(name, data)
    assert found["state"] == "failed"
    assert words in found["detail"], found["detail"]
    assert set(tmp_path.iterdir()) == before
    assert not any(path.is_file() for path in studio.place.images.rglob("*"))


def test_a_bomb_is_refused_before_it_fills_the_disk(sent, monkeypatch):
    from cvzoo.datasets import extract

    monkeypatch.setattr(extract, "SMALL", 1 << 20)
    found = sent("bomb.zip", zipped([("a.png", bytes(20 << 20))]))
    assert "the unpacked files are too large" in found["detail"]
    found = sent("bomb.tgz", gzip.compress(tarred([("a.png", bytes(20 << 20), {})])))
    assert "the unpacked files are too large" in found["detail"]


def test_too_many_files_are_refused(sent, monkeypatch):
    from cvzoo.studio.worker import import_data

    monkeypatch.setattr(import_data, "MAX_FILES", 50)
    found = sent("many.zip", zipped([(f"{i}.png", b"") for i in range(60)]))
    assert "too many files" in found["detail"]


def huge_png(width, height):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    )


def test_images_that_cannot_be_decoded_are_findings(sent, browser):
    buffer = io.BytesIO()
    Image.new("RGB", (64, 64), "red").save(buffer, "JPEG")
    jpeg = buffer.getvalue()
    entries = [
        ("0_huge.png", huge_png(60_000, 60_000)),
        ("1_lying.png", huge_png(500, 400)),
        ("2_cut.jpg", jpeg[: len(jpeg) // 2]),
        ("3_text.jpg", b"<html><script>alert(1)</script>"),
        ("4_svg.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        ("5_empty.png", b""),
        ("6_eps.jpg", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"),
        ("7_polyglot.jpg", jpeg + b"<script>alert(1)</script>PK\x03\x04"),
        ("8_good.png", png()),
    ]
    found = sent("mixed.zip", zipped(entries))
    assert found["state"] == "ready"
    path = f"/api/v1/datasets/{found['id']}"
    items = browser.get(f"{path}/images").json()["items"]
    assert [each["height"] > 0 for each in items] == [False] * 7 + [True] * 2
    findings = browser.get(f"{path}/findings").json()["items"]
    wrong = {each["ordinal"]: each["kind"] for each in findings if each["severity"] == "error"}
    assert set(wrong) == set(range(7))
    assert set(wrong.values()) <= {"photo-unreadable", "photo-truncated", "photo-empty"}
    assert found["n_open_error"] == 7
    for each in items:
        view = browser.get(f"/api/v1/images/{each['sha256']}/view")
        assert view.status_code == 404 or view.headers["content-type"] in ("image/jpeg", "image/png")
        assert view.headers["x-content-type-options"] == "nosniff"
        file = browser.get(f"/api/v1/images/{each['sha256']}/file")
        assert file.headers["content-disposition"].startswith("attachment")
        assert "sandbox" in file.headers["content-security-policy"]


def test_annotations_that_name_files_outside_read_none(sent, browser, tmp_path):
    (tmp_path / "secret.png").write_bytes(png(seed=5))
    coco = (
        '{"images": [{"id": 1, "file_name": "a.png"}, {"id": 2, "file_name": "%s"},'
        '{"id": 3, "file_name": "../../x.png"}],'
        '"annotations": [], "categories": []}' % (tmp_path / "secret.png")
    )
    found = sent("outside.zip", zipped([("annotations/instances_all.json", coco), ("images/a.png", png())]))
    assert (found["state"], found["n_image"]) == ("ready", 1)
    kinds = {each["kind"] for each in browser.get(f"/api/v1/datasets/{found['id']}/findings").json()["items"]}
    assert "name-unsafe" in kinds


def test_a_folder_whose_name_is_an_option_is_no_option(sent, browser, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.png").write_bytes(png())
    name = f"x,photos={tmp_path}/elsewhere".replace("/", "_")
    found = sent("option.zip", zipped([(f"{name}/a.png", png(seed=1))]))
    assert (found["state"], found["n_image"]) == ("ready", 1)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF"])
def test_a_truncated_image_of_each_format_is_a_finding(sent, browser, kind):
    buffer = io.BytesIO()
    pixels = np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8)
    Image.fromarray(pixels).save(buffer, kind)
    data = buffer.getvalue()
    ending = {"JPEG": "jpg", "TIFF": "tif"}.get(kind, kind.lower())
    found = sent("cut.zip", zipped([(f"0.{ending}", data[: len(data) // 2]), ("1.png", png())]))
    assert found["state"] == "ready"
    findings = browser.get(f"/api/v1/datasets/{found['id']}/findings").json()["items"]
    assert {each["ordinal"] for each in findings if each["severity"] == "error"} == {0}


@pytest.mark.parametrize("name", ["after", "before", "rev"])
@pytest.mark.parametrize("place", ["/api/v1/datasets/{}/images", "/api/v1/datasets/{}/revisions", "/data/{}/images"])
def test_a_number_that_no_database_has_is_refused(browser, dataset, place, name):
    answer = browser.get(f"{place.format(dataset)}?{name}={10**30}")
    assert answer.status_code in (200, 422)  # 200 where the parameter is unknown


def test_a_name_that_is_a_script_is_text(browser, dataset):
    name = "<svg onload=alert(1)>"
    assert browser.patch(f"/api/v1/datasets/{dataset}", json={"name": name}).status_code == 200
    for path in ("/data", f"/data/{dataset}", f"/data/{dataset}/images"):
        text = browser.get(path).text
        assert "<svg onload" not in text
    assert "&lt;svg onload" in text
