"""Predictions are written as data sets that cvzoo's own readers read."""

import json
import pathlib
import re

import numpy as np
import pytest
from PIL import Image

from cvzoo.cli.photo_sources import Frame, Video
from cvzoo.cli.predicted_set import PredictedSet
from cvzoo.cli.presentation import Predicted
from cvzoo.datasets.coco.json_datasets import COCOJSONKeypointDataset
from cvzoo.datasets.doctor.examine_dataset import examine_dataset
from cvzoo.datasets.layouts.data_spec import parse_data_spec
from cvzoo.datasets.layouts.read import read_annotated_set
from cvzoo.errors import ConfigError
from cvzoo.evaluations import read_class_results
from cvzoo.evaluations.results.csv_results import read_csv_results
from cvzoo.geometry import polygons_to_rle
from cvzoo.geometry.rle import RLEs
from cvzoo.images import read_label
from cvzoo.links import ResNet18
from cvzoo.links.chain import Chain
from cvzoo.links.model.classifications import Classifications
from cvzoo.links.model.detections import Detections
from cvzoo.links.model.instance_segmentations import InstanceSegmentations
from cvzoo.links.model.keypoint_detections import KeypointDetections
from cvzoo.links.model.label_maps import LabelMaps
from cvzoo.links.model.segnet.segnet_basic import SegNetBasic

NAMES = ("ape", "bee")
BBOX = np.float32([[2, 3, 20, 30.5], [-4, 30, 12, 70], [50, 70, 60, 80]])  # the last one is outside of the image
LABEL, SCORE = np.int32([1, 0, 0]), np.float32([0.9, 0.7, 0.6])
LAYOUTS = ("coco", "voc", "yolo", "labelme")
SIZE = 40, 60


def masks():
    dense = np.zeros((3, *SIZE), bool)
    dense[0, 2:20, 3:31] = True
    dense[0, 5:9, 10:14] = False  # a hole
    dense[1, 0:12, 30:60], dense[1, 20:30, 40:50] = True, True  # two parts
    return dense


def boxes():
    return Detections([BBOX], [LABEL], [SCORE], label_names=NAMES)


def instances():
    return InstanceSegmentations([RLEs.from_masks(masks())], [LABEL], [SCORE], bboxes=[BBOX], label_names=NAMES)


def keypoints():
    point = np.float32([[[4, 5], [6, 7.25]]] * 3)
    more = {"bboxes": [BBOX], "point_scores": [np.ones((3, 2))], "point_names": ("left", "right")}
    return KeypointDetections([point], [LABEL], [SCORE], label_names=NAMES, **more)


@pytest.fixture
def photo(tmp_path):
    path = tmp_path / "photos" / "a.jpg"
    path.parent.mkdir()
    Image.fromarray(np.random.default_rng(1).integers(0, 256, (*SIZE, 3), "uint8")).save(path)
    return path


def written(found, kind, photo, out, model=None):
    out.mkdir(exist_ok=True)
    collected = PredictedSet(Chain() if model is None else model, out, kind)
    img = np.zeros((3, *SIZE), np.float32)
    collected.add(Predicted(photo, img, found, 0))
    collected.add(Predicted(Frame(Video("movie.mp4"), 7, img), img, found, 0))
    lines = collected.write()
    assert sorted(path.name for path in out.iterdir()) == [collected.target.name]
    return collected, lines


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("make", [boxes, instances, keypoints])
def test_objects_are_read_back(make, kind, photo, tmp_path):
    collected, lines = written(make(), kind, photo, tmp_path / "out")
    annotated = read_annotated_set(parse_data_spec(collected.spec))
    assert annotated.findings == ()
    assert annotated.used_names() == NAMES
    assert "2 images, 4 objects" in lines[0]
    first, second = annotated.images
    assert first.path.read_bytes() == photo.read_bytes()
    assert second.path.name == "movie_000007.jpg"
    assert {image.size for image in annotated.images} == {SIZE}
    for image in annotated.images:
        assert [each.name for each in image.objects] == ["bee", "ape"]
        outline = make is instances and kind in ("yolo", "labelme")
        found = [each.bbox for each in image.objects]
        want = [(2, 3, 20, 30.5), (0, 30, 12, 59 if kind == "voc" else 60)]
        if outline:
            want = [(2.25, 3.25, 19.75, 30.75), (0.25, 30.25, 29.75, 59.75)]
        np.testing.assert_allclose(found, want, atol=1e-3)


@pytest.mark.parametrize("kind", LAYOUTS)
def test_the_data_check_finds_no_fault(kind, photo, tmp_path):
    collected, _ = written(boxes(), kind, photo, tmp_path / "out")
    checkup = examine_dataset(parse_data_spec(collected.spec))
    assert [str(each) for each in checkup.findings if each.severity.name == "ERROR"] == []


def test_coco_has_masks_areas_and_scores(photo, tmp_path):
    collected, _ = written(instances(), "coco", photo, tmp_path / "out")
    file = json.loads((collected.target / "annotations" / "instances_all.json").read_text())
    assert [each["name"] for each in file["categories"]] == list(NAMES)
    rles = RLEs.from_coco([each["segmentation"] for each in file["annotations"][:2]])
    np.testing.assert_array_equal(rles.to_masks(), masks()[:2])
    assert [each["area"] for each in file["annotations"][:2]] == masks()[:2].sum((1, 2)).tolist()
    assert [each["score"] for each in file["annotations"][:2]] == pytest.approx([0.9, 0.7])


