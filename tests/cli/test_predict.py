"""`cvzoo predict`, used well and badly."""

import contextlib
import importlib
import io
import json
import pathlib
import signal
import subprocess
import sys
import time
import types

import cv2
import numpy as np
import pytest
from PIL import Image

from cvzoo.errors.exceptions import ConfigError, ShapeError
from cvzoo.images import VideoReader, VideoWriter
from cvzoo.links.model.darknet.detector import DarknetDetector


def records(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


def test_a_photo_gives_a_table_a_picture_and_json(run, net, photos, tmp_path):
    out = tmp_path / "out"
    status, printed, _ = run("predict", photos / "a.jpg", *net, "--out", out, "--score-thresh", "0.1")
    assert status == 0
    assert "label" in printed
    assert "y_min" in printed
    record = json.loads((out / "a.json").read_text())
    assert (record["height"], record["width"]) == (40, 60)
    assert record["objects"]
    assert set(record["objects"][0]) == {"label", "name", "score", "y_min", "x_min", "y_max", "x_max"}
    assert {each["name"] for each in record["objects"]} <= {"cat", "dog"}
    with Image.open(out / "a.jpg") as picture:
        assert picture.size == (60, 40)
    assert records(out / "results.jsonl") == [record]


def test_folders_globs_and_lists_are_photos(run, net, photos, tmp_path, monkeypatch):
    for words in ([photos], [f"{photos}/*"], [photos / "a.jpg", photos / "zwei Bäume.png"]):
        status, _, _ = run("predict", *words, *net, "--quiet", "--json-lines", tmp_path / "all.jsonl")
        assert status == 0
        assert [pathlib.Path(each["photo"]).name for each in records(tmp_path / "all.jsonl")] == [
            "a.jpg",
            "zwei Bäume.png",
        ]
    listed = f"\n{photos / 'a.jpg'}\r\n   \n{photos / 'zwei Bäume.png'}".encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(listed)))
    status, _, _ = run("predict", "-", *net, "--quiet", "--json-lines", tmp_path / "list.jsonl")
    assert status == 0
    assert len(records(tmp_path / "list.jsonl")) == 2


def test_a_bad_photo_is_told_and_skipped_and_the_exit_status_says_so(run, net, photos, tmp_path):
    (photos / "b.jpg").write_text("this is no image")
    (photos / "c.png").write_bytes((photos / "zwei Bäume.png").read_bytes()[:200])
    out = tmp_path / "out"
    status, printed, errors = run("predict", photos, photos / "gone.jpg", *net, "--out", out, "--batch-size", 3)
    assert status == 1
    assert "a.jpg" in printed
    assert "zwei Bäume.png" in printed
    for name in ("b.jpg", "c.png", "gone.jpg"):
        assert name in errors
    assert "3 could not be used" in errors
    assert len(records(out / "results.jsonl")) == 2


def test_a_photo_may_be_at_an_address(run, net, photos, tmp_path, monkeypatch):
    asked = []

    def answer(url, *, headers, timeout):
        asked.append(url)
        status = types.SimpleNamespace(status=200, headers={}, read1=io.BytesIO((photos / "a.jpg").read_bytes()).read1)
        return contextlib.nullcontext(status)

    monkeypatch.setattr(importlib.import_module("cvzoo.images.read_image_url"), "http_get", answer)
    url = "https://example.org/pets/a.jpg?w=60"
    status, printed, _ = run("predict", url, *net, "--out", tmp_path / "out", "--score-thresh", "0")
    assert (status, asked) == (0, [url])
    assert url in printed
    assert json.loads((tmp_path / "out" / "a.json").read_bytes())["photo"] == url
    assert (tmp_path / "out" / "a.jpg").is_file()


@pytest.fixture
def movie(tmp_path):
    """A video of five frames, ten a second."""
    with VideoWriter(tmp_path / "movie.avi", frame_rate=10) as video:
        for k in range(5):
            video.write(np.full((3, 48, 64), 50.0 * k, np.float32))
    return video.path


def test_a_video_gives_a_video_of_its_rate_and_a_line_for_each_frame(run, net, movie, tmp_path):
    out = tmp_path / "out"
    status, printed, errors = run("predict", movie, *net, "--out", out, "--batch-size", 2, "--score-thresh", "0.1")
    assert status == 0, errors
    assert "5 of 5 frames" in errors
    assert "movie.avi#4  0:00  " in printed
    assert sorted(path.name for path in out.iterdir()) == ["movie.mp4", "results.jsonl"]
    with VideoReader(out / "movie.mp4") as video:
        assert video.frame_rate == pytest.approx(10)
        frames = [each.img for each in video.frames()]
    assert [frame.shape for frame in frames] == [(3, 48, 64)] * 5
    found = records(out / "results.jsonl")
    assert [each["photo"] for each in found] == [f"{movie}#{k}" for k in range(5)]
    assert [each["frame"] for each in found] == list(range(5))
    assert [each["time"] for each in found] == pytest.approx([0, 0.1, 0.2, 0.3, 0.4])
    assert {each["picture"] for each in found} == {"movie.mp4"}


