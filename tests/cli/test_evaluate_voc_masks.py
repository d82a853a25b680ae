"""`cvzoo evaluate` and `compare` of instance masks in VOC's folders and in SBD."""

import json
import shutil

import mat_writer
import numpy as np
import pytest
from PIL import Image

from cvzoo.config.randomness import set_seed
from cvzoo.datasets.voc.segmentation_datasets import VOCInstanceSegmentationDataset
from cvzoo.evaluations.voc.eval_instance_segmentation_voc import eval_instance_segmentation_voc
from cvzoo.geometry.rle import RLEs
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskHeadSettings, MaskRCNNFPN
from cvzoo.serializers.model_file import save_model

STEMS = ("2007_000033", "2007_000042", "2008_000008")


@pytest.fixture
def voc(tmp_path):
    """A folder in VOC's layout with three images, a cat and a dog in each."""
    root = tmp_path / "VOC2012"
    rng = np.random.default_rng(0)
    for stem in STEMS:
        classes, objects = np.zeros((2, 40, 60), np.uint8)
        for number, (label, y, x) in enumerate(zip((8, 12), rng.integers(2, 18, 2), (3, 32)), 1):
            classes[y : y + 18, x : x + 22], objects[y : y + 18, x : x + 22] = label, number
        classes[0], objects[0] = 255, 255
        for folder, array in (
            ("SegmentationClass", classes),
            ("SegmentationObject", objects),
            ("JPEGImages", rng.integers(0, 256, (40, 60, 3), "uint8")),
        ):
            (root / folder).mkdir(parents=True, exist_ok=True)
            ending = "jpg" if folder == "JPEGImages" else "png"
            Image.fromarray(array).save(root / folder / f"{stem}.{ending}")
    (root / "ImageSets" / "Segmentation").mkdir(parents=True)
    (root / "ImageSets" / "Segmentation" / "val.txt").write_text("\n".join(STEMS) + "\n")
    return root


def results(voc, path, shift):
    """COCO's results: the objects of the folder, moved by some pixels. Returns them as arrays of each image."""
    records, arrays = [], []
    for mask, label, stem in zip(*masks_of(voc), STEMS):
        moved = np.roll(mask, shift, axis=2)
        scores = np.linspace(0.9, 0.5, len(label))
        arrays.append((moved, label, scores))
        for rle, l, score in zip(RLEs.from_masks(moved).to_coco(), label, scores):
            one = {"image_id": int(stem.replace("_", "")), "category_id": int(l) + 1, "score": score}
            records.append(one | {"segmentation": rle})
    path.write_text(json.dumps(records))
    return arrays


def masks_of(voc):
    dataset = VOCInstanceSegmentationDataset(voc, "val")
    return list(zip(*((mask, label) for _, mask, label in dataset)))


@pytest.mark.parametrize("iou_thresh", [0.5, 0.7])
def test_results_get_vocs_map_of_masks(run, voc, tmp_path, iou_thresh):
    masks, labels, scores = zip(*results(voc, tmp_path / "r.json", 4))
    words = (
        "--gt",
        f"voc:{voc}",
        "--iou-type",
        "segm",
        "--results",
        tmp_path / "r.json",
        "--json",
        tmp_path / "o.json",
    )
    status, _, err = run("evaluate", *words, "--iou-thresh", iou_thresh)
    assert status == 0, err
    record = json.loads((tmp_path / "o.json").read_text())
    expected = eval_instance_segmentation_voc(masks, labels, scores, *masks_of(voc), iou_thresh)
    assert record["map"] == pytest.approx(expected["map"])
    assert record["counts"] == {"images": 3, "objects": 6, "detections": 6, "classes": 20}
    assert [row["n_objects"] for row in record["per_class"] if row["n_objects"]] == [3, 3]
    assert run("evaluate", *words, "--metric", "coco")[0] == 0
    assert 0 < json.loads((tmp_path / "o.json").read_text())["AP"] < 1


