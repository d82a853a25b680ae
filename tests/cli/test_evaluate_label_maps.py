"""`cvzoo evaluate` of label maps."""

import json

import numpy as np
import pytest
from PIL import Image

from cvzoo.labels.cityscapes import cityscapes_semantic_segmentation_label_names
from cvzoo.links.model.segnet.segnet_basic import SegNetBasic
from cvzoo.serializers.model_file import save_model

GT = np.array([[0, 0, 1, 1], [0, 0, 1, 255], [2, 2, 2, 255]], np.uint8)
FOUND = np.array([[0, 0, 1, 1], [1, 1, 1, 7], [2, 2, 2, 7]], np.uint8)


def save(path, label):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(label).save(path)


@pytest.fixture
def folders(tmp_path):
    """gt and found, each with town/a.png and b.png; b is right everywhere."""
    for name, label in (("town/a", GT), ("b", GT)):
        save(tmp_path / "gt" / f"{name}.png", label)
    save(tmp_path / "found" / "town" / "a.png", FOUND)
    save(tmp_path / "found" / "b.png", np.where(GT == 255, 1, GT).astype(np.uint8))
    return ("--gt", f"labels:{tmp_path / 'gt'}", "--results", tmp_path / "found")


def test_maps_get_iou_by_class_and_a_report(run, folders, tmp_path):
    (tmp_path / "names").write_text("sky\n\nroad\ncar\nnothing\n")
    words = ("--names", tmp_path / "names", "--json", tmp_path / "o.json", "--report", tmp_path / "r.html")
    status, out, err = run("evaluate", *folders, *words)
    assert status == 0, err
    assert "2 of 2 images" in err
    record = json.loads((tmp_path / "o.json").read_text())
    assert [(row["name"], row["n_pixels"], row["iou"]) for row in record["per_class"]] == [
        ("sky", 8, pytest.approx(6 / 8)),
        ("road", 6, pytest.approx(6 / 8)),
        ("car", 6, 1.0),
        ("nothing", 0, None),
    ]
    assert record["miou"] == pytest.approx((0.75 + 0.75 + 1) / 3)
    assert record["pixel_accuracy"] == pytest.approx(18 / 20)
    assert [each["photo"] for each in record["analysis"]["worst_photos"]] == ["town/a"]
    assert "nothing" in out
    page = (tmp_path / "r.html").read_text()
    assert page.count("data:image/jpeg;base64,") == 1
    assert "http" not in page.replace("http-equiv", "")
    assert json.loads(run("evaluate", *folders, *words[:2], "--json", "-", "--quiet")[1]) == record


def test_other_numbers_may_be_left_out(run, folders, tmp_path):
    words = ("--ignore", "255,1", "--json", tmp_path / "o.json")
    assert run("evaluate", *folders, *words)[0] == 0
    record = json.loads((tmp_path / "o.json").read_text())
    assert [row["n_pixels"] for row in record["per_class"]] == [8, 0, 6]
    assert run("evaluate", *folders, *words, "--limit", 1)[0] == 0
    assert json.loads((tmp_path / "o.json").read_text())["pixel_accuracy"] == 1.0


@pytest.fixture
def segmenter(tmp_path):
    """The file of a network that names pixels, and a folder of images with the names of the true maps."""
    model = SegNetBasic(label_names=("sky", "road", "car"), channels=2)
    save_model(tmp_path / "net.safetensors", model)
    rng = np.random.default_rng(0)
    for name in ("town/a", "b", "more"):
        save(tmp_path / "photos" / f"{name}.png", rng.integers(0, 256, (3, 4, 3)).astype(np.uint8))
    return model, tmp_path / "net.safetensors", tmp_path / "photos"


def test_a_segmenter_is_scored_on_photos(run, folders, segmenter, tmp_path):
    model, file, photos = segmenter
    words = ("--data", folders[1], "--images", photos, "--json", tmp_path / "o.json", "--report", tmp_path / "r.html")
    status, out, err = run("evaluate", "--model", file, *words)
    assert status == 0, err
    record = json.loads((tmp_path / "o.json").read_text())
    found = model.predict([photos / "b.png", photos / "town/a.png"])
    right = sum(int(((each == GT) & (GT != 255)).sum()) for each in found)
    assert record["pixel_accuracy"] == pytest.approx(right / 20)
    assert [row["name"] for row in record["per_class"]] == ["sky", "road", "car"]
    assert record["counts"]["images"] == 2
    assert "1 more images were ignored" in out


