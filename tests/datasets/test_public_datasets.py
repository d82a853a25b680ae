import pickle

import layouts
import numpy as np
import pytest

import cvzoo.datasets as D
from cvzoo.datasets.conformance import (
    assert_is_bbox,
    assert_is_bbox_dataset,
    assert_is_image,
    assert_is_instance_segmentation_dataset,
    assert_is_label_dataset,
    assert_is_point_dataset,
    assert_is_semantic_segmentation_dataset,
)
from cvzoo.errors.exceptions import DatasetError, ValueRangeError

LAYOUTS = {
    "voc2007": lambda r: layouts.voc(r, "2007", "test"),
    "voc2012": lambda r: layouts.voc(r, "2012", "val"),
    "coco": layouts.coco,
    "coco2014": lambda r: layouts.coco(r, "2014", "minival"),
    "keypoints": lambda r: layouts.coco(r, kind="person_keypoints"),
    "panoptic": layouts.coco_panoptic,
    "cityscapes": layouts.cityscapes,
    "coarse": lambda r: layouts.cityscapes(r, "gtCoarse", "train_extra"),
    "ade20k": layouts.ade20k,
    "camvid": layouts.camvid,
    "cub": layouts.cub,
    "online_products": layouts.online_products,
    "cifar10": lambda r: layouts.cifar(r, "cifar-10-batches-bin", 1, ["data_batch_1.bin", "data_batch_2.bin"]),
    "cifar100": lambda r: layouts.cifar(r, "cifar-100-binary", 2, ["test.bin"]),
}
boxes = assert_is_bbox_dataset
masks = assert_is_instance_segmentation_dataset
maps = assert_is_semantic_segmentation_dataset
# layout, data set, length, its rules, number of classes
CASES = [
    ("voc2007", lambda r: D.VOCBboxDataset(r.parents[1], "test", "2007"), 3, boxes, 20),
    ("voc2007", lambda r: D.VOCBboxDataset(r, "test", "2007", True, True), 3, boxes, 20),
    ("voc2007", lambda r: D.VOCFolderBboxDataset(r, "test"), 3, boxes, 3),
    ("voc2012", lambda r: D.VOCSemanticSegmentationDataset(r, "val"), 3, maps, 21),
    ("voc2012", lambda r: D.VOCInstanceSegmentationDataset(r.parents[1], "val"), 3, masks, 20),
    ("coco", lambda r: D.COCOBboxDataset(r, "val"), 3, boxes, 2),
    ("coco", lambda r: D.COCOBboxDataset(r, "val", "2017", True, True, True), 3, boxes, 2),
    ("coco2014", lambda r: D.COCOBboxDataset(r, "minival", "2014"), 3, boxes, 2),
    ("coco", lambda r: D.COCOInstanceSegmentationDataset(r, "val", use_crowded=True), 3, masks, 2),
    ("coco", lambda r: D.COCOJSONBboxDataset(r / "annotations/instances_val2017.json"), 3, boxes, 2),
    ("coco", lambda r: D.COCOJSONInstanceSegmentationDataset(r / "annotations/instances_val2017.json"), 3, masks, 2),
    ("keypoints", lambda r: D.COCOKeypointDataset(r, "val"), 3, assert_is_point_dataset, 17),
    (
        "keypoints",
        lambda r: D.COCOJSONKeypointDataset(r / "annotations/person_keypoints_val2017.json", return_label=True),
        3,
        assert_is_point_dataset,
        17,
    ),
    ("panoptic", lambda r: D.COCOSemanticSegmentationDataset(r, "val"), 2, maps, 133),
    ("cityscapes", lambda r: D.CityscapesSemanticSegmentationDataset(r, "fine", "val"), 2, maps, 19),
    ("coarse", lambda r: D.CityscapesSemanticSegmentationDataset(r, "coarse", "train_extra", False), 2, maps, 34),
    ("ade20k", lambda r: D.ADE20KSemanticSegmentationDataset(r, "val"), 2, maps, 150),
    ("camvid", lambda r: D.CamVidDataset(r, "val"), 2, maps, 11),
    ("cub", lambda r: D.CUBLabelDataset(r, True, r, True), 2, assert_is_label_dataset, 200),
    ("cub", lambda r: D.CUBKeypointDataset(r / "CUB_200_2011"), 2, assert_is_point_dataset, 15),
    ("cub", lambda r: D.CUBInstanceSegmentationDataset(r, r), 2, masks, 200),
    ("online_products", lambda r: D.OnlineProductsDataset(r, "train"), 2, assert_is_label_dataset, 22634),
    ("cifar10", lambda r: D.CIFAR10Dataset(r, "train"), 6, assert_is_label_dataset, 10),
    ("cifar100", lambda r: D.CIFAR100Dataset(r, "test", True), 3, assert_is_label_dataset, 100),
]