@pytest.mark.parametrize(
    ("words", "numbers", "rate"),
    [
        (("--frame-step", 2), [0, 2, 4], 5),
        (("--frames", "1:4"), [1, 2, 3], 10),
        (("--frames", "1::3"), [1, 4], 10 / 3),
    ],
)
def test_a_part_of_a_video_takes_as_long_as_there(run, net, movie, tmp_path, words, numbers, rate):
    out = tmp_path / "out"
    assert run("predict", movie, *net, "--out", out, *words)[0] == 0
    assert [each["frame"] for each in records(out / "results.jsonl")] == numbers
    with VideoReader(out / "movie.mp4") as video:
        assert video.frame_rate == pytest.approx(rate, rel=1e-3)
        assert len(list(video.frames())) == len(numbers)


def test_frames_of_a_video_may_be_images_of_their_own(run, net, movie, tmp_path):
    out = tmp_path / "out"
    assert run("predict", movie, *net, "--out", out, "--frame-step", 2, "--save-frames")[0] == 0
    names = ["movie_000000", "movie_000002", "movie_000004"]
    assert sorted(path.stem for path in out.glob("*.json")) == names
    assert sorted(path.stem for path in out.glob("*.jpg")) == names


def test_a_truncated_video_ends_early_and_is_told(run, net, movie, tmp_path, monkeypatch):
    monkeypatch.setattr(VideoReader, "__init__", stated_as(VideoReader.__init__, 100))
    out = tmp_path / "out"
    status, _, errors = run("predict", movie, *net, "--out", out)
    assert status == 1
    assert "ends after 5 of 100 frames: the file is truncated" in errors
    assert "5 of 100 frames, " in errors  # the end is no frame
    assert len(records(out / "results.jsonl")) == 5
    assert (out / "movie.mp4").is_file()


def stated_as(init, n_frame):
    def changed(self, source):
        init(self, source)
        self.n_frame = n_frame

    return changed


def test_frames_that_are_not_there_and_options_that_contradict(run, net, movie, tmp_path):
    status, _, errors = run("predict", movie, *net, "--frames", "7:")
    assert status == 1
    assert "has 5 frames, none of them in --frames 7::1" in errors
    status, _, errors = run("predict", movie, *net, "--frames", "1:2", "--frame-step", 2)
    assert status == 2
    assert "--frames A:B:STEP" in errors
    for wrong in ("3", "1:2:0", "-1:", "a:b", "1:2:3:4"):
        assert "expected frames A:B" in run("predict", movie, *net, f"--frames={wrong}")[2]
    assert "3:2 has no frame" in run("predict", movie, *net, "--frames", "3:2")[2]


def test_a_video_is_never_replaced_by_its_copy(run, net, movie):
    before = movie.read_bytes()
    status, _, errors = run("predict", movie, *net, "--out", movie.parent)
    assert status == 2
    assert "would replace" in errors
    assert movie.read_bytes() == before


def test_a_video_at_an_address_is_downloaded_first(run, net, movie, tmp_path, monkeypatch):
    def answer(url, *, headers, timeout):
        return contextlib.nullcontext(
            types.SimpleNamespace(status=200, headers={}, read1=io.BytesIO(movie.read_bytes()).read1)
        )

    monkeypatch.setattr(importlib.import_module("cvzoo.images.read_image_url"), "http_get", answer)
    url = "https://example.org/clips/dogs.avi?w=60"
    status, _, errors = run("predict", url, *net, "--out", tmp_path / "out", "--frames", ":2")
    assert status == 0, errors
    assert [each["photo"] for each in records(tmp_path / "out" / "results.jsonl")] == [f"{url}#0", f"{url}#1"]
    assert (tmp_path / "out" / "dogs.mp4").is_file()
    assert f"fetching {url}" in errors
    status, printed, errors = run("predict", url, *net, "--frames", ":2", "--quiet")
    assert (status, printed, errors) == (0, "", "")