def test_a_model_that_gives_no_maps_is_refused(run, folders, segmenter, net):
    _, file, photos = segmenter
    for words, says in (
        (("--model", file, "--data", folders[1]), "--images DIR"),
        (("--model", file, "--gt", folders[1], "--photos", photos), "a model needs images"),
        ((*net, "--data", folders[1], "--photos", photos), "is not a semantic segmentation network"),
        (("--model", file, "--data", folders[1], "--photos", photos / "town"), "no image for 2 of 2 label maps"),
    ):
        status, out, err = run("evaluate", *words)
        assert (status, out) == (2, ""), words
        assert says in err, err


def test_what_cannot_be_scored_is_said(run, folders, empty, tmp_path):
    (tmp_path / "names").write_text("sky\nroad\n")
    for words, says in (
        (
            (*folders, "--names", tmp_path / "names"),
            "b cannot be evaluated: pred_labels of image 0",
        ),
        ((*folders, "--iou-type", "segm"), "--iou-type does not apply"),
        ((*folders[:2], "--results", tmp_path / "absent"), "is not a folder"),
        ((*folders[:2], "--results", empty), "no label map for 2 of 2 images, first b"),
        (("--gt", f"labels:{empty}", *folders[2:]), "no label maps"),
        (("--data", *folders[1:]), "--gt labels:DIR --results DIR"),
        ((*folders, "--photos", empty), "--gt labels:DIR --results DIR"),
    ):
        status, out, err = run("evaluate", *words)
        assert (status, out) == (2, ""), words
        assert says in err


@pytest.fixture
def empty(tmp_path):
    """An empty folder."""
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


def test_maps_of_another_size_and_second_maps_of_a_name_are_named(run, folders, tmp_path):
    save(tmp_path / "found" / "b.png", GT[:2])
    status, _, err = run("evaluate", *folders)
    assert status == 2
    assert "b cannot be evaluated: " in err
    assert "differ in size" in err
    save(tmp_path / "found" / "b.gif", GT)
    status, _, err = run("evaluate", *folders)
    assert status == 2
    assert "another label map" in err
    assert run("evaluate", "--gt", "x.json", "--results", "y.json", "--ignore", "3")[0] == 2


def camvid(root):
    save(root / "val" / "a.png", np.zeros((3, 4, 3), np.uint8))
    save(root / "valannot" / "a.png", np.where(GT == 255, 11, GT).astype(np.uint8))
    (root / "val.txt").write_text("/SegNet/CamVid/val/a.png /SegNet/CamVid/valannot/a.png\n")


def cityscapes(root):
    save(root / "leftImg8bit" / "val" / "town" / "town_0_1_leftImg8bit.png", np.zeros((3, 4, 3), np.uint8))
    ids = np.array([7, 8, 11], np.uint8)[np.minimum(GT, 2)]  # road, sidewalk, building
    save(
        root / "gtFine" / "val" / "town" / "town_0_1_gtFine_labelIds.png", np.where(GT == 255, 4, ids).astype(np.uint8)
    )


def ade20k(root):
    folder = root / "ADEChallengeData2016"
    save(folder / "images" / "validation" / "a.jpg", np.zeros((3, 4, 3), np.uint8))
    save(folder / "annotations" / "validation" / "a.png", np.where(GT == 255, 0, GT + 1).astype(np.uint8))


def voc(root):
    folder = root / "VOC2012"
    save(folder / "JPEGImages" / "a.jpg", np.zeros((3, 4, 3), np.uint8))
    save(folder / "SegmentationClass" / "a.png", GT)
    (folder / "ImageSets" / "Segmentation").mkdir(parents=True)
    (folder / "ImageSets" / "Segmentation" / "val.txt").write_text("a\n")


def folder(root):
    save(root / "images" / "val" / "a.png", np.zeros((3, 4, 3), np.uint8))
    save(root / "labels" / "val" / "a.png", GT)
    (root / "classes.txt").write_text("sky\nroad\ncar\npole\n")


