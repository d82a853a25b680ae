import base64
import textwrap

import layouts
import mat_writer
import numpy as np
import pytest
from conformance_cases import assert_pickles

from cvzoo.datasets import SBDInstanceSegmentationDataset, assert_is_instance_segmentation_dataset
from cvzoo.datasets.mat_file import read_mat
from cvzoo.errors.exceptions import DatasetError, FileFormatError

# written by SciPy 1.x (savemat, compressed): GTinst with Segmentation (6, 5) uint8, two sparse Boundaries, Categories
BY_SCIPY = """
TUFUTEFCIDUuMCBNQVQtZmlsZSBQbGF0Zm9ybTogcG9zaXgsIENyZWF0ZWQgb246IFNhdCBOb3YgMjEgMDI6MTg6MDggMjAyNgAAAAAAAAAAAA
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABSU0PAAAAwAAAAHichVDNCsIwDE7DVhR0etzJq1efQQ9eBX2BgWXu
YAtbBR/fZCa0jKEpX/P3kS9tBQA1AljyCwKFo5WSmwzMOd86P0TuF7CW+p5wde3T+djELng4hpe/N33nBuqcmujaIAlUhAskveVEz0pspM777D
RGMEZupihH59YmzdWezsXsHcp/Z3uUmLTn9uC4lhxnvPbVuFbIHCu5HZdm++o/JvrFH/0tJI76XFc1cyDdrMh6hx//Pv0fpLPaAHwABa0Tkw==
"""


def test_a_file_of_scipy_is_read(tmp_path):
    (tmp_path / "x.mat").write_bytes(base64.b64decode(textwrap.dedent(BY_SCIPY)))
    found = read_mat(tmp_path / "x.mat")["GTinst"]
    expected = np.zeros((6, 5))
    expected[1:3, 1:4], expected[4:, :2] = 1, 2
    np.testing.assert_array_equal(found["Segmentation"], expected)
    assert found["Segmentation"].dtype == np.uint8
    np.testing.assert_array_equal(found["Categories"], [[12], [15]])
    assert found["Boundaries"] is None


@pytest.mark.parametrize("compressed", [False, True])
def test_arrays_of_all_types_come_back(tmp_path, compressed):
    values = {f"x{dtype}": np.arange(6).reshape(2, 3).astype(dtype) for dtype in ("u1", "i2", "i4", "f4", "f8", "u8")}
    (tmp_path / "x.mat").write_bytes(mat_writer.mat(values, compressed))
    found = read_mat(tmp_path / "x.mat")
    for name, value in values.items():
        assert found[name].dtype == value.dtype
        np.testing.assert_array_equal(found[name], value)


@pytest.mark.parametrize("kept", [0, 100, 130, 140, 200, -9])
def test_files_that_are_cut_off_are_named(tmp_path, kept):
    data = mat_writer.mat({"a": np.ones((4, 5)), "b": {"c": np.ones((2, 2), np.uint8)}}, False)
    (tmp_path / "x.mat").write_bytes(data[:kept])
    with pytest.raises(FileFormatError, match=r"x\.mat"):
        read_mat(tmp_path / "x.mat")


@pytest.mark.parametrize("seed", range(200))
def test_damaged_files_are_an_error_or_an_answer(tmp_path, seed):
    rng = np.random.default_rng(seed)
    data = bytearray(mat_writer.mat({"a": np.ones((4, 5)), "b": {"c": np.ones((2, 2), np.uint8)}}, seed % 2 == 1))
    for at in rng.integers(126, len(data), 3):
        data[at] = rng.integers(256)
    (tmp_path / "x.mat").write_bytes(data)
    try:
        read_mat(tmp_path / "x.mat")
    except FileFormatError:
        pass


def sbd(root):
    folder = root / "benchmark_RELEASE/dataset"
    numbers = np.zeros(layouts.SIZE, np.uint8)
    numbers[3:9, 4:20], numbers[12:, :9] = 1, 2
    for name in "abc":
        layouts.photo(folder / f"img/{name}.jpg")
        for kind, variable, values in (("inst", "GTinst", numbers), ("cls", "GTcls", numbers * 7)):
            (folder / kind).mkdir(exist_ok=True)
            (folder / f"{kind}/{name}.mat").write_bytes(mat_writer.mat({variable: {"Segmentation": values}}, True))
    for name, ids in (("train", "a"), ("val", "b\nc"), ("train_noval", "a\nc")):
        layouts.write(folder / f"{name}.txt", ids + "\n")
    return folder


def test_sbd_keeps_the_rules_and_is_cut_as_chainercv_cuts_it(tmp_path):
    root = sbd(tmp_path)
    dataset = SBDInstanceSegmentationDataset(root)
    assert_is_instance_segmentation_dataset(dataset, 20)
    assert_pickles(dataset)
    np.testing.assert_array_equal(dataset[0][2], [6, 13])
    names = {split: SBDInstanceSegmentationDataset(tmp_path, split)._ids for split in ("train", "val", "trainval")}
    assert names == {"train": ["a", "c"], "val": ["b"], "trainval": ["a", "b", "c"]}
    (root / "cls/a.mat").write_bytes(mat_writer.mat({"GTcls": np.ones((2, 2))}, False))
    with pytest.raises(DatasetError, match=r"a\.mat"):
        dataset[0]
