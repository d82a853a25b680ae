"""The evaluation listing of Tokui et al., KDD 2019: it runs as it stands but for the imports and the folder."""

import numpy as np
import pytest

from cvzoo.datasets import COCOJSONBboxDataset, VOCBboxDataset, voc_bbox_label_names
from cvzoo.evaluations import DetectionCOCOEvaluator, DetectionVOCEvaluator
from cvzoo.images import write_image
from cvzoo.iterators import ProgressHook, SerialIterator
from cvzoo.links import DarknetDetector

OBJECT = """<object><name>{}</name><difficult>{}</difficult><bndbox>
<ymin>{}</ymin><xmin>{}</xmin><ymax>{}</ymax><xmax>{}</xmax></bndbox></object>"""
# photo -> objects: class, difficult, corners as the files count them, from 1
SCENES = {
    "000001": [("dog", 0, 11, 21, 40, 60), ("person", 0, 5, 5, 30, 30)],
    "000002": [("dog", 0, 1, 1, 20, 20), ("dog", 1, 30, 30, 50, 50)],
    "000003": [("cat", 0, 10, 10, 30, 40)],
}


@pytest.fixture
def voc(tmp_path):
    """A folder in VOC 2007's layout with three photos; photo n is evenly of the grey value n."""
    root = tmp_path / "VOCdevkit" / "VOC2007"
    for folder in ("Annotations", "ImageSets/Main", "JPEGImages"):
        (root / folder).mkdir(parents=True)
    for number, (name, objects) in enumerate(SCENES.items()):
        write_image(np.full((3, 60, 80), 20 * number, np.float32), root / "JPEGImages" / f"{name}.jpg")
        body = "".join(OBJECT.format(*each) for each in objects)
        (root / "Annotations" / f"{name}.xml").write_text(f"<annotation>{body}</annotation>")
    (root / "ImageSets" / "Main" / "test.txt").write_text("\n".join(SCENES) + "\n")
    return tmp_path


class Model:
    """Knows the photos by their grey: finds both objects of the first, a wrong one on the second, nothing else."""

    def predict(self, imgs):
        dog, person = voc_bbox_label_names.index("dog"), voc_bbox_label_names.index("person")
        found = {
            0: ([[10, 20, 39, 59], [4, 4, 29, 29]], [dog, person], [0.9, 0.8]),
            1: ([[30, 60, 50, 79]], [dog], [0.95]),
            2: ([], [], []),
        }
        rows = [found[round(float(img.mean()) / 20)] for img in imgs]
        return (
            [np.array(bbox, np.float32).reshape(-1, 4) for bbox, _, _ in rows],
            [np.array(label, np.int32) for _, label, _ in rows],
            [np.array(score, np.float32) for _, _, score in rows],
        )


def test_the_listing_runs(voc):
    model, data_dir = Model(), voc
    # --- the listing; `data_dir` stands for the folder that is fetched otherwise
    dataset = VOCBboxDataset(data_dir, year="2007", split="test")
    it = SerialIterator(dataset, batch_size=2, repeat=False, shuffle=False)
    evaluator = DetectionVOCEvaluator(it, model, label_names=voc_bbox_label_names)
    result = evaluator()
    # ---
    assert result["main/ap/person"] == 1.0
    assert result["main/ap/cat"] == 0.0
    assert result["main/ap/dog"] == pytest.approx(0.25)  # one of two dogs, behind a wrong one: precision 1/2
    assert result["main/map"] == pytest.approx((1 + 0 + 0.25) / 3)
    assert np.isnan(result["main/ap/sheep"])
    assert len(result) == 21
    assert evaluator() == pytest.approx(result, nan_ok=True)  # the iterator starts anew


def test_progress_tells_how_many_examples_are_done(voc, capsys):
    dataset = VOCBboxDataset(voc, year="2007", split="test", use_difficult=True, return_difficult=True)
    it = SerialIterator(dataset, batch_size=2, repeat=False, shuffle=False)
    DetectionVOCEvaluator(it, Model(), hook=ProgressHook(len(dataset)))()
    assert "3 of 3 examples" in capsys.readouterr().err


def test_a_real_model_on_real_photos_has_its_published_ap(shared):
    folder = shared / "weights" / "yolo_fastest_coco"
    model = DarknetDetector(
        folder / "yolo-fastest-1.1.cfg", folder / "yolo-fastest-1.1.weights", label_names=folder / "coco.names"
    )
    dataset = COCOJSONBboxDataset(
        shared / "data" / "tiny_coco" / "annotations" / "instances_train2017.json",
        use_crowded=True,
        return_area=True,
        return_crowded=True,
    )
    it = SerialIterator(dataset, batch_size=8, repeat=False, shuffle=False)
    with model.using_preset("evaluate"):
        result = DetectionCOCOEvaluator(it, model, label_names=dataset.label_names)()
    assert result["main/map/iou=0.50:0.95/area=all/max_dets=100"] == pytest.approx(0.1259, abs=0.002)
    assert result["main/map/iou=0.50/area=all/max_dets=100"] == pytest.approx(0.2678, abs=0.002)
