"""Lists and JSON files that split a data set, as `cvzoo data split` writes them."""

import json
import re
import shutil

import numpy as np
import pytest
from PIL import Image

from cvzoo.cli.main import main
from cvzoo.datasets.bbox_splits import bbox_splits
from cvzoo.datasets.layouts.data_spec import parse_data_spec
from cvzoo.datasets.split.write_split import write_split
from cvzoo.errors.exceptions import ConfigError, DatasetError

N = 20
BOX = "<object><name>{}</name><bndbox><xmin>2</xmin><ymin>2</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></object>"


def label(i):
    return "dog" if i % 4 == 0 else "cat"


def save(path, i):
    path.parent.mkdir(parents=True, exist_ok=True)
    coarse = Image.fromarray(np.random.default_rng(i).integers(0, 256, (4, 5, 3), dtype=np.uint8))
    coarse.resize((20, 16), Image.Resampling.BICUBIC).save(path)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def name(i):
    return f"v{i // 5}_{i}"


@pytest.fixture
def kaggle(tmp_path):
    """images and annotations (VOC's XML), as many sets of Kaggle are laid out; no list."""
    root = tmp_path / "kaggle"
    for i in range(N):
        save(root / f"images/{name(i)}.png", i)
        write(root / f"annotations/{name(i)}.xml", f"<annotation>{BOX.format(label(i))}</annotation>")
    return root


@pytest.fixture
def yolo(tmp_path):
    root = tmp_path / "yolo"
    for i in range(N):
        save(root / f"images/{name(i)}.png", i)
        write(root / f"labels/{name(i)}.txt", f"{int(label(i) == 'dog')} 0.5 0.5 0.5 0.5\n")
    write(root / "classes.txt", "cat\ndog\n")
    return root


@pytest.fixture
def sroie(tmp_path):
    root = tmp_path / "sroie"
    for i in range(N):
        save(root / f"img/{name(i)}.png", i)
        write(root / f"box/{name(i)}.csv", "1,1,9,1,9,5,1,5,A\n")
    return root


@pytest.fixture
def coco(tmp_path):
    root = tmp_path / "coco"
    images, annotations = [], []
    for i in range(N):
        save(root / f"photos/{name(i)}.png", i)
        record = {"id": i, "file_name": f"{name(i)}.png", "height": 16, "width": 20, "video_id": i // 5}
        images.append(record)
        box = {"id": i + 1, "image_id": i, "category_id": 1 + (label(i) == "dog"), "bbox": [1, 1, 7, 7], "kept": i}
        annotations.append(box | {"area": 49, "iscrowd": 0})
    names = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]
    file = {"info": {"year": 2020}, "images": images, "annotations": annotations, "categories": names}
    return write(root / "annotations/instances_all.json", json.dumps(file))


def split(spec, out=None, **settings):
    settings = {"shares": {"train": 0.8, "val": 0.2}} | settings
    return write_split(parse_data_spec(str(spec)), out, **settings)


@pytest.mark.parametrize("kind", ["kaggle", "yolo", "sroie", "coco"])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_every_layout_is_split_and_read_back(request, tmp_path, kind, elsewhere):
    root = request.getfixturevalue(kind)
    spec = f"coco:{root},photos={root.parents[1]}/photos" if kind == "coco" else str(root)
    done = split(spec, tmp_path / "lists" if elsewhere else None)
    assert {key: len(names) for key, names in done.parts.items()} == {"train": 16, "val": 4}
    if kind != "sroie":
        assert done.objects == {"cat": (12, 3), "dog": (4, 1)}
    assert elsewhere == all(path.parent == tmp_path / "lists" for path in done.files.values())
    splits = bbox_splits(done.data)
    assert (len(splits.train), len(splits.val)) == (16, 4)
    read = [part.name(i).rpartition("/")[2] for part in splits[:2] for i in range(len(part))]
    assert sorted(read) == sorted(f"{name(i)}.png" for i in range(N))
    assert splits.val[0][0].shape == (3, 16, 20)


def test_coco_records_stay_what_they_are(coco, tmp_path):
    done = split(f"coco:{coco},photos={coco.parents[1]}/photos", tmp_path / "out")
    assert done.files["val"] == tmp_path / "out/instances_val.json"
    before = json.loads(coco.read_text())
    after = [json.loads(path.read_text()) for path in done.files.values()]
    for key in ("images", "annotations"):
        joined = sorted((each for file in after for each in file[key]), key=lambda each: each["id"])
        assert joined == before[key]
    assert all({key: file[key] for key in ("info", "categories")} ==
               {key: before[key] for key in ("info", "categories")} for file in after)  # fmt: skip


def groups_of(done):
    return {key: {photo.partition("_")[0] for photo in names} for key, names in done.parts.items()}