@pytest.mark.parametrize("make", [camvid, cityscapes, ade20k, voc, folder])
def test_a_public_data_set_is_known_by_name_and_saved_maps_get_the_models_scores(run, tmp_path, make):
    make(tmp_path)
    spec = f"voc:{tmp_path / 'VOC2012'}" if make is voc else f"{make.__name__}:{tmp_path}"
    metric = ("--metric", "miou") if make is voc else ()
    names = {
        camvid: "Sky Building Pole",
        cityscapes: "road sidewalk building",
        ade20k: "wall building sky",
        folder: "sky road car",
    }
    own = names.get(make, "background aeroplane bicycle").split()
    model = SegNetBasic(label_names=(own[1], "dragon", own[2]), channels=2)  # in another order, and one of its own
    save_model(tmp_path / "net.safetensors", model)
    words = ("--model", tmp_path / "net.safetensors", "--data", spec, "--save-results", tmp_path / "maps")
    status, _, err = run("evaluate", *words, *metric, "--json", tmp_path / "model.json")
    assert status == 0, err
    assert (
        run("evaluate", "--gt", spec, "--results", tmp_path / "maps", *metric, "--json", tmp_path / "maps.json")[0] == 0
    )
    record = json.loads((tmp_path / "model.json").read_text())
    assert record == json.loads((tmp_path / "maps.json").read_text())
    img = np.zeros((3, 3, 4), np.float32)
    found = np.array([1, -1, 2])[model.predict([img])[0]]
    assert record["pixel_accuracy"] == pytest.approx(((found == GT) & (GT != 255)).sum() / 10)
    assert [row["n_pixels"] for row in record["per_class"]][:4] == [4, 3, 3, 0]
    unknown = ((found < 0) & (GT != 255)).sum()
    (note,) = record["notes"] or [f"{unknown} pixel"]
    assert note.startswith(f"{unknown} pixel")


def test_pixels_of_no_class_are_misses_and_no_class_of_their_own(run, tmp_path):
    cityscapes(tmp_path)
    found = np.array([[7, 7, 8, 8], [7, 0, 8, 0], [11, 11, 40, 0]], np.uint8)  # 0: unlabeled; 40 is no id
    save(tmp_path / "maps" / "town_0_1_submission.png", found)
    words = ("--gt", f"cityscapes:{tmp_path}", "--results", tmp_path / "maps", "--json", tmp_path / "o.json")
    assert run("evaluate", *words)[0] == 0
    record = json.loads((tmp_path / "o.json").read_text())
    names = cityscapes_semantic_segmentation_label_names
    iou = {row["name"]: row["iou"] for row in record["per_class"]}
    assert [iou[name] for name in names[:4]] == [3 / 4, 1.0, 2 / 3, None]
    assert record["miou"] == pytest.approx((3 / 4 + 1 + 2 / 3) / 3)
    assert record["notes"] == ["2 pixels are predicted as none of the classes, which is wrong"]
    assert record["analysis"]["confusion"]["names"][-1] == "none of them"


def test_specifications_of_label_maps_are_checked(run, folders, tmp_path, segmenter):
    camvid(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    _, file, photos = segmenter
    named = ("--gt", f"camvid:{tmp_path}", "--results", tmp_path / "found")
    model = ("--model", file, "--data", f"camvid:{tmp_path}")
    for words, says in (
        (("--gt", "camvid:", *named[2:]), "the folder of the data set is missing"),
        ((*named, "--split", "moon"), "split"),
        ((*named, "--names", tmp_path / "n"), "whose classes are known"),
        ((*folders, "--split", "val"), "--split does not apply"),
        ((*folders, "--metric", "voc"), "--metric voc does not apply"),
        ((*model, "--photos", photos), "whose images are known"),
        ((*model, "--save-results", tmp_path / "full"), "exists"),
        (("--gt", f"coco:{file}", "--results", file, "--metric", "miou"), "applies to label maps"),
    ):
        status, out, err = run("evaluate", *words)
        assert (status, out) == (2, ""), words
        assert says in err, err


def test_verdicts_have_the_iou_of_each_image(run, folders, tmp_path):
    assert run("evaluate", *folders, "--verdicts", tmp_path / "v.jsonl")[0] == 0
    (row,) = map(json.loads, (tmp_path / "v.jsonl").read_text().splitlines())
    assert (row["image"], row["path"]) == ("town/a", None)
    assert 0 < row["miou"] < 1
