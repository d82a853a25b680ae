"""COCO's files, written image by image."""

import json
import pathlib

import pytest

from cvzoo.datasets.layouts import write_coco as module
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, AnnotatedSet
from cvzoo.datasets.layouts.write_coco import coco_files, write_coco


def annotated_set(splits):
    def image(i):
        boxes = [(0.1 * j, 0.25, 5.0 + j, 7.3) for j in range(i % 3)]
        given = [{"id": 7} if j else {"id": "x", "text": "hé\ud800"} for j in range(len(boxes))]
        objects = [AnnotatedObject(j, "dog", box, extra=extra) for j, (box, extra) in enumerate(zip(boxes, given))]
        objects.append(AnnotatedObject(9, None, (0.0, 0.0, 1.0, 1.0), extra={"id": 99}))
        here = tuple(split for k, split in enumerate(splits) if i % (k + 2) == 0)
        return AnnotatedImage(f"{i}.jpg", None, None, (30, 40), here, tuple(objects), {"id": 3} if i % 4 else {})

    extra = {"info": {"year": 2026}, "categories": [{"id": 4, "name": "dog", "supercategory": "é"}]}
    images = tuple(map(image, range(20)))
    return AnnotatedSet("coco", pathlib.Path(), images, ("dog", "cat"), (4,), splits, extra=extra)


@pytest.mark.parametrize("splits", [(), ("train", "val"), ("train", "none")])
@pytest.mark.parametrize("n_letter", [10, 1 << 20])
def test_what_is_written_image_by_image_is_what_is_made_at_once(tmp_path, monkeypatch, splits, n_letter):
    monkeypatch.setattr(module, "_AT_ONCE", n_letter)
    annotated = annotated_set(splits)
    names = {image.name: f"new/{image.name}" for image in annotated.images}
    write_coco(annotated, tmp_path, names)
    written = {path.name: path.read_bytes() for path in (tmp_path / "annotations").iterdir()}
    assert written == {
        f"instances_{split}.json": json.dumps(tree, ensure_ascii=False).encode("utf-8", "replace")
        for split, tree in coco_files(annotated, names).items()
    }
    assert len(written) == max(len(splits) + 1, 1)


def test_new_ids_are_larger_than_all_that_are_given():
    annotated = annotated_set(())
    tree = coco_files(annotated, {image.name: image.name for image in annotated.images})["all"]
    ids = [each["id"] for each in tree["annotations"]]
    assert ids[:4] == [8, 9, 7, 10]  # the second 7 is new, and 99 is of an object that is not written
    assert len(set(ids)) == len(ids)
    assert len({each["id"] for each in tree["images"]}) == 20