def test_a_folder_of_your_own_has_its_lists_classes_and_label_maps(run, voc, tmp_path):
    results(voc, tmp_path / "found.json", 0)
    lists = voc / "ImageSets/Segmentation"
    (lists / "val.txt").rename(lists / "mine.txt")
    (voc / "classes.txt").write_text("".join(f"kind {k}\n" for k in range(14)))
    words = ("evaluate", "--gt", f"voc:{voc}", "--json", tmp_path / "o.json")
    of_maps = (*words, "--metric", "miou", "--results", voc / "SegmentationClass")
    status, _, err = run(*of_maps)
    assert status == 2
    assert "val.txt does not exist" in err
    assert "a list of this data set: mine" in err
    assert run(*of_maps, "--split", "mine")[0] == 0
    record = json.loads((tmp_path / "o.json").read_text())
    assert record["miou"] == 1
    assert [row["name"] for row in record["per_class"]][:2] == ["background", "kind 0"]
    of_masks = ("--iou-type", "segm", "--results", tmp_path / "found.json", "--split", "mine")
    status, _, err = run(*words, *of_masks)
    assert status == 0, err
    assert json.loads((tmp_path / "o.json").read_text())["counts"]["classes"] == 14
    assert json.loads((tmp_path / "o.json").read_text())["map"] == 1


@pytest.mark.parametrize("metric", ["voc", "coco"])
def test_a_model_and_what_it_saved_have_the_same_scores(run, voc, tmp_path, metric):
    set_seed(0)
    tiny = FasterRCNNFPNSettings(
        n_layer=10, base_channels=8, channels=16, head_width=32, min_size=64, max_size=96, n_proposal=20
    )
    head = MaskHeadSettings(depth=1, channels=8, roi_size=7)
    model = MaskRCNNFPN(label_names=voc_bbox_label_names, settings=tiny, mask_settings=head)
    save_model(tmp_path / "m.safetensors", model)
    words = ("--data", f"voc:{voc}", "--iou-type", "segm", "--metric", metric, "--json", tmp_path / "o.json")
    given = ("--model", tmp_path / "m.safetensors", "--score-thresh", 0.01, "--save-results", tmp_path / "found.json")
    status, _, err = run("evaluate", *words, *given, "--report", tmp_path / "r.html")
    assert status == 0, err
    scores = json.loads((tmp_path / "o.json").read_text())
    assert scores["counts"]["detections"] > 0
    assert run("evaluate", *words, "--results", tmp_path / "found.json")[0] == 0
    again = json.loads((tmp_path / "o.json").read_text())
    assert (again["per_class"], again["counts"]) == (scores["per_class"], scores["counts"])


def sbd(voc, root, train=()):
    """The images and masks of the folder in SBD's layout, whose masks are MATLAB's. train: their train_noval.txt"""
    root = root / "benchmark_RELEASE/dataset"
    for folder, images, variable in (("inst", "SegmentationObject", "GTinst"), ("cls", "SegmentationClass", "GTcls")):
        (root / folder).mkdir(parents=True)
        for stem in STEMS:
            pixels = np.asarray(Image.open(voc / images / f"{stem}.png"))
            pixels = np.where(pixels == 255, 0, pixels).astype(np.uint8)
            (root / folder / f"{stem}.mat").write_bytes(mat_writer.mat({variable: {"Segmentation": pixels}}, True))
    shutil.copytree(voc / "JPEGImages", root / "img")
    for name, stems in (("train", STEMS[:1]), ("val", STEMS[1:]), ("train_noval", train)):
        (root / f"{name}.txt").write_text("".join(f"{stem}\n" for stem in stems))


def test_sbds_files_get_the_scores_of_vocs_with_the_same_masks(run, voc, tmp_path):
    sbd(voc, tmp_path)
    results(voc, tmp_path / "r.json", 4)
    found = []
    for words in ((f"voc:{voc}", "--iou-type", "segm"), (f"sbd:{tmp_path}",)):
        status, _, err = run(
            "evaluate", "--gt", *words, "--results", tmp_path / "r.json", "--json", tmp_path / "o.json"
        )
        assert status == 0, err
        found.append(json.loads((tmp_path / "o.json").read_text()))
    assert found[0]["map"] == found[1]["map"] > 0
    assert found[0]["per_class"] == found[1]["per_class"]


