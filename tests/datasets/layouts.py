"""Tiny copies of the official layouts of public data sets, with made-up images."""

import json

import numpy as np
from PIL import Image

SIZE = 24, 32


def photo(path, seed=0, size=SIZE, mode="RGB"):
    path.parent.mkdir(parents=True, exist_ok=True)
    shape = size if mode == "L" else (*size, 3)
    Image.fromarray(np.random.default_rng(seed).integers(0, 256, shape, np.uint8)).save(path)
    return path


def label_map(path, values, palette=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    pil = Image.fromarray(np.asarray(values, np.uint8))
    if palette:
        pil.putpalette([(7 * i) % 256 for i in range(768)])
    pil.save(path)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def voc_xml(objects):
    """objects: (name, ymin, xmin, ymax, xmax, difficult or None)"""
    text = "<annotation>"
    for name, y0, x0, y1, x1, difficult in objects:
        flag = "" if difficult is None else f"<difficult>{int(difficult)}</difficult>"
        text += f"<object><name>{name}</name>{flag}<bndbox><xmin>{x0}</xmin><ymin>{y0}</ymin>"
        text += f"<xmax>{x1}</xmax><ymax>{y1}</ymax></bndbox><part><name>head</name></part></object>"
    return text + "</annotation>"


def voc(root, year="2007", split="test"):
    root = root / f"VOCdevkit/VOC{year}"
    objects = [
        [("dog", 5, 3, 20, 30, False), ("person", 1, 1, 24, 32, True)],
        [("cat", 2, 2, 9, 9, True)],  # nothing is left without difficult objects
        [],
    ]
    for i, each in enumerate(objects):
        photo(root / f"JPEGImages/00000{i}.jpg", i)
        write(root / f"Annotations/00000{i}.xml", voc_xml(each))
        classes, numbers = np.zeros((2, *SIZE), np.uint8)
        classes[2:10, 2:20], numbers[2:10, 2:20] = 12, 1
        classes[12:20, 4:9], numbers[12:20, 4:9] = 15, 2
        classes[2, :], numbers[2, :] = 255, 255
        label_map(root / f"SegmentationClass/00000{i}.png", classes, palette=True)
        label_map(root / f"SegmentationObject/00000{i}.png", numbers, palette=True)
    for kind in ("Main", "Segmentation"):
        write(root / f"ImageSets/{kind}/{split}.txt", "000000\n000001\n000002\n")
    return root


PEOPLE = [0, 0, 0] * 15 + [5, 6, 1, 10, 4, 2]
COCO = {
    "images": [
        {"id": 9, "file_name": "9.jpg", "height": SIZE[0], "width": SIZE[1]},
        {"id": 3, "file_name": "3.jpg", "height": SIZE[0], "width": SIZE[1]},
        {"id": 5, "file_name": "5.jpg", "height": SIZE[0], "width": SIZE[1]},
    ],
    "annotations": [
        {
            "id": 1,
            "image_id": 9,
            "category_id": 18,
            "bbox": [2.5, 3, 10, 8],
            "area": 70.5,
            "iscrowd": 0,
            "segmentation": [[2.5, 3, 12.5, 3, 12.5, 11, 2.5, 11]],
            "keypoints": PEOPLE,
        },
        {
            "id": 2,
            "image_id": 9,
            "category_id": 1,
            "bbox": [4, 4, 0, 5],  # empty: left out, and its mask with it
            "area": 0,
            "iscrowd": 0,
            "segmentation": [[4, 4, 4, 9, 4, 4]],
            "keypoints": PEOPLE,
        },
        {
            "id": 3,
            "image_id": 3,
            "category_id": 1,
            "bbox": [0, 0, 32, 24],
            "area": 24,
            "iscrowd": 1,
            "segmentation": {"size": list(SIZE), "counts": [0, 24, 24 * 31]},
            "keypoints": PEOPLE,
        },
        {
            "id": 4,
            "image_id": 9,
            "category_id": 1,
            "bbox": [1, 2, 3, 4],
            "area": 12,
            "iscrowd": 0,
            "segmentation": {"size": list(SIZE), "counts": [26, 4, 20, 4, 24 * 32 - 54]},
            "keypoints": PEOPLE,
        },
    ],
    "categories": [
        {"id": 18, "name": "dog", "keypoints": [f"part {k}" for k in range(17)]},
        {"id": 1, "name": "person", "keypoints": [f"part {k}" for k in range(17)]},
    ],
}


def coco(root, year="2017", split="val", kind="instances", below="images"):
    write(root / f"annotations/{kind}_{split}{year}.json", json.dumps(COCO))
    for i in (3, 5, 9):
        photo(root / below / f"{'train' if split == 'train' else 'val'}{year}/{i}.jpg", i)
    return root


def coco_panoptic(root):
    ids = np.zeros(SIZE, np.int64)
    ids[:10], ids[10:, :9] = 70000, 300
    rgb = np.stack([ids % 256, ids // 256 % 256, ids // 65536], axis=2).astype(np.uint8)
    for i in (3, 5):
        photo(root / f"val2017/{i}.jpg", i)
        label_map(root / f"annotations/panoptic_val2017/{i}.png", rgb)
    segments = [{"id": 70000, "category_id": 202}, {"id": 300, "category_id": 2}]
    # 133 ids with gaps, as the official file has them
    categories = [{"id": 2 * label, "name": f"class {label}"} for label in range(133)]
    annotations = [{"image_id": i, "file_name": f"{i}.png", "segments_info": segments} for i in (3, 5)]
    text = json.dumps({"images": [], "annotations": annotations, "categories": categories})
    write(root / "annotations/panoptic_val2017.json", text)
    return root


def cityscapes(root, kind="gtFine", split="val"):
    ids = np.zeros(SIZE, np.uint8)
    ids[:5], ids[5:9], ids[9:12], ids[12] = 7, 33, 4, 255
    for city, number in (("ulm", 1), ("aachen", 2)):
        stem = f"{city}_00000{number}_000019"
        photo(root / f"leftImg8bit/{split}/{city}/{stem}_leftImg8bit.png", number)
        photo(root / f"leftImg8bit/test/{city}/{stem}_leftImg8bit.png", number)
        label_map(root / f"{kind}/{split}/{city}/{stem}_{kind}_labelIds.png", ids)
    return root


def ade20k(root):
    values = np.zeros(SIZE, np.uint8)
    values[3:9], values[9:] = 150, 1
    for i in range(2):
        photo(root / f"ADEChallengeData2016/images/validation/ADE_val_0000000{i}.jpg", i)
        label_map(root / f"ADEChallengeData2016/annotations/validation/ADE_val_0000000{i}.png", values)
        photo(root / f"release_test/testing/ADE_test_0000000{i}.jpg", i)
    return root


def camvid(root):
    values = np.arange(SIZE[0] * SIZE[1]).reshape(SIZE) % 12
    lines = []
    for i in range(2):
        photo(root / f"val/{i}.png", i)
        label_map(root / f"valannot/{i}.png", values)
        lines.append(f"/SegNet/CamVid/val/{i}.png /SegNet/CamVid/valannot/{i}.png\n")
    write(root / "val.txt", "".join(lines))
    return root


def cub(root):
    folder, names = root / "CUB_200_2011", ["001.Black_footed_Albatross/a.jpg", "200.Common_Yellowthroat/b.jpg"]
    points = ""
    for i, name in enumerate(names):
        photo(folder / "images" / name, i)
        photo((root / "segmentations" / name).with_suffix(".png"), i, mode="L")
        for part in range(1, 16):
            x, visible = (40.0, 1) if part == 2 else (10.5, int(part % 3 > 0))  # part 2 lies outside of the image
            points += f"{i + 1} {part} {x} {part}.0 {visible}\n"
    write(folder / "images.txt", "".join(f"{i + 1} {name}\n" for i, name in enumerate(names)))
    write(folder / "image_class_labels.txt", "1 1\n2 200\n")
    write(folder / "bounding_boxes.txt", "1 2.0 3.0 10.0 12.0\n2 0.0 0.0 32.0 24.0\n")
    write(folder / "parts/part_locs.txt", points)
    return root


def online_products(root):
    text = "image_id class_id super_class_id path\n"
    for i, name in enumerate(("bicycle_final/1_0.JPG", "toaster_final/2_0.JPG")):
        photo((root / "Stanford_Online_Products" / name).with_suffix(".jpg"), i)
        (root / "Stanford_Online_Products" / name).with_suffix(".jpg").rename(root / "Stanford_Online_Products" / name)
        text += f"{i + 1} {11319 * i + 1} {11 * i + 1} {name}\n"
    write(root / "Stanford_Online_Products/Ebay_train.txt", text)
    return root


def cifar(root, name, n_label, files):
    (root / name).mkdir(parents=True)
    for seed, file in enumerate(files):
        records = np.random.default_rng(seed).integers(0, 256, (3, n_label + 3072), np.uint8)
        records[:, :n_label] = [[1] * n_label, [9] * n_label, [0] * n_label]
        records.tofile(root / name / file)
    return root
