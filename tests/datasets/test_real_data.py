import numpy as np
import pytest
from conformance_cases import assert_pickles

import cvzoo.datasets as D
from cvzoo.datasets.conformance import (
    assert_is_bbox_dataset,
    assert_is_instance_segmentation_dataset,
    assert_is_label_dataset,
    assert_is_point_dataset,
    assert_is_semantic_segmentation_dataset,
)
from cvzoo.geometry import bbox_to_quad


@pytest.fixture
def tiny_coco(shared):
    return shared / "data/tiny_coco"


@pytest.mark.parametrize(("split", "length"), [("train", 205), ("val", 87), ("test", 72), (None, 364)])
def test_bccd_is_read_through_the_door_for_voc_layouts(shared, split, length):
    dataset = D.VOCFolderBboxDataset(shared / "data/bccd/BCCD", split, label_names=("RBC", "WBC", "Platelets"))
    assert len(dataset) == length
    assert_is_bbox_dataset(dataset, 3, n_example=5)


def test_bccd_has_the_boxes_it_is_said_to_have(shared):
    dataset = D.VOCFolderBboxDataset(shared / "data/bccd/BCCD")
    assert dataset.label_names == ("Platelets", "RBC", "WBC")
    bboxes, labels = zip(*dataset.slice[:, ("bbox", "label")])
    bbox, label = np.concatenate(bboxes), np.concatenate(labels)
    assert len(bbox) == 4888
    empty = (bbox[:, :2] == bbox[:, 2:]).all(axis=1)
    assert label[empty].tolist() == [1, 1]
    # the first object of the first file: xmin 260, ymin 177, xmax 491, ymax 376, counted from 1
    np.testing.assert_array_equal(bbox[0], [176, 259, 375, 490])


def test_tiny_coco_is_read_as_boxes_masks_and_crowds(tiny_coco):
    path = tiny_coco / "annotations/instances_train2017.json"
    boxes = D.COCOJSONBboxDataset(path, use_crowded=True, return_area=True, return_crowded=True)
    assert (len(boxes), boxes.label_names) == (50, D.coco_bbox_label_names)
    assert_is_bbox_dataset(boxes, 80, n_example=8)
    crowded = np.concatenate(boxes.slice[:, "crowded"][:])
    assert (len(crowded), crowded.sum()) == (470, 5)
    assert sum(len(label) for label in D.COCOJSONBboxDataset(path).slice[:, "label"]) == 465
    assert boxes.image_ids.tolist() == sorted(boxes.image_ids.tolist())
    official = D.COCOBboxDataset(tiny_coco, "train", return_area=True)
    plain = D.COCOJSONBboxDataset(path, return_area=True)
    for one, two in zip(official.slice[:, 1:], plain.slice[:, 1:]):
        for mine, its in zip(one, two):
            np.testing.assert_array_equal(mine, its)


def test_tiny_coco_masks_lie_in_their_boxes_and_have_their_areas(tiny_coco):
    dataset = D.COCOInstanceSegmentationDataset(
        tiny_coco, "train", use_crowded=True, return_area=True, return_crowded=True, return_bbox=True
    )
    assert_is_instance_segmentation_dataset(dataset, 80, n_example=3)
    assert_pickles(dataset.slice[:2])
    in_crowds = 0
    for mask, area, crowded, bbox in dataset.slice[:, ("mask", "area", "crowded", "bbox")]:
        found = mask.sum(axis=(1, 2))
        in_crowds += found[crowded].sum()
        assert (np.abs(found - area) <= 0.1 * area + 12)[~crowded].all()
        for each, (y_min, x_min, y_max, x_max) in zip(mask, bbox):
            ys, xs = np.nonzero(each)
            assert y_min - 1 <= ys.min() <= ys.max() + 1 <= y_max + 2
            assert x_min - 1 <= xs.min() <= xs.max() + 1 <= x_max + 2
    # the sum of the file's run-length encoding; its areas of crowds are those of the polygons they were made of
    assert in_crowds == 7378 + 4915 + 7511 + 1249 + 1172


