"""The table of hostile files and requests: each is accepted, refused in words, reported as unreadable, or contained."""

import dataclasses
import lzma
import re
import socket
import tarfile

import hostile_files as made
import pytest
from hostile_files import image, tarred, zipped

UNREADABLE = {"photo-unreadable", "photo-truncated", "photo-empty"}
JPEG = image("jpg", (64, 64))
# archives that are refused: name, bytes, what is said
ARCHIVES = {
    "up.zip": (zipped([("../../evil.png", image())]), "leads out of the folder"),
    "absolute.zip": (zipped([("/srv/evil.png", image())]), "leads out of the folder"),
    "windows.zip": (zipped([("..\\evil.png", image())]), "leads out of the folder"),
    "drive.zip": (zipped([("C:/evil.png", image())]), "leads out of the folder"),
    "symlink.zip": (made.linked_zip(), "neither file nor"),
    "symlink.tar": (tarred([("a.png", b"", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"})]), "neither file nor"),
    "hardlink.tar": (
        tarred([("a.png", b"", {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"})]),
        "neither file nor",
    ),
    "device.tar": (tarred([("a.png", b"", {"type": tarfile.CHRTYPE})]), "neither file nor folder"),
    "fifo.tar": (tarred([("a.png", b"", {"type": tarfile.FIFOTYPE})]), "neither file nor folder"),
    "dots.tar": (tarred([("a/../../evil.png", image(), {})]), "leads out of the folder"),
    "slash.tar": (tarred([("/srv/evil.png", image(), {})]), "leads out of the folder"),
    "pax.tar": (made.pax_tar("../../evil.png"), "leads out of the folder"),
    "newline.tar": (tarred([("a.png\n", image(), {})]), "leads out of the folder"),
    "twice.tar": (tarred([("a.png", image(), {}), ("a.png", image(), {})]), "two entries have the same name"),
    "twice.zip": (zipped([("a.png", image()), ("./a.png", image())]), "two entries have the same name"),
    "composed.zip": (zipped([("\u00e9.png", image()), ("e\u0301.png", image())]), "two entries have the same name"),
    "file and folder.zip": (zipped([("a.png", image()), ("a.png/b.png", image())]), "a file and a folder"),
    "folder and file.zip": (zipped([("a.png/b.png", image()), ("a.png", image())]), "a file and a folder"),
    "long name.zip": (zipped([("a" * 5000 + ".png", image())]), "damaged or truncated"),
    "many folders.zip": (zipped([("a/" * 3000 + "a.png", image())]), "damaged or truncated"),
    "lying.tar": (made.lying_tar(), "damaged or truncated"),
    "long header.tar": (made.long_header_tar(), "neither a tar nor a zip"),
    "lying.zip": (made.lying_zip(), "damaged or truncated"),
    "encrypted.zip": (made.encrypted_zip(), "damaged or truncated"),
    "overlapping.zip": (made.overlapping_zip(), ("damaged or truncated", "too large")),
    "cut.zip": (zipped([("a.png", image())])[:-30], "neither a tar nor a zip"),
    "cut.tgz": (made.gzipped(tarred([("a.png", image(size=(60, 60)), {})]))[:2000], "damaged or truncated"),
    "cut.tar.xz": (lzma.compress(tarred([("a.png", image(size=(60, 60)), {})]))[:2000], "damaged or truncated"),
    "no.zip": (b"no archive at all", "neither a tar nor a zip"),
    "empty.zip": (zipped([]), "there are no images"),
    "nested.zip": (zipped([("inner.zip", zipped([("a.png", image())]))]), "there are no images"),
    "nested.tar": (tarred([("inner.tgz", made.gzipped(tarred([("a.png", image(), {})])), {})]), "there are no images"),
    "42.zip": (made.zip_of_zips(), "there are no images"),
    "svg.zip": (zipped([("a.svg", "<svg onload='alert(1)'/>")]), "there are no images"),
    "html.zip": (zipped([("a.html", "<script>alert(1)</script>")]), "there are no images"),
    "pickle.zip": (zipped([("a.pkl", b"cos\nsystem\n(S'id'\ntR.")]), "there are no images"),
}
# images that are reported as unreadable, each next to a sound one: name, bytes
UNREADABLE_IMAGES = {
    **{f"pixels.{ending}": made.huge(ending) for ending in ("png", "jpg", "gif", "bmp", "webp", "tif", "ppm", "jp2")},
    **{f"cut.{ending}": image(ending, (64, 64))[: len(image(ending, (64, 64))) // 2] for ending in made.FORMATS},
    **{f"header.{ending}": image(ending, (64, 64))[:12] for ending in made.FORMATS},
    "size.png": made.png_of(500, 400),
    "no pixels.png": made.png_of(0, 0),
    "profile.png": made.text_bomb(b"iCCP"),
    "text.png": made.text_bomb(b"zTXt"),
    "checksum.png": made.patched(image(), b"IDAT", ">I", 0),
    "ends.jpg": JPEG[:200],
    "html.jpg": b"<html><script>alert(1)</script>",
    "svg.png": b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
    "empty.png": b"",
    "eps.jpg": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
    "pdf.jpg": b"%PDF-1.7\n1 0 obj<</OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj\n",
    "zip.jpg": zipped([("a.png", image())]),
    "zeros.bmp": b"BM" + bytes(100),
}
# what looks odd and is sound: name, bytes of an archive, number of images
ACCEPTED = {
    "case twins.zip": (zipped([("A.png", image(seed=1)), ("a.png", image(seed=2))]), 2),
    "polyglot.zip": (zipped([("a.jpg", JPEG + b"<script>alert(1)</script>" + zipped([("b", b"c")]))]), 1),
    "comment.zip": (zipped([("a.png", made.with_text())]), 1),
    "frames.zip": (zipped([("a.gif", made.many_frames())]), 1),
    "script.zip": (
        zipped([("<img src=x onerror=alert(1)>.png", image()), ("\">'<svg onload=alert(1)>.png", image())]),
        2,
    ),
    "turned.zip": (zipped([("a\u202egnp.png", image()), ("-rf.png", image()), ("--help.png", image())]), 3),
    "other type.zip": (zipped([("a.png", image("gif"))]), 1),
    "loop.zip": (zipped([("a.tif", made.looping_tiff())]), 1),
    "nested beside.zip": (zipped([("a.png", image()), ("b.zip", zipped([("c.png", image())]))]), 1),
}
# annotations: name, bytes of an archive; "ready", or what is said
ANNOTATIONS = {
    "nan box": (made.coco(annotations=made.box(bbox=[float("nan"), 1, 3, 3])), "ready"),
    "infinite box": (made.coco(annotations=made.box(bbox=[1, 1, float("inf"), 3])), "ready"),
    "nan extra": (made.coco(annotations=made.box(note=float("nan"), score=float("inf"))), "ready"),
    "nan in image": (made.coco(images=[{"id": 1, "file_name": "a.png", "note": float("nan")}]), "ready"),
    "nan in category": (made.coco(categories=[{"id": 1, "name": "cat", "note": float("nan")}]), "ready"),
    "huge number": (made.coco(annotations=made.box(note=10**400, bbox=[1, 1, 10**30, 3])), "ready"),
    "huge id": (made.coco(annotations=made.box(id=10**30), images=[{"id": 1, "file_name": "a.png"}]), "ready"),
    "deep": (made.coco(text="[" * 200_000), ""),
    "deep extra": (made.coco(text=made.deep_coco(900)), ""),
    "long text": (made.coco(annotations=made.box(text="a" * (1 << 20))), "letters"),
    "long class": (made.coco(annotations=made.box(), categories=[{"id": 1, "name": "a" * (1 << 20)}]), "letters"),
    "null class": (made.coco(annotations=made.box(), categories=[{"id": 1, "name": "a\0b"}]), "ready"),
    "surrogate class": (made.coco(annotations=made.box(), categories=[{"id": 1, "name": "a\ud800"}]), "ready"),
    "surrogate extra": (made.coco(annotations=made.box(note="a\ud800", **{"k\ud800": 1})), "ready"),
    "script class": (
        made.coco(annotations=made.box(), categories=[{"id": 1, "name": "<svg onload=alert(1)>"}]),
        "ready",
    ),
    "list": (made.coco(text="[]"), ""),
    "number": (made.coco(text="1e999"), ""),
    "not utf-8": (made.coco(text=b"\xff\xfe\x00{"), ""),
    "no json": (made.coco(text="cos\nsystem\n(S'id'\ntR."), ""),
    "billion laughs": (made.voc(made.laughs()), "ready"),
    "outside entity": (made.voc(made.outside_entity()), "ready"),
    "deep xml": (made.voc("<a>" * 100_000), "ready"),
    "nan in xml": (
        made.voc(made.voc_xml(box="<xmin>nan</xmin><ymin>inf</ymin><xmax>1e999</xmax><ymax>4</ymax>")),
        "ready",
    ),
    "null in xml": (made.voc(made.voc_xml("a&#0;b")), "ready"),
    "long xml": (made.voc(made.voc_xml("a" * (1 << 20))), "letters"),
}
DEEP = b"[" * 100_000
LONG = "a" * 200_000
IN_JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}
# method, path, headers, body, statuses that are right
REQUESTS = [
    # addresses
    ("GET", "/api/v1/jobs/%2e%2e%2f%2e%2e%2fetc%2fpasswd", {}, b"", {404}),
    ("GET", "/api/v1/jobs/..;/x", {}, b"", {404}),
    ("GET", "/api/v1/jobs/jb_%00aaaaaaaaaaaaaaa", {}, b"", {404}),
    ("GET", "/static/..%2f..%2fserve.py", {}, b"", {404}),
    ("GET", "/static/%2e%2e/%2e%2e/serve.py", {}, b"", {404}),
    ("GET", "/static//etc/passwd", {}, b"", {404}),
    ("GET", "/static/vendor", {}, b"", {404}),
    ("GET", f"/{LONG[:60_000]}", {}, b"", {404}),
    ("GET", "/%ff%fe%fd", {}, b"", {404}),
    ("GET", "/api/v1/jobs?text=" + LONG[:60_000], {}, b"", {422}),
    ("GET", "/api/v1/jobs?limit=1e309", {}, b"", {422}),
    ("GET", "/api/v1/jobs?limit=99999999999999999999999999", {}, b"", {422}),
    ("GET", "/api/v1/jobs?after=-1", {}, b"", {422}),
    ("GET", "/api/v1/jobs?after=99999999999999999999", {}, b"", {200, 422}),
    ("GET", "/api/v1/jobs?state=%27%20OR%201%3D1%20--", {}, b"", {200}),
    ("GET", "/compare?job=" + "&job=".join(["jb_" + "a" * 16] * 9), {}, b"", {422}),
    ("GET", "/models/zoo:..%2f..%2fetc", {}, b"", {404}),
    ("GET", "/models/zoo:" + LONG[:5000], {}, b"", {404}),
    ("GET", "/api/v1/evaluations/jb_aaaaaaaaaaaaaaaa/images/-1", {}, b"", {404}),
    ("GET", "/api/v1/evaluations/jb_aaaaaaaaaaaaaaaa/images/1e9", {}, b"", {404, 422}),
    ("GET", "/api/v1/models/wr_aaaaaaaaaaaaaaaa/validation-images/99999999999999999999", {}, b"", {404, 422}),
    # methods
    ("TRACE", "/api/v1/jobs", {}, b"", {403, 405}),
    ("PUT", "/api/v1/jobs", {}, b"", {405}),
    ("PUT", "/api/v1/jobs/jb_aaaaaaaaaaaaaaaa", {}, b"", {405}),
    ("DELETE", "/api/v1/jobs/jb_aaaaaaaaaaaaaaaa", {}, b"", {404}),
    ("POST", "/api/v1/health", {"x-http-method-override": "GET"}, b"", {405}),
    (
        "OPTIONS",
        "/api/v1/jobs",
        {"origin": "https://evil.example.org", "access-control-request-method": "POST"},
        b"",
        {405},
    ),
    # bodies
    ("POST", "/api/v1/jobs", IN_JSON, b"", {422}),
    ("POST", "/api/v1/jobs", IN_JSON, b"{", {422}),
    ("POST", "/api/v1/jobs", IN_JSON, DEEP, {400, 422}),
    ("POST", "/api/v1/jobs", IN_JSON, b'{"recipe": NaN, "data": Infinity}', {422}),
    ("POST", "/api/v1/jobs", IN_JSON, b'{"recipe": "a", "data": "b", "settings": {"x": {"y": 1}}}', {422}),
    ("POST", "/api/v1/jobs", IN_JSON, b'\xff\xfe{"recipe"', {400, 422}),
    ("POST", "/api/v1/jobs", IN_JSON, b'{"recipe": "' + b"a" * (2 << 20) + b'"}', {413}),
    ("POST", "/api/v1/jobs", {"content-type": "text/plain"}, b'{"recipe": "a", "data": "b"}', {422}),
    ("POST", "/api/v1/jobs", {"content-type": "application/x-python-pickle"}, b"cos\nsystem\n(S'id'\ntR.", {422}),
    ("POST", "/api/v1/evaluations", IN_JSON, b'{"model": "zoo:x", "data": "--json=/etc/passwd"}', {404}),
    ("POST", "/jobs/new", FORM, b"&".join(b"a%d=1" % i for i in range(2000)), {400, 413, 422}),
    ("POST", "/jobs/new", FORM, b"recipe=%00&data=%00", {200, 422}),
    ("POST", "/jobs/new", {"content-type": "multipart/form-data; boundary=x"}, b"--y\r\n\r\n", {200, 400, 422}),
    ("POST", "/open", FORM, b"ticket=" + b"a" * 5000, {422}),
    # headers
    ("GET", "/api/v1/jobs", {"authorization": "Bearer " + LONG[:8000]}, b"", {401}),
    ("GET", "/api/v1/jobs", {"authorization": "Bearer cvz_\xe9"}, b"", {401}),
    ("GET", "/api/v1/jobs", {"x-forwarded-host": "evil.example.org", "x-forwarded-for": "1.2.3.4"}, b"", {200}),
    ("GET", "/static/base.css", {"range": "bytes=0-0," * 500 + "1-1"}, b"", {200, 206, 400, 416}),
    ("GET", "/static/base.css", {"range": "bytes=99999999999999999999-"}, b"", {200, 400, 416}),
    ("GET", "/static/base.css", {"if-modified-since": "\xff" * 100}, b"", {200, 304}),
]

# addresses, of which the studio fetches none: what names them is a path that does not exist, or data that are not known
ADDRESSES = (
    *("http://127.0.0.1:8700/", "http://127.1/", "http://[::]/", "http://[::ffff:127.0.0.1]/", "http://2130706433/"),
    *("http://0x7f.1/", "http://0177.0.0.1/", "http://localhost./", "http://169.254.169.254/latest/meta-data/"),
    *("http://127.0.0.1.nip.io/", "https://user@127.0.0.1/", "//127.0.0.1/share", "\\\\127.0.0.1\\share"),
    *("file:///etc/passwd", "ftp://127.0.0.1/a.png", "gopher://127.0.0.1:70/1", "rtsp://127.0.0.1/stream", "data:,a"),
)


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
        found = browser.get(f"/api/v1/datasets/{dataset}").json()
        findings = browser.get(f"/api/v1/datasets/{dataset}/findings?limit=200").json()["items"]
        assert str(studio.place.home) not in str([found["detail"], findings])
        return found

    return send


def looked_at(browser, dataset):
    """The images and findings of a data set, after each of its pages and answers was asked for."""
    path = f"/api/v1/datasets/{dataset}"
    items = browser.get(f"{path}/images").json()["items"]
    findings = browser.get(f"{path}/findings").json()["items"]
    more = [f"{path}/images/{each['ordinal']}{end}" for each in items for end in ("", "/history")]
    pages = [f"/data/{dataset}{end}" for end in ("", "/images", "/findings", "/images/0", "/history")]
    for address in [path, f"{path}/classes", f"{path}/revisions", *more, "/data", *pages]:
        answer = browser.get(address)
        assert answer.status_code in (200, 404, 410), (address, answer.text[:300])
        assert "<svg onload" not in answer.text or answer.headers["content-type"].startswith("application/json")
        assert "<img src=x" not in answer.text or answer.headers["content-type"].startswith("application/json")
    for each in items:
        for kind in ("view", "file", "thumbnail.jpg"):
            answer = browser.get(f"/api/v1/images/{each['sha256']}/{kind}")
            assert answer.headers["x-content-type-options"] == "nosniff"
            if answer.status_code == 200:
                assert "sandbox" in answer.headers["content-security-policy"]
                assert re.fullmatch(
                    r"image/(jpeg|png|gif|webp)|application/octet-stream", answer.headers["content-type"]
                )
                assert (kind == "file") is answer.headers.get("content-disposition", "").startswith("attachment")
    return items, findings


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_that_is_not_what_it_says_is_refused(sent, name, studio, tmp_path):
    before = set(tmp_path.iterdir())
    data, words = ARCHIVES[name]
    found = sent(name, data)
    assert found["state"] == "failed"
    assert any(each in found["detail"] for each in ([words] if isinstance(words, str) else words)), found["detail"]
    assert set(tmp_path.iterdir()) == before
    assert not any(path.is_file() for path in studio.place.images.rglob("*"))


def test_each_image_that_cannot_be_decoded_is_a_finding(sent, browser):
    wrong = {f"0_{name}": data for name, data in UNREADABLE_IMAGES.items()}
    found = sent("mixed.zip", zipped([*wrong.items(), ("1.png", image())]))
    assert found["state"] == "ready", found["detail"]
    items, findings = looked_at(browser, found["id"])
    names = {each["ordinal"]: each["name"] for each in items}
    assert {each["name"] for each in items if each["height"] == 0} == set(wrong), findings
    assert set(names.values()) == {*wrong, "1.png"}
    kinds = {names[each["ordinal"]]: each["kind"] for each in findings if each["severity"] == "error"}
    assert set(kinds) == set(wrong)
    assert set(kinds.values()) <= UNREADABLE, kinds


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_only_odd_is_accepted_whole(sent, browser, name):
    data, n = ACCEPTED[name]
    found = sent(name, data)
    assert (found["state"], found["n_image"]) == ("ready", n), found["detail"]
    items, _ = looked_at(browser, found["id"])
    assert all(each["height"] > 0 for each in items)


@pytest.mark.parametrize("name", ANNOTATIONS)
def test_hostile_annotations_are_read_or_refused_in_words(sent, browser, studio, name):
    data, words = ANNOTATIONS[name]
    found = sent("annotated.zip", data)
    if found["state"] == "failed":
        assert words != "ready"
    assert words in found["detail"] or words == "ready"
    assert "Error:" not in found["detail"], found["detail"]  # of Python
    assert "root:" not in str(looked_at(browser, found["id"]))
    assert browser.get("/api/v1/datasets").status_code == 200


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        (ANNOTATIONS["surrogate class"][0], "text-encoding", 'categories[0]: "a?" is not valid Unicode'),
        (ANNOTATIONS["surrogate extra"][0], "text-encoding", "? stands in its annotations for what was not UTF-8"),
        (
            tarred([("cats\udcff/a.png", image(), {}), ("dogs/b.png", image(seed=1), {})]),
            "text-encoding",
            "the class 'cats\\udcff' is cats? in the data set",
        ),
        (
            tarred([("cats/a\udcff.png", image(), {}), ("dogs/b.png", image(seed=1), {})]),
            "name-encoding",
            "the name 'cats/a\\udcff.png' is cats/a?.png in the data set",
        ),
    ],
)
def test_an_import_says_what_it_replaced(sent, browser, data, kind, words):
    found = sent("replaced.zip" if data.startswith(b"PK") else "replaced.tar", data)
    assert found["state"] == "ready", found["detail"]
    findings = browser.get(f"/api/v1/datasets/{found['id']}/findings").json()["items"]
    (told,) = [each for each in findings if each["kind"] == kind]
    assert (told["message"].endswith(words), told["state"]) == (True, "open")
    assert (told["ordinal"] is None) == ("class" in words or "categories" in words)


def test_a_question_mark_of_ones_own_is_no_finding(sent, browser):
    made_of = made.coco(annotations=made.box(note="why?"), categories=[{"id": 1, "name": "what?"}])
    found = sent("asked.zip", made_of)
    findings = browser.get(f"/api/v1/datasets/{found['id']}/findings").json()["items"]
    assert [each["kind"] for each in findings if each["kind"].endswith("encoding")] == []


@pytest.mark.parametrize(("method", "path", "headers", "body", "statuses"), REQUESTS, ids=range(len(REQUESTS)))
def test_a_hostile_request_has_one_harmless_answer(browser, studio, monkeypatch, method, path, headers, body, statuses):
    from cvzoo.studio.jobs import recipe_helper

    monkeypatch.setattr(recipe_helper, "_ask", lambda question: {"recipes": []})
    recipe_helper._listing.cache_clear()
    monkeypatch.setattr(studio.models.zoo, "members", list)
    encoded = {name: value.encode("latin-1") for name, value in headers.items()}
    answer = browser.request(method, path, headers=encoded, content=body)
    recipe_helper._listing.cache_clear()
    assert answer.status_code in statuses, answer.text[:300]
    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "Traceback" not in answer.text
    assert studio.jobs.all() == []


def test_no_address_is_fetched(browser, studio, work, monkeypatch):
    met = []
    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, lambda *words: met.append(words))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *words, **_: met.append(words) or [])
    monkeypatch.setattr(studio.models.zoo, "members", list)
    model = next(each.id for each in studio.runs.records())
    specs = {address[:100]: address for address in ADDRESSES}
    for i, address in enumerate(ADDRESSES):
        statuses = {
            browser.post(f"/api/v1/models/{model}/predictions", json={"images": address}).status_code,
            browser.post(f"/api/v1/models/{model}/exports", json={"form": "int8", "images": [address]}).status_code,
        }
        assert statuses == {422}, address
        of_layout = (f"coco:{address}", f"voc:{address}", f"coco:/nothing,photos={address}")[i % 3]
        specs[of_layout[:100]] = of_layout
    for name, spec in specs.items():
        answer = browser.post("/api/v1/datasets", json={"name": name, "source": {"spec": spec}})
        work(studio)
        assert browser.get(f"/api/v1/datasets/{answer.json()['id']}").json()["state"] == "failed", spec
    assert met == []
    assert studio.jobs.all() == []


def test_a_bomb_is_refused_before_it_fills_the_disk(sent, monkeypatch):
    from cvzoo.datasets import extract

    monkeypatch.setattr(extract, "SMALL", 1 << 20)
    found = sent("bomb.zip", zipped([("a.png", bytes(20 << 20))]))
    assert "the unpacked files are too large" in found["detail"]
    found = sent("bomb.tgz", made.gzipped(tarred([("a.png", bytes(20 << 20), {})])))
    assert "the unpacked files are too large" in found["detail"]


def test_too_many_files_are_refused(sent, monkeypatch):
    from cvzoo.studio.worker import import_data

    monkeypatch.setattr(import_data, "MAX_FILES", 50)
    found = sent("many.zip", zipped([(f"{i}.png", b"") for i in range(60)]))
    assert "too many files" in found["detail"]


def test_annotations_that_name_files_outside_read_none(sent, browser, tmp_path):
    (tmp_path / "secret.png").write_bytes(image(seed=5))
    coco = (
        '{"images": [{"id": 1, "file_name": "a.png"}, {"id": 2, "file_name": "%s"},'
        '{"id": 3, "file_name": "../../x.png"}],'
        '"annotations": [], "categories": []}' % (tmp_path / "secret.png")
    )
    found = sent("outside.zip", zipped([("annotations/instances_all.json", coco), ("images/a.png", image())]))
    assert (found["state"], found["n_image"]) == ("ready", 1)
    kinds = {each["kind"] for each in browser.get(f"/api/v1/datasets/{found['id']}/findings").json()["items"]}
    assert "name-unsafe" in kinds


def test_a_folder_whose_name_is_an_option_is_no_option(sent, browser, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.png").write_bytes(image())
    name = f"x,photos={tmp_path}/elsewhere".replace("/", "_")
    found = sent("option.zip", zipped([(f"{name}/a.png", image(seed=1))]))
    assert (found["state"], found["n_image"]) == ("ready", 1)


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
