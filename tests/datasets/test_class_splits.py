"""What the training scripts of classifiers read."""

import gzip
import pathlib
import struct

import numpy as np
import pytest
from PIL import Image

from cvzoo.datasets.class_splits import class_splits
from cvzoo.errors.exceptions import ConfigError, DatasetError


def photo(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (6, 4), (10, 20, 30)).save(path)


def test_a_folder_a_class_is_read_in_both_parts(tmp_path):
    for place in ("train/cat/a.png", "train/cat/b.png", "train/dog/c.png", "val/cat/d.png", "val/dog/deep/e.png"):
        photo(tmp_path / place)
    train, val, label_names = class_splits(f"folder:{tmp_path}")
    assert label_names == ("cat", "dog")
    assert train.slice[:, "label"][:] == [0, 0, 1]
    assert [pathlib.Path(path).name for path in val.img_paths] == ["d.png", "e.png"]
    img, label = val[1]
    assert img.shape == (3, 4, 6)
    assert label == 1


def test_parts_of_other_classes_are_refused_and_the_classes_named(tmp_path):
    for place in ("train/cat/a.png", "train/dog/b.png", "val/cat/c.png", "val/eel/d.png"):
        photo(tmp_path / place)
    with pytest.raises(DatasetError, match=r"(?s)different classes.*dog.*eel"):
        class_splits(f"folder:{tmp_path}")


def test_a_part_without_photos_is_refused(tmp_path):
    photo(tmp_path / "train/cat/a.png")
    (tmp_path / "val/cat").mkdir(parents=True)
    with pytest.raises(DatasetError, match="val has no image"):
        class_splits(f"folder:{tmp_path}")


@pytest.mark.parametrize(("kind", "n_class", "coarse"), [("cifar10", 10, False), ("cifar100", 100, True)])
def test_the_val_of_cifar_are_its_test_photos(tmp_path, kind, n_class, coarse):
    root = tmp_path / ("cifar-100-binary" if coarse else "cifar-10-batches-bin")
    root.mkdir()
    names = ("train.bin", "test.bin") if coarse else ("data_batch_1.bin", "test_batch.bin")
    for name, labels in zip(names, ([1, 2, 3], [4])):
        head = [[0, label] if coarse else [label] for label in labels]
        pixels = [np.full(3 * 32 * 32, label, np.uint8) for label in labels]
        (root / name).write_bytes(b"".join(bytes(h) + p.tobytes() for h, p in zip(head, pixels)))
    train, val, label_names = class_splits(f"{kind}:{root}")
    assert (len(train), len(val), len(label_names)) == (3, 1, n_class)
    img, label = val[0]
    assert label == 4
    assert (img == 4).all()


def test_the_val_of_mnist_are_its_test_photos(tmp_path):
    for prefix, labels in (("train", [3, 1]), ("t10k", [7])):
        n = len(labels)
        pixels = struct.pack(">4i", 2051, n, 28, 28) + bytes(n * 28 * 28)
        (tmp_path / f"{prefix}-images-idx3-ubyte.gz").write_bytes(gzip.compress(pixels))
        (tmp_path / f"{prefix}-labels-idx1-ubyte.gz").write_bytes(
            gzip.compress(struct.pack(">2i", 2049, n) + bytes(labels))
        )
    train, val, label_names = class_splits(f"mnist:{tmp_path}")
    assert (len(train), len(val), len(label_names)) == (2, 1, 10)
    assert val[0][1] == 7


def test_words_that_name_no_data_are_refused(tmp_path):
    for spec in ("mars:here", "folder", "folder:", ""):
        with pytest.raises(ConfigError, match="folder:ROOT"):
            class_splits(spec)
    for kind in ("folder", "cifar10", "cifar100", "mnist"):
        with pytest.raises(DatasetError):
            class_splits(f"{kind}:{tmp_path}")