@pytest.mark.parametrize(("layout", "make", "length", "check", "n_class"), CASES)
def test_public_data_sets_keep_the_rules(tmp_path, layout, make, length, check, n_class):
    dataset = make(LAYOUTS[layout](tmp_path / "data"))
    assert len(dataset) == length
    check(dataset, n_class)
    assert dataset.name(0).endswith((".jpg", ".png", ".JPG", "example 0"))
    again = pickle.loads(pickle.dumps(dataset))
    for mine, its in zip(dataset[0], again[0]):
        np.testing.assert_array_equal(mine, its)


@pytest.mark.parametrize(("layout", "make", "length", "check", "n_class"), CASES)
def test_classes_have_names_and_colours(tmp_path, layout, make, length, check, n_class):
    dataset = make(LAYOUTS[layout](tmp_path / "data"))
    if isinstance(dataset, D.OnlineProductsDataset):  # 22,634 products without names
        return
    assert len(dataset.label_names) == len(dataset.label_colors)
    assert len(dataset.label_names) == n_class or check is assert_is_point_dataset
    assert all(0 <= part <= 255 for color in dataset.label_colors for part in color)


def test_names_of_cityscapes_stand_for_the_labels_that_are_given(tmp_path):
    layouts.cityscapes(tmp_path)
    few, all_ = (D.CityscapesSemanticSegmentationDataset(tmp_path, "fine", "val", flag) for flag in (True, False))
    for by_label, by_id in zip(few[0][1].ravel(), all_[0][1].ravel()):
        if by_label >= 0:
            assert few.label_names[by_label] == all_.label_names[by_id]
            assert few.label_colors[by_label] == all_.label_colors[by_id]


def test_voc_boxes_begin_at_zero_and_difficult_ones_are_left_out(tmp_path):
    root = layouts.voc(tmp_path)
    _, bbox, label = D.VOCBboxDataset(root, "test", "2007")[0]
    np.testing.assert_array_equal(bbox, [[4, 2, 19, 29]])
    np.testing.assert_array_equal(label, [11])
    everything = D.VOCBboxDataset(root, "test", "2007", use_difficult=True, return_difficult=True)
    np.testing.assert_array_equal(everything[0][3], [False, True])


def test_voc_photos_whose_objects_are_all_difficult_have_no_boxes(tmp_path):
    _, bbox, label = D.VOCBboxDataset(layouts.voc(tmp_path), "test", "2007")[1]
    assert (bbox.shape, label.shape) == ((0, 4), (0,))


def test_voc_masks_leave_ignored_pixels_out(tmp_path):
    root = layouts.voc(tmp_path, "2012", "val")
    _, mask, label = D.VOCInstanceSegmentationDataset(root, "val")[0]
    np.testing.assert_array_equal(label, [11, 14])
    np.testing.assert_array_equal(mask.sum(axis=(1, 2)), [7 * 18, 8 * 5])
    values, counts = np.unique(D.VOCSemanticSegmentationDataset(root, "val")[0][1], return_counts=True)
    assert dict(zip(values.tolist(), counts.tolist())) == {-1: 32, 0: 24 * 32 - 32 - 126 - 40, 12: 126, 15: 40}


