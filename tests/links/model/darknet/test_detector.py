"""DarknetDetector's own rules: names, sizes, stretching or letterbox, numbers that are no numbers."""

import numpy as np
import pytest

from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import FileFormatError, UnsupportedError, ValueRangeError, WeightsError
from cvzoo.geometry.clip_bbox import clip_bbox
from cvzoo.links.model.darknet.detector import DarknetDetector, fetch_detector
from cvzoo.links.model.darknet.weights import MOBILENET_V2_YOLO_V3_NANO_VOC, YOLO_FASTEST_COCO
from cvzoo.links.model.families import zoo_members
from cvzoo.serializers.model_file import load_model, save_model
from cvzoo.weights.cache import cached_path

HEAD = "[convolutional]\nfilters=14\nsize=1\nactivation=linear\n[yolo]\nanchors=9,12,30,20\nclasses=2\nnum=2\n"
CFG = (
    "[net]\nwidth=32\nheight=32\nchannels=3\n[convolutional]\nfilters=4\nsize=3\nstride=8\npad=1\nactivation=relu\n"
    + HEAD
)


@pytest.fixture
def img():
    return np.random.default_rng(0).integers(0, 256, (3, 40, 60)).astype(np.float32)


def test_names_come_from_a_file_or_a_list(tmp_path):
    path = tmp_path / "a.names"
    path.write_text("cat\n dog \n\n")
    assert DarknetDetector(CFG, label_names=path).label_names == ("cat", "dog")
    assert DarknetDetector(CFG, label_names=str(path)).label_names == ("cat", "dog")
    assert DarknetDetector(CFG, label_names=["cat", "dog"]).label_names == ("cat", "dog")
    assert DarknetDetector(CFG).label_names is None


def test_names_that_do_not_fit_are_refused(tmp_path):
    path = tmp_path / "a.names"
    path.write_text("cat\n")
    with pytest.raises(ValueRangeError, match=r"a\.names.*classes"):
        DarknetDetector(CFG, label_names=path)
    with pytest.raises(ValueRangeError, match="classes"):
        DarknetDetector(CFG, label_names=("a", "b", "c"))
    with pytest.raises(FileNotFoundError):
        DarknetDetector(CFG, label_names=tmp_path / "b.names")
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileFormatError, match="UTF-8"):
        DarknetDetector(CFG, label_names=path)


def test_a_classifier_and_a_grey_network_are_no_detectors():
    with pytest.raises(UnsupportedError, match="detects nothing"):
        DarknetDetector(CFG[: CFG.index("[yolo]")])
    with pytest.raises(UnsupportedError, match="colour"):
        DarknetDetector(CFG.replace("channels=3", "channels=1"))


def test_heads_that_differ_in_classes_are_refused():
    other = HEAD.replace("classes=2", "classes=3").replace("filters=14", "filters=16")
    with pytest.raises(FileFormatError, match="differ in classes"):
        DarknetDetector(CFG + other)


def test_absent_files_are_named(tmp_path):
    with pytest.raises(WeightsError, match=r"no\.cfg"):
        DarknetDetector(tmp_path / "no.cfg")
    with pytest.raises(WeightsError, match=r"no\.weights"):
        DarknetDetector(CFG, tmp_path / "no.weights")


def test_boxes_are_cut_at_the_edges_where_that_is_asked_for_and_files_keep_it(tmp_path):
    img = np.random.default_rng(0).integers(0, 256, (3, 40, 60)).astype(np.float32)
    model = DarknetDetector(CFG, clip=True)
    save_model(tmp_path / "cut.safetensors", model)
    cut = load_model(tmp_path / "cut.safetensors")
    assert (cut.clip, DarknetDetector(CFG).clip) == (True, False)
    cut.score_thresh = model.score_thresh = 0
    model.clip = False
    (inside,), _, _ = cut.predict([img])
    (anywhere,), _, _ = model.predict([img])
    assert (anywhere != clip_bbox(anywhere, (40, 60))).any()
    np.testing.assert_array_equal(inside, clip_bbox(anywhere, (40, 60)))


def test_resize_is_chosen_by_the_argument_then_by_the_cfg_then_stretch():
    letterboxed = CFG.replace("channels=3", "channels=3\nletter_box=1")
    assert DarknetDetector(CFG).resize == "stretch"
    assert DarknetDetector(letterboxed).resize == "letterbox"
    assert DarknetDetector(letterboxed, resize="stretch").resize == "stretch"
    with pytest.raises(ValueRangeError, match="resize"):
        DarknetDetector(CFG, resize="crop")


def test_another_input_size_gives_another_grid(img):
    detector = DarknetDetector(CFG, size=(64, 96))
    assert detector.prepare(img).shape == (3, 64, 96)
    (head,) = detector.forward(detector.prepare(img)[None])
    assert head.shape == (1, 14, 8, 12)


def test_thresholds_and_limit_are_obeyed(img):
    set_seed(0)
    detector = DarknetDetector(CFG)
    detector.score_thresh = 0.2
    (bbox,), _, (score,) = detector.predict([img])
    assert len(bbox) > 5
    detector.limit = 3
    (few,), _, (best,) = detector.predict([img])
    np.testing.assert_array_equal(best, score[:3])
    np.testing.assert_array_equal(few, bbox[:3])
    detector.limit, detector.nms_thresh = None, 1.0
    (more,), _, _ = detector.predict([img])
    assert len(more) > len(bbox)


def test_nan_weights_find_nothing_and_do_not_crash(img):
    detector = DarknetDetector(CFG)
    detector.score_thresh = 0
    for parameter in detector.params():
        parameter.array[...] = np.nan
    bboxes, labels, scores = detector.predict([img])
    assert len(bboxes[0]) == len(labels[0]) == len(scores[0]) == 0


def test_the_zoo_lists_real_objects_with_their_records():
    members = zoo_members()
    names = [member.name for member in members]
    assert names == sorted(set(names))
    assert {"yolo_fastest", "yolo_v3_coco"} <= set(names)
    for member in members:
        assert callable(member.make)
        assert member.weights in member.files or not member.files, "what is not fetched ships"
    for files in (YOLO_FASTEST_COCO, MOBILENET_V2_YOLO_V3_NANO_VOC):
        for record in files:
            assert len(record.url.split("/")[5]) == 40, "an address at a full commit"


def test_records_of_the_zoo_are_those_of_the_real_files(shared, tmp_path, monkeypatch):
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    monkeypatch.setenv("CVZOO_OFFLINE", "1")
    for folder, files in {
        "yolo_fastest_coco": YOLO_FASTEST_COCO,
        "mobilenetv2_yolov3_nano_voc": MOBILENET_V2_YOLO_V3_NANO_VOC,
    }.items():
        for record in files:
            path = cached_path(record)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((shared / "weights" / folder / record.file_name).read_bytes())
        detector = fetch_detector(files)  # verifies size and hash of each
        assert len(detector.label_names) == detector.n_fg_class
        _, labels, _ = detector.predict([shared / "data" / "photos" / "dog.jpg"])
        assert "dog" in [detector.label_names[label] for label in labels[0]]
