"""Lists of images, and data sets that say how one example is read."""

import numpy as np
import pytest

import cvzoo
from cvzoo.dataset import DatasetMixin, concat_examples, to_device
from cvzoo.datasets import ImageDataset
from cvzoo.errors.exceptions import DatasetError, ExampleIndexError, ReplacedNameError
from cvzoo.images import write_image


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "photos").mkdir()
    for k in range(3):
        write_image(np.full((3, 4, 5), 20.0 * k, np.float32), tmp_path / "photos" / f"{k}.png")
    (tmp_path / "list.txt").write_text("photos/1.png\n\n  photos/0.png\n")
    return tmp_path


def test_a_text_file_lists_images(folder):
    dataset = ImageDataset(folder / "list.txt")
    assert len(dataset) == 2
    assert (dataset[0].shape, dataset[0].dtype, dataset[0].max()) == ((3, 4, 5), "float32", 20)
    assert dataset.img_paths[1].endswith("0.png")
    assert [img.max() for img in dataset[:]] == [20, 0]


def test_paths_may_be_given_and_images_be_grey(folder):
    dataset = ImageDataset(["2.png", folder / "photos" / "0.png"], root=folder / "photos", color=False)
    assert dataset[0].shape == (1, 4, 5)
    assert dataset[1].max() == 0


def test_what_cannot_be_read_is_named(folder):
    with pytest.raises(DatasetError, match="no such file"):
        ImageDataset(folder / "none.txt")
    (folder / "list.txt").write_text("../other.png\n")
    with pytest.raises(DatasetError, match=r"other\.png"):
        ImageDataset(folder / "list.txt")


class Squares(DatasetMixin):
    def __len__(self):
        return 4

    def get_example(self, i):
        return i * i


def test_a_data_set_is_what_gives_examples():
    assert Squares()[3] == Squares()[-1] == 9
    assert Squares()[1:3] == [1, 4]
    assert Squares()[[0, 3, -2]] == [0, 9, 4]
    assert list(Squares()) == [0, 1, 4, 9]
    with pytest.raises(ExampleIndexError, match="no example 4"):
        Squares()[4]


def test_chainers_names_of_data_sets_are_there_or_say_what_to_use():
    np.testing.assert_array_equal(concat_examples([np.zeros(2), np.ones(2)]), [[0, 0], [1, 1]])
    x = np.ones(2)
    assert to_device(None, x) is to_device("cpu", x) is x
    assert cvzoo.dataset.Iterator is cvzoo.iterators.AbstractIterator
    for room, name in (("dataset", "TabularDataset"), ("datasets", "get_mnist")):
        with pytest.raises(ReplacedNameError, match=f"has no {name}: use "):
            getattr(getattr(cvzoo, room), name)