def stop_in_call(n, number, monkeypatch):
    """The process gets the signal in the n-th call of the detector's predict."""
    predict, calls = DarknetDetector.predict, []

    def stopped(self, imgs, *, batch_size):
        calls.append(len(imgs))
        if len(calls) == n:
            signal.raise_signal(number)
        return predict(self, imgs, batch_size=batch_size)

    monkeypatch.setattr(DarknetDetector, "predict", stopped)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_a_video_is_complete_up_to_there(run, net, movie, tmp_path, monkeypatch, number, status):
    stop_in_call(4, number, monkeypatch)
    out = tmp_path / "out"
    ended, _, errors = run("predict", movie, *net, "--out", out)
    assert ended == status
    assert "interrupted after 3 frames" in errors
    assert len(records(out / "results.jsonl")) == 3
    with VideoReader(out / "movie.mp4") as video:
        assert len(list(video.frames())) == 3
    assert sorted(path.name for path in out.iterdir()) == ["movie.mp4", "results.jsonl"]


def test_without_the_codec_another_video_is_written_and_told(run, net, movie, tmp_path, monkeypatch):
    fourcc = cv2.VideoWriter.fourcc
    monkeypatch.setattr(
        cv2.VideoWriter, "fourcc", lambda *letters: 0x12345678 if letters[0] == "m" else fourcc(*letters)
    )
    out = tmp_path / "out"
    status, _, errors = run("predict", movie, *net, "--out", out)
    assert status == 0
    assert "with the codec mp4v" in errors
    assert "movie.avi instead" in errors
    with VideoReader(out / "movie.avi") as video:
        assert len(list(video.frames())) == 5


class Camera:
    """Stands in for OpenCV's capture of a camera, which gives a frame each half second; `now` is the time."""

    now = 0.0

    def __init__(self, source):
        self.left = 3

    def isOpened(self):
        return True

    def get(self, number):
        return 10.0

    def grab(self):
        self.left -= 1
        Camera.now += 0.5
        return self.left >= 0

    def retrieve(self):
        return True, np.full((48, 64, 3), 90, np.uint8)

    def release(self):
        pass


def test_the_video_of_a_slowly_predicted_camera_is_in_real_time(run, net, tmp_path, monkeypatch):
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(cv2, "VideoCapture", Camera)
        patch.setattr(time, "monotonic", lambda: Camera.now)
        assert run("predict", "camera:0", *net, "--out", out, "--quiet")[0] == 0
    assert len(records(out / "results.jsonl")) == 3
    with VideoReader(out / "camera_0.mp4") as video:
        assert len(list(video.frames())) == 11  # 0 .. 1 s at 10 a second


def test_a_video_and_a_camera_that_are_not_there_are_named(run, net):
    status, _, errors = run("predict", "movie.mp4", "/dev/video99", *net)
    assert status == 1
    assert "movie.mp4: No such file" in errors
    assert "/dev/video99: cannot be opened as a camera" in errors


def test_equal_names_from_different_folders_do_not_replace_each_other(run, net, photos, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.jpg").write_bytes((photos / "a.jpg").read_bytes())
    out = tmp_path / "out"
    assert run("predict", photos / "a.jpg", other / "a.jpg", *net, "--out", out)[0] == 0
    assert len(list(out.glob("*.json"))) == 2
    assert len(list(out.glob("*.jpg"))) == 2


def test_photos_are_never_replaced_by_their_pictures(run, net, photos):
    before = (photos / "a.jpg").read_bytes()
    status, _, errors = run("predict", photos / "a.jpg", *net, "--out", photos)
    assert status == 2
    assert "would replace" in errors
    assert (photos / "a.jpg").read_bytes() == before


def test_json_lines_go_to_standard_output(capfdbinary, net, photos):
    from cvzoo.cli.main import main

    assert main(["predict", str(photos / "a.jpg"), *net, "--json-lines", "-"]) == 0
    assert json.loads(capfdbinary.readouterr().out)["height"] == 40


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda net: net[2:], "no model was given"),  # no --cfg
        (lambda net: net[:2], "--weights"),  # a cfg alone
        (lambda net: [*net[:3], "gone.weights", *net[4:]], "gone.weights"),
        (lambda net: [*net, "--model", "yolo_fastest"], "--cfg"),  # two models at once
        (lambda net: ["--model", "no_such_model"], "no_such_model"),
        (lambda net: [*net, "--device", "gpu:99"], "GPU"),
        (lambda net: [*net, "--dtype", "float8"], "float8"),
        (lambda net: [*net, "--score-thresh", "7"], "between 0 and 1"),
        (lambda net: [*net, "--batch-size", "0"], "positive"),
    ],
)
def test_options_that_make_no_sense_end_with_2_and_words(run, net, photos, change, message):
    status, _, errors = run("predict", photos, *change(net))
    assert status == 2
    assert message in errors