def test_a_voc_folder_may_have_its_own_classes_and_count_from_zero(tmp_path):
    root = layouts.voc(tmp_path)
    dataset = D.VOCFolderBboxDataset(root, label_names=("person", "dog", "cat"), one_based=False, use_difficult=True)
    np.testing.assert_array_equal(dataset[0][1], [[5, 3, 20, 30], [1, 1, 24, 32]])
    np.testing.assert_array_equal(dataset[0][2], [1, 0])
    assert D.VOCFolderBboxDataset(root).label_names == ("cat", "dog", "person")
    with pytest.raises(DatasetError, match=r"(?s)000000\.xml: unknown class.*person"):
        D.VOCFolderBboxDataset(root, label_names=("dog", "cat"))[0]


BROKEN_XML = [
    ("<annotation>", "well-formed"),
    ("<a><object><name>dog</name></object></a>", "object 0 has no bndbox"),
    ("<a><object><bndbox/></object></a>", "object 0 has no name"),
    (layouts.voc_xml([("dog", 1, 1, "nan", 4, None)]), "no valid ymax"),
    (layouts.voc_xml([("dog", 1, "", 3, 4, None)]), "no valid xmin"),
]


@pytest.mark.parametrize(("text", "complaint"), BROKEN_XML)
def test_broken_xml_is_named(tmp_path, text, complaint):
    root = layouts.voc(tmp_path)
    (root / "Annotations/000002.xml").write_text(text)
    with pytest.raises(DatasetError, match=r"(?s)000002\.xml.*" + complaint):
        D.VOCBboxDataset(root, "test", "2007")[2]


def test_camvid_has_a_key_called_label(tmp_path):
    dataset = D.CamVidDataset(layouts.camvid(tmp_path), "val")
    assert dataset.keys == ("img", "label")
    label = dataset.slice[:, "label"][0]
    assert (label.min(), label.max()) == (-1, 10)


def test_cityscapes_ids_become_classes_that_count(tmp_path):
    layouts.cityscapes(tmp_path)
    label = D.CityscapesSemanticSegmentationDataset(tmp_path, "fine", "val")[0][1]
    np.testing.assert_array_equal(label[[0, 5, 9, 12, 20], 0], [0, 18, -1, -1, -1])
    raw = D.CityscapesSemanticSegmentationDataset(tmp_path, "fine", "val", ignore_labels=False)[0][1]
    np.testing.assert_array_equal(raw[[0, 5, 9, 12, 20], 0], [7, 33, 4, -1, 0])
    with pytest.raises(ValueRangeError, match="fine"):
        D.CityscapesSemanticSegmentationDataset(tmp_path)
    with pytest.raises(DatasetError, match=r"cityscapes-dataset\.com"):
        D.CityscapesSemanticSegmentationDataset("auto", "fine")


@pytest.mark.parametrize(
    ("layout", "make", "inner"),
    [
        (layouts.ade20k, lambda r: D.ADE20KSemanticSegmentationDataset(r, "val"), "ADEChallengeData2016"),
        (layouts.ade20k, D.ADE20KTestImageDataset, "release_test"),
        (layouts.cityscapes, lambda r: D.CityscapesSemanticSegmentationDataset(r, "fine", "val"), "leftImg8bit"),
        (layouts.cityscapes, lambda r: D.CityscapesSemanticSegmentationDataset(r, "fine", "val"), "gtFine"),
        (
            lambda r: layouts.voc(r, "2012", "val").parents[1],
            lambda r: D.VOCSemanticSegmentationDataset(r, "val"),
            "VOCdevkit",
        ),
        (
            lambda r: layouts.voc(r, "2012", "val").parents[1],
            lambda r: D.VOCSemanticSegmentationDataset(r, "val"),
            "VOCdevkit/VOC2012",
        ),
        (lambda r: layouts.camvid(r / "CamVid").parent, lambda r: D.CamVidDataset(r, "val"), "CamVid"),
    ],
)
def test_the_publishers_inner_folder_is_the_data_set_too(tmp_path, monkeypatch, layout, make, inner):
    root = layout(tmp_path)
    n = len(make(root))
    assert n > 0
    assert len(make(str(root / inner))) == n
    monkeypatch.chdir(root / inner)
    assert len(make(".")) == n