TINY = (
    "epochs=1", "batch_size=2", "model.n_layer=10", "model.base_channels=8", "model.channels=16", "model.head_width=16",
    "model.n_proposal=20", "model.min_size=64", "model.max_size=96", "head.depth=1", "head.channels=8", "regions=8",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:the .* set has no labels of")
@pytest.mark.parametrize("kind", ["sbd", "voc"])
def test_masks_in_label_maps_are_trained_on_by_name(run, voc, tmp_path, kind):
    sbd(voc, tmp_path, STEMS[:2])
    (voc / "ImageSets/Segmentation/train.txt").write_text("\n".join(STEMS[:2]))
    data = f"sbd:{tmp_path}" if kind == "sbd" else f"voc:{voc}"
    words = ("--recipe", "mask_rcnn_fpn_resnet18_small", "--pretrained", "none", "--data", data, *TINY)
    status, out, err = run("train", *words, "--out", tmp_path / "run")
    assert status == 0, err
    assert f"2 images to train on, {1 if kind == 'sbd' else 3} to validate on" in out
    model = tmp_path / "run/best.safetensors"
    status, out, err = run("evaluate", "--model", model, "--data", data, "--iou-type", "segm")
    assert status == 0, err


def test_damaged_masks_are_found_before_training(run, voc, tmp_path):
    sbd(voc, tmp_path, STEMS[:2])
    (tmp_path / f"benchmark_RELEASE/dataset/inst/{STEMS[1]}.mat").write_bytes(b"no MATLAB file")
    words = ("--recipe", "mask_rcnn_fpn_resnet18_small", "--pretrained", "none", "--data", f"sbd:{tmp_path}", *TINY)
    status, _, err = run("train", *words, "--out", tmp_path / "run")
    assert status == 2
    assert f"{STEMS[1]}.mat" in err.splitlines()[0]
    assert not (tmp_path / "run").exists()


def test_masks_are_compared(run, voc, tmp_path):
    for name, shift in (("a", 9), ("b", 1)):
        results(voc, tmp_path / f"{name}.json", shift)
    words = ("--gt", f"voc:{voc}", "--iou-type", "segm", "--json", tmp_path / "o.json", "--resamples", 20)
    for metric, key in (("voc", "map"), ("coco", "AP")):
        status, _, err = run("compare", tmp_path / "a.json", tmp_path / "b.json", *words, "--metric", metric)
        assert status == 0, err
        score = json.loads((tmp_path / "o.json").read_text())["scores"][0]
        assert score["name"] == key
        for side in ("a", "b"):
            given = (*words[:4], "--results", tmp_path / f"{side}.json", "--metric", metric)
            assert run("evaluate", *given, "--json", tmp_path / "one.json")[0] == 0
            assert score[side]["value"] == pytest.approx(json.loads((tmp_path / "one.json").read_text())[key])


def test_what_does_not_apply_to_masks_is_said(run, voc, tmp_path):
    (tmp_path / "boxes.json").write_text(
        json.dumps([{"image_id": 2007000033, "category_id": 1, "score": 0.5, "bbox": [1, 1, 5, 5]}])
    )
    results(voc, tmp_path / "r.json", 4)
    text = (tmp_path / "r.json").read_text()
    (tmp_path / "other.json").write_text(text.replace("2007000033", "7"))
    (tmp_path / "nan.json").write_text(text.replace('"score": 0.9', '"score": NaN', 1))
    truth = ("--gt", f"voc:{voc}", "--iou-type", "segm")
    for words, says in (
        ((*truth, "--results", tmp_path / "boxes.json"), "segmentation"),
        ((*truth, "--results", tmp_path / "other.json"), "image_id"),
        ((*truth, "--results", tmp_path / "nan.json"), "score is invalid"),
        ((*truth, "--results", tmp_path / "r.json", "--plus", 1), "--plus does not apply"),
        (
            (*truth, "--results", tmp_path / "r.json", "--metric", "coco", "--iou-thresh", 0.7),
            "applies to VOC's metric",
        ),
        ((*truth, "--results", tmp_path / "r.json", "--split", "moon"), "a list of this data set: val"),
        (("--gt", "sbd:", "--results", tmp_path / "r.json"), "the folder of the data set is missing"),
        (("--gt", f"sbd:{tmp_path}", "--results", tmp_path / "r.json"), "train_noval.txt does not exist"),
    ):
        status, out, err = run("evaluate", *words)
        assert (status, out) == (2, ""), words
        assert says in err, err