def test_files_of_another_network_are_named(run, net, photos):
    weights = pathlib.Path(net[3])
    weights.write_bytes(weights.read_bytes()[:-8])
    status, _, errors = run("predict", photos, *net)
    assert status == 2
    assert "tiny.weights" in errors
    assert "Traceback" not in errors


def test_names_of_another_number_of_classes_are_refused(run, net, photos):
    pathlib.Path(net[5]).write_text("only\n")
    status, _, errors = run("predict", photos, *net)
    assert status == 2
    assert "class" in errors


def test_a_folder_without_photos_and_a_place_that_cannot_be_written(run, net, photos, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    status, _, errors = run("predict", empty, *net)
    assert status == 1
    assert "no images in this folder" in errors
    (tmp_path / "file").write_text("")
    status, _, errors = run("predict", photos, *net, "--out", tmp_path / "file" / "out")
    assert status == 2
    assert "file" in errors


def test_interrupted_the_finished_files_are_whole(run, net, photos, tmp_path, monkeypatch):
    many = tmp_path / "many"
    many.mkdir()
    for i in range(6):
        (many / f"{i}.jpg").write_bytes((photos / "a.jpg").read_bytes())
    stop_in_call(4, signal.SIGINT, monkeypatch)
    out = tmp_path / "out"
    status, _, errors = run("predict", many, *net, "--out", out)
    assert status == 130
    assert "interrupted after 3 images" in errors
    done = records(out / "results.jsonl")
    assert len(done) == 3
    for record in done:
        with Image.open(out / record["picture"]) as picture:
            picture.load()
    assert sorted(path.name for path in out.iterdir()) == [
        *(f"{i}.{ending}" for i in range(3) for ending in ("jpg", "json")),
        "results.jsonl",
    ]


@pytest.mark.slow
def test_memory_stays_flat_over_a_thousand_photos(run, net, photos, tmp_path):
    import tracemalloc

    listed = tmp_path / "many"
    listed.mkdir()
    photo = (photos / "a.jpg").read_bytes()
    peaks = {50: [], 1000: []}
    for count in (50, 1000, 1000):  # twice: what is imported or made ready once, on the way, is no growth
        for i in range(count):
            (listed / f"{i:04}.jpg").write_bytes(photo)
        tracemalloc.start()
        status, _, _ = run("predict", listed, *net, "--quiet", "--json-lines", tmp_path / "all.jsonl")
        peaks[count].append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert status == 0
    # the list of paths may grow (1 kB each in Python 3.13), 28 MB of images as arrays may not
    assert min(peaks[1000]) - peaks[50][0] < 3_000_000


def test_a_setting_that_stops_every_photo_is_said_once(run, net, photos, monkeypatch):
    def cannot(*args, **settings):
        raise ConfigError("CVZOO_NUM_THREADS must be a positive number", got="'abc'")

    monkeypatch.setattr(DarknetDetector, "forward", cannot)
    status, _, errors = run("predict", photos / "a.jpg", photos / "a.jpg", *net)
    assert status == 2
    assert errors.count("CVZOO_NUM_THREADS") == 1


def test_a_list_may_be_empty_or_name_what_cannot_be_a_path(run, net, monkeypatch):
    for listed, message in ((b"\n", "is empty"), (b"zero\0byte.jpg\n", "zero")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(listed)))
        status, printed, errors = run("predict", "-", *net)
        assert (status, printed) == (1, "")
        assert message in errors