def test_ade20ks_folder_may_have_another_name(tmp_path):
    inner = layouts.ade20k(tmp_path) / "ADEChallengeData2016"
    inner.rename(tmp_path / "scenes")
    dataset = D.ADE20KSemanticSegmentationDataset(str(tmp_path / "scenes"), "val")
    assert len(dataset) == 2
    assert dataset[0][0].shape[1:] == dataset[0][1].shape
    with pytest.raises(DatasetError, match="ADEChallengeData2016/annotations/training does not exist"):
        D.ADE20KSemanticSegmentationDataset(tmp_path)


def test_ade20k_counts_from_minus_one(tmp_path):
    label = D.ADE20KSemanticSegmentationDataset(layouts.ade20k(tmp_path), "val")[0][1]
    np.testing.assert_array_equal(label[[0, 3, 9], 0], [-1, 149, 0])


@pytest.mark.parametrize(
    ("layout", "make"), [(layouts.ade20k, D.ADE20KTestImageDataset), (layouts.cityscapes, D.CityscapesTestImageDataset)]
)
def test_test_photos_are_no_tuples(tmp_path, layout, make):
    dataset = make(layout(tmp_path))
    assert (len(dataset), dataset.keys) == (2, "img")
    assert_is_image(dataset[1])


def test_panoptic_pixels_without_a_segment_are_ignored(tmp_path):
    label = D.COCOSemanticSegmentationDataset(layouts.coco_panoptic(tmp_path), "val")[1][1]
    np.testing.assert_array_equal(label[[0, 12, 12], [0, 0, 20]], [101, 1, -1])


def test_cub_points_outside_of_the_photo_are_not_visible(tmp_path):
    dataset = D.CUBKeypointDataset(layouts.cub(tmp_path), return_bbox=True)
    _, point, visible, bbox = dataset[0]
    np.testing.assert_array_equal(point[0, 4], [5, 10.5])
    np.testing.assert_array_equal(visible[0, :4], [True, False, False, True])
    np.testing.assert_array_equal(bbox, [[3, 2, 15, 12]])
    label, prob_map = D.CUBLabelDataset(tmp_path, prob_map_dir=tmp_path, return_prob_map=True)[1][1:]
    assert (label, prob_map.shape, prob_map.dtype) == (199, layouts.SIZE, np.float32)
    assert 0 <= prob_map.min() < prob_map.max() <= 1


def test_cub_tables_that_lack_a_photo_are_named(tmp_path):
    root = layouts.cub(tmp_path)
    (root / "CUB_200_2011/image_class_labels.txt").write_text("1 1\n")
    with pytest.raises(DatasetError, match=r"image_class_labels\.txt"):
        D.CUBLabelDataset(root)
    layouts.cub(tmp_path)
    (root / "CUB_200_2011/parts/part_locs.txt").write_text("1 1 2 3 1\n")
    with pytest.raises(DatasetError, match=r"part_locs\.txt"):
        D.CUBKeypointDataset(root)


def test_cifar_files_that_are_cut_off_are_named(tmp_path):
    root = layouts.cifar(tmp_path, "cifar-10-batches-bin", 1, ["test_batch.bin"])
    path = root / "cifar-10-batches-bin/test_batch.bin"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DatasetError, match="not a multiple"):
        D.CIFAR10Dataset(root, "test")
    path.write_bytes(b"\x0a" + bytes(3072))
    with pytest.raises(DatasetError, match="too large"):
        D.CIFAR10Dataset(root, "test")