@pytest.mark.parametrize("kind", ["yolo", "labelme"])
def test_polygons_cover_the_masks_with_holes_filled(kind, photo, tmp_path):
    collected, _ = written(instances(), kind, photo, tmp_path / "out")
    image = read_annotated_set(parse_data_spec(collected.spec)).images[0]
    filled = masks()[:2]
    filled[0, 5:9, 10:14] = True
    for each, want in zip(image.objects, filled):
        found = polygons_to_rle([[np.array(polygon) for polygon in each.polygons]], SIZE).to_masks()[0]
        assert (found & want).sum() / (found | want).sum() > 0.97


def test_keypoints_keep_their_names(photo, tmp_path):
    collected, _ = written(keypoints(), "coco", photo, tmp_path / "out")
    file = collected.target / "annotations" / "instances_all.json"
    assert json.loads(file.read_text())["categories"][0]["keypoints"] == ["left", "right"]
    dataset = COCOJSONKeypointDataset(file)
    np.testing.assert_allclose(dataset[0][1][0], [[4, 5], [6, 7.25]])
    collected, _ = written(keypoints(), "labelme", photo, tmp_path / "other")
    image = read_annotated_set(parse_data_spec(collected.spec)).images[0]
    assert image.objects[0].points == (5, 4, 2, 7.25, 6, 2)


def test_what_a_layout_lacks_is_told(photo, tmp_path):
    collected, lines = written(instances(), "voc", photo, tmp_path / "1")
    assert not any("cannot represent" in line for line in lines)
    found = np.asarray(Image.open(next((collected.target / "SegmentationObject").iterdir())))
    np.testing.assert_array_equal(found > 0, masks()[:2].any(0))
    lines = written(keypoints(), "yolo", photo, tmp_path / "2")[1]
    assert any("yolo cannot represent keypoints: 4" in line for line in lines)
    assert len(written(instances(), "coco", photo, tmp_path / "3")[1]) == 1


def test_csv_has_every_box_as_it_was_predicted(photo, tmp_path):
    collected, _ = written(boxes(), "csv", photo, tmp_path / "out")
    records = read_csv_results(collected.target)
    assert records.image == [str(photo)] * 3 + ["movie.mp4#7"] * 3
    assert records.label[:3] == ["bee", "ape", "ape"]
    np.testing.assert_array_equal(records.bbox[:3], BBOX)
    np.testing.assert_array_equal(records.score[:3], SCORE)


def test_label_maps_are_vocs_pictures_or_masks_of_classes(photo, tmp_path):
    label = np.zeros(SIZE, np.int32)
    label[5:10, 5:20], label[30:, 30:] = 1, -1
    maps = LabelMaps([label], label_names=NAMES)
    collected, _ = written(maps, "voc", photo, tmp_path / "1")
    stored = read_label(collected.target / "SegmentationClass" / "a.png")
    np.testing.assert_array_equal(stored, np.where(label < 0, 255, label))
    assert (collected.target / "ImageSets/Segmentation/predicted.txt").read_text() == "a\nmovie_000007\n"
    collected, _ = written(maps, "coco", photo, tmp_path / "2")
    file = json.loads((collected.target / "annotations" / "instances_all.json").read_text())
    np.testing.assert_array_equal(
        RLEs.from_coco([each["segmentation"] for each in file["annotations"][:2]]).to_masks(), [label == 0, label == 1]
    )
    collected, _ = written(maps, "labelme", photo, tmp_path / "3")
    assert [each.name for each in read_annotated_set(parse_data_spec(collected.spec)).images[0].objects] == list(NAMES)


def test_classes_are_a_table(photo, tmp_path):
    found = Classifications(np.float32([[0.25, 0.75]]), label_names=NAMES)
    collected, _ = written(found, "csv", photo, tmp_path / "out")
    records = read_class_results(collected.target)
    assert records.label == ["ape", "bee"] * 2
    assert records.score.tolist() == [0.25, 0.75] * 2


def test_on_the_command_line(run, net, photos, tmp_path):
    out = tmp_path / "out"
    words = ("predict", photos, *net, "--score-thresh", "0.1", "--no-draw", "--out", out)
    status, _, errors = run(*words, "--save-format", "yolo")
    assert status == 0, errors
    assert re.search(r"out/yolo: 2 images, \d+ objects; cvzoo data check yolo:", errors)
    printed = run("data", "check", f"yolo:{out / 'yolo'}")[1]
    assert "error" not in printed, printed
    status, _, errors = run(*words, "--save-format", "yolo")
    assert status == 2
    assert "yolo already exists" in errors
    status, _, errors = run("predict", photos, *net, "--save-format", "coco")
    assert status == 2
    assert "--out DIR" in errors
    assert "invalid choice" in run(*words, "--save-format", "coc")[2]


def test_out_may_be_in_the_folder_of_the_images(run, net, photos):
    assert run("predict", photos, *net, "--out", photos / "found", "--save-format", "coco")[0] == 0
    assert (photos / "found/coco/annotations/instances_all.json").is_file()


def test_without_an_image_nothing_is_written(run, net, tmp_path):
    out = tmp_path / "out"
    assert run("predict", tmp_path / "gone.jpg", *net, "--out", out, "--save-format", "coco")[0] == 1
    assert list(pathlib.Path(out).iterdir()) == []


def test_formats_of_other_tasks_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="classes of whole images"):
        PredictedSet(ResNet18(n_class=2), tmp_path, "coco")
    with pytest.raises(ConfigError, match="label maps"):
        PredictedSet(SegNetBasic(n_class=2), tmp_path, "csv")