def test_photos_of_a_list_are_not_replaced_either(run, net, photos, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{photos / 'a.jpg'}\n".encode())))
    before = (photos / "a.jpg").read_bytes()
    assert run("predict", "-", *net, "--out", photos)[0] == 2
    assert (photos / "a.jpg").read_bytes() == before
    assert run("predict", photos / "a.jpg", *net, "--out", photos, "--no-draw")[0] == 0
    assert json.loads((photos / "a.json").read_text())["picture"] is None


def test_a_file_is_no_place_for_results(run, net, photos, tmp_path):
    (tmp_path / "file").write_text("mine")
    status, _, errors = run("predict", photos, *net, "--out", tmp_path / "file")
    assert status == 2
    assert "is a file" in errors
    assert (tmp_path / "file").read_text() == "mine"


def test_a_photo_that_the_model_refuses_does_not_take_its_batch_along(run, net, photos, tmp_path, monkeypatch):
    predict = DarknetDetector.predict

    def refuse_narrow(self, imgs, *, batch_size):
        if any(img.shape[2] == 20 for img in imgs):
            raise ShapeError("too narrow")
        return predict(self, imgs, batch_size=batch_size)

    monkeypatch.setattr(DarknetDetector, "predict", refuse_narrow)
    status, _, errors = run("predict", photos, *net, "--batch-size", "2", "--json-lines", tmp_path / "all.jsonl")
    assert status == 1
    assert "zwei Bäume.png: too narrow" in errors
    assert [pathlib.Path(each["photo"]).name for each in records(tmp_path / "all.jsonl")] == ["a.jpg"]


def test_a_reader_that_goes_away_ends_it_without_a_traceback(net, photos):
    command = [sys.executable, "-m", "cvzoo", "predict", str(photos), *net]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 141
    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors


def test_the_dog_the_bicycle_and_the_vehicle_are_found(run, shared, tmp_path):
    net = shared / "weights" / "yolo_fastest_coco"
    files = ("--cfg", net / "yolo-fastest-1.1.cfg", "--weights", net / "yolo-fastest-1.1.weights")
    photo = shared / "data" / "photos" / "dog.jpg"
    status, printed, _ = run("predict", photo, *files, "--names", net / "coco.names", "--out", tmp_path / "out")
    assert status == 0
    found = {each["name"] for each in json.loads((tmp_path / "out" / "dog.json").read_text())["objects"]}
    assert {"dog", "bicycle"} <= found
    assert found & {"car", "truck"}
    assert all(name in printed for name in found)
    with Image.open(photo) as before, Image.open(tmp_path / "out" / "dog.jpg") as after:
        assert after.size == before.size
        assert after.tobytes() != before.tobytes()


def test_a_compiled_network_finds_the_same(run, net, photos, tmp_path):
    for name, words in (("plain", ()), ("compiled", ("--compile",))):
        words = (*words, "--score-thresh", "0.1", "--quiet", "--json-lines", tmp_path / name)
        status, _, _ = run("predict", photos, photos, *net, *words)  # sizes come back, so that they are replayed
        assert status == 0
    plain, compiled = records(tmp_path / "plain"), records(tmp_path / "compiled")
    assert len(plain) == 4
    for one, other in zip(plain, compiled, strict=True):
        assert [each["name"] for each in one["objects"]] == [each["name"] for each in other["objects"]]
        for a, b in zip(one["objects"], other["objects"]):
            assert [a[key] for key in ("y_min", "x_min", "score")] == pytest.approx(
                [b[key] for key in ("y_min", "x_min", "score")], rel=1e-3, abs=1e-3
            )


@pytest.mark.parametrize("dtype", ["tf32", "mixed_bf16", "mixed_fp16"])
def test_it_computes_in_fewer_bits(run, net, photos, tmp_path, dtype):
    pytest.importorskip("ml_dtypes")
    found = []
    for asked in ("float32", dtype):
        out = tmp_path / asked
        words = ("--quiet", "--score-thresh", "0.05", "--nms-thresh", "1", "--dtype", asked)
        assert run("predict", photos / "a.jpg", *net, *words, "--json-lines", out)[0] == 0
        found.append(records(out)[0]["objects"])
    best = [max(each, key=lambda one: one["score"]) for each in found]
    assert best[0]["score"] == pytest.approx(best[1]["score"], abs=0.01)
    assert (found[0] == found[1]) == (dtype == "tf32")


def test_the_environment_names_a_dtype(run, net, photos, monkeypatch):
    monkeypatch.setenv("CVZOO_DTYPE", "float7")
    status, _, errors = run("predict", photos, *net)
    assert status == 2
    assert "mixed_bf16" in errors


def test_tiles_and_views_are_merged_to_one_result_an_image(run, net, photos, tmp_path):
    for options in (["--tile", "32"], ["--tile", "32", "--tile-overlap", "0.5"], ["--tta"]):
        out = tmp_path / "-".join(options)
        status, _, err = run("predict", photos / "a.jpg", *net, "--out", out, "--score-thresh", "0.1", *options)
        assert (status, err) == (0, "")
        (record,) = records(out / "results.jsonl")
        assert record["objects"]
        assert (out / "a.jpg").exists()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--tile", "32", "--tta"], "--tile and --tta cannot be combined"),
        (["--tile-overlap", "0.5"], "--tile-overlap needs --tile"),
        (["--tile", "1"], "1 pixels are too few for a tile"),
        (["--tile", "32", "--tile-overlap", "1"], "the overlap of tiles must be in [0, 0.9]"),
    ],
)
def test_options_of_tiles_that_make_no_sense_are_refused(run, net, photos, options, text):
    status, _, err = run("predict", photos / "a.jpg", *net, *options)
    assert status == 2
    assert text in err