WITHOUT_FILES = [
    lambda: D.VOCBboxDataset(),
    lambda: D.VOCSemanticSegmentationDataset(),
    lambda: D.SBDInstanceSegmentationDataset(),
    lambda: D.COCOBboxDataset(),
    lambda: D.COCOKeypointDataset(split="val", year="2014"),
    lambda: D.COCOSemanticSegmentationDataset(),
    lambda: D.CityscapesSemanticSegmentationDataset(label_resolution="coarse"),
    lambda: D.ADE20KTestImageDataset(),
    lambda: D.CamVidDataset(),
    lambda: D.CUBLabelDataset(),
    lambda: D.CUBInstanceSegmentationDataset(),
    lambda: D.OnlineProductsDataset(),
    lambda: D.MNISTDataset(),
    lambda: D.CIFAR100Dataset(),
    lambda: D.SROIETextDataset(),
]


@pytest.mark.parametrize("make", WITHOUT_FILES)
def test_absent_files_are_explained(monkeypatch, tmp_path, make):
    monkeypatch.setenv("CVZOO_OFFLINE", "1")
    with pytest.raises(ValueError) as caught:
        make()
    text = str(caught.value)
    assert "http" in text
    assert str(tmp_path / "home") in text


CHOICES = [
    lambda: D.VOCBboxDataset(year="2013"),
    lambda: D.VOCBboxDataset(split="test"),
    lambda: D.COCOBboxDataset(split="minival"),
    lambda: D.COCOSemanticSegmentationDataset(split="test"),
    lambda: D.ADE20KSemanticSegmentationDataset(split="test"),
    lambda: D.MNISTDataset(split="val"),
    lambda: D.SBDInstanceSegmentationDataset(split="test"),
]


@pytest.mark.parametrize("make", CHOICES)
def test_splits_that_do_not_exist_are_refused(make):
    with pytest.raises(ValueRangeError, match="must be one of its choices"):
        make()


@pytest.mark.parametrize(("kind", "n_class"), [("voc", 21), ("coco", 133), ("cityscapes", 19), ("ade20k", 150)])
def test_every_class_has_a_name_and_a_colour(kind, n_class):
    names = getattr(D, f"{kind}_semantic_segmentation_label_names")
    colors = getattr(D, f"{kind}_semantic_segmentation_label_colors")
    assert len(names) == len(set(names)) == len(colors) == n_class
    assert all(len(color) == 3 and all(0 <= part <= 255 for part in color) for color in colors)


def test_name_lists_have_their_official_lengths():
    lengths = {
        "voc_bbox_label_names": 20,
        "coco_bbox_label_names": 80,
        "coco_keypoint_names": 17,
        "camvid_label_names": 11,
        "camvid_label_colors": 11,
        "cub_label_names": 200,
        "cub_keypoint_names": 15,
        "online_products_super_label_names": 12,
        "cifar100_label_names": 100,
    }
    assert {name: len(set(getattr(D, name))) for name in lengths} == lengths


def test_boxes_of_difficult_objects_pass_the_rules(tmp_path):
    assert_is_bbox(D.VOCBboxDataset(layouts.voc(tmp_path), "test", "2007", use_difficult=True)[0][1], layouts.SIZE)


WITHOUT_PHOTOS = [case for case in CASES if case[0] not in ("cifar10", "cifar100", "cub")]


@pytest.mark.parametrize(("layout", "make", "length", "check", "n_class"), WITHOUT_PHOTOS)
def test_labels_are_read_without_photos(tmp_path, layout, make, length, check, n_class):
    dataset = make(LAYOUTS[layout](tmp_path / "data"))
    expected = dataset[length - 1][1:]
    for path in {dataset.name(i) for i in range(length)}:
        with open(path, "wb"):
            pass  # empty now
    for one, two in zip(expected, dataset.slice[length - 1 :, 1:][0], strict=True):
        np.testing.assert_array_equal(one, two)