def test_tiny_coco_has_key_points_or_says_that_it_has_none(tiny_coco):
    path = tiny_coco / "annotations/person_keypoints_train2017.json"
    if path.is_file():
        assert_is_point_dataset(D.COCOJSONKeypointDataset(path), 17, n_example=5)
    else:
        with pytest.raises(ValueError, match="keypoints"):
            D.COCOJSONKeypointDataset(tiny_coco / "annotations/instances_train2017.json")


@pytest.mark.parametrize(("split", "length"), [("train", 366), ("val", 132), (None, 498)])
def test_sroie_has_its_regions(shared, split, length):
    dataset = D.SROIETextDataset(shared / "data/sroie", split, return_quad=True, return_text=True)
    assert len(dataset) == length
    assert_is_bbox_dataset(dataset, 1, n_example=4)


def test_sroie_quads_are_upright_and_texts_keep_their_commas(shared):
    dataset = D.SROIETextDataset(shared / "data/sroie", return_quad=True, return_text=True)
    bbox, quad, text = dataset.slice[:, ("bbox", "quad", "text")][0]
    np.testing.assert_array_equal(bbox[0], [50, 76, 84, 323])
    np.testing.assert_array_equal(quad[0], bbox_to_quad(bbox[:1])[0])
    assert text[:3] == ("TAN WOON YANN", "INDAH GIFT & HOME DECO", "27,JALAN DEDAP 13,")
    assert len(text) == len(bbox)


@pytest.mark.parametrize(("split", "length", "first"), [("train", 60000, 5), ("test", 10000, 7)])
def test_mnist_is_read_from_its_original_files(shared, split, length, first):
    dataset = D.MNISTDataset(shared / "data/mnist", split)
    assert (len(dataset), dataset[0][1]) == (length, first)
    assert_is_label_dataset(dataset, 10, n_example=20, color=False)
    assert dataset[0][0].shape == (1, 28, 28)
    assert np.bincount(dataset.labels).min() > 800


def test_mnist_files_may_be_unpacked_or_damaged(shared, tmp_path):
    import gzip

    for name in ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"):
        data = gzip.decompress((shared / f"data/mnist/{name}.gz").read_bytes())
        (tmp_path / name).write_bytes(data)
    np.testing.assert_array_equal(
        D.MNISTDataset(tmp_path, "test")[7][0], D.MNISTDataset(shared / "data/mnist", "test")[7][0]
    )
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(data[:-1])
    with pytest.raises(ValueError, match="t10k-labels-idx1-ubyte"):
        D.MNISTDataset(tmp_path, "test")


def test_cifar_photos_survive_the_binary_layout(shared, tmp_path):
    with np.load(shared / "data/cifar10_train_4000.npz") as file:
        images, labels = file["images"], file["labels"]
    records = np.concatenate([labels[:, None], images.transpose(0, 3, 1, 2).reshape(len(images), -1)], axis=1)
    records.astype(np.uint8).tofile(tmp_path / "data_batch_1.bin")
    dataset = D.CIFAR10Dataset(tmp_path)
    assert len(dataset) == 4000
    assert_is_label_dataset(dataset, 10, n_example=20)
    np.testing.assert_array_equal(dataset[9][0].transpose(1, 2, 0), images[9])
    np.testing.assert_array_equal(dataset.labels, labels)


def test_the_camvid_frame_is_read(shared, tmp_path):
    sample = (shared / "data/camvid_sample").resolve()
    (tmp_path / "val").symlink_to(sample)
    (tmp_path / "val.txt").write_text("/SegNet/CamVid/val/image.png /SegNet/CamVid/val/label.png\n")
    dataset = D.CamVidDataset(tmp_path, "val")
    assert_is_semantic_segmentation_dataset(dataset, 11)
    label = dataset[0][1]
    assert label.shape == (360, 480)
    assert (label == -1).any()
    assert label.max() <= 10