def test_photos_of_one_group_stay_together(kaggle, coco, tmp_path):
    by_name = split(kaggle, group_pattern="^(v[0-9]+)_", shares={"train": 0.75, "val": 0.25})
    assert by_name.n_group == 4
    spec = f"coco:{coco},photos={coco.parents[1]}/photos"
    by_field = split(spec, group_column="video_id", shares={"train": 0.75, "val": 0.25})
    for done in (by_name, by_field):
        found = groups_of(done)
        assert not found["train"] & found["val"]
        assert [len(names) for names in done.parts.values()] == [15, 5]


def test_near_duplicates_stay_together(kaggle):
    for i in range(N // 2):  # every second image is another one again, a little darker
        with Image.open(kaggle / f"images/{name(2 * i)}.png") as pil:
            pil.point(lambda value: value * 0.9).save(kaggle / f"images/{name(2 * i + 1)}.png")
    seen = []
    done = split(kaggle, group_look_alikes=True, step=lambda: seen.append(1))
    assert len(seen) == N
    numbers = {key: {int(photo[:-4].partition("_")[2]) // 2 for photo in names} for key, names in done.parts.items()}
    assert not numbers["train"] & numbers["val"]


def test_the_same_seed_gives_the_same_split(kaggle, tmp_path):
    one, again, other = (split(kaggle, tmp_path / str(n), seed=seed).parts for n, seed in enumerate((0, 0, 1)))
    assert one == again != other


def test_photos_that_cannot_be_used_are_in_no_part(kaggle):
    (kaggle / "annotations/v0_0.xml").unlink()
    (kaggle / "images/v0_1.png").unlink()
    done = split(kaggle, shares={"train": 0.5, "val": 0.3, "test": 0.2})
    assert [len(names) for names in done.parts.values()] == [9, 5, 4]
    assert len(done.left_out) == 2


def test_what_is_there_already_is_kept_unless_it_may_be_replaced(kaggle):
    split(kaggle)
    text = (kaggle / "ImageSets/Main/val.txt").read_text()
    with pytest.raises(ConfigError, match="already exist"):
        split(kaggle, seed=1)
    assert (kaggle / "ImageSets/Main/val.txt").read_text() == text
    split(kaggle, seed=1, replace=True)
    assert (kaggle / "ImageSets/Main/val.txt").read_text() != text


@pytest.mark.parametrize("kind", ["kaggle", "yolo", "coco"])
def test_what_is_wrong_is_told_before_the_data_are_read(request, tmp_path, monkeypatch, kind):
    root = request.getfixturevalue(kind)
    write(tmp_path / "file", "")
    if kind == "yolo":
        (root / "images/train").mkdir()
    monkeypatch.setattr("cvzoo.datasets.split.write_split.read_annotated_set", lambda _: pytest.fail("read"))
    for out, shares in (
        (tmp_path / "file", {"train": 0.8, "val": 0.2}),
        (tmp_path / "file/below", {"train": 0.8, "val": 0.2}),
        (None, {"train": 0.8, "val": 0.3}),
        (None, {"train": 1.0}),
        *([(None, {"train": 0.5, "val": 0.5})] if kind == "yolo" else []),
    ):
        with pytest.raises(ConfigError):
            split(root, out, shares=shares)


@pytest.mark.parametrize("settings", [{"group_pattern": "("}, {"group_pattern": "nowhere"}, {"group_column": "video"}])
def test_groups_that_make_no_sense_are_refused(kaggle, settings):
    with pytest.raises(ConfigError):
        split(kaggle, **settings)
    assert not (kaggle / "ImageSets").exists()


def test_a_part_without_a_photo_is_refused(kaggle):
    with pytest.raises(DatasetError, match="no image is left"):
        split(kaggle, group_pattern="^v")


def test_the_verb_prints_what_came_of_it_and_what_to_do_next(kaggle, capsys):
    assert main(["data", "split", str(kaggle), "--test", "0.1", "--group-by", "_(.+)"]) == 0
    out = capsys.readouterr().out
    assert "train.txt: 14 images, 14 objects" in out
    assert re.search(r"^class +train +val +test$", out, re.MULTILINE)
    assert re.search(r"^dog +\d+ +\d+ +\d+$", out, re.MULTILINE)
    assert out.rstrip().endswith(f"cvzoo train --recipe retinanet_resnet18 --data voc:{kaggle} --out FOLDER")
    assert main(["data", "check", f"voc:{kaggle},split=val", "--quiet"]) in (0, 1)
    assert main(["data", "split", str(kaggle)]) == 2
    assert "--replace" in capsys.readouterr().err
    for words in (["--val", "2"], ["--val", "x"]):
        with pytest.raises(SystemExit):
            main(["data", "split", str(kaggle), *words])
    assert main(["data", "split", str(kaggle), "--val", "0.5", "--test", "0.5"]) == 2


def test_a_list_that_there_is_not_is_told_before_the_annotations_are_read(kaggle, monkeypatch):
    split(kaggle)
    shutil.rmtree(kaggle / "annotations")
    (kaggle / "annotations").mkdir()
    with pytest.raises(ConfigError, match="unknown split nowhere") as error:
        split(f"voc:{kaggle},split=nowhere", kaggle.parent / "out")
    assert "train, val" in str(error.value)
