import hashlib
import zipfile

import pytest

from cvzoo.weights.name_digits import file_hashes, published_as
from cvzoo.weights.record import Weights, name_digits


def record(file, sha256=None):
    return Weights(
        name="x",
        url=f"https://example.org/{file}",
        sha256=sha256,
        licence="MIT",
        data="none",
        data_licence="none",
        source="test",
    )


@pytest.mark.parametrize(
    ("name", "digits"),
    [
        ("resnet50-0676ba61.pth", "0676ba61"),
        ("model_final_b275ba.pkl", "b275ba"),
        ("mnasnet0.5_top1_67.823-3ffadce67e.pth", "3ffadce67e"),
        ("ssd_300_vgg16_atrous_voc-0e169fbb.zip", "0e169fbb"),
        ("ssd300_voc0712_converted_2017_06_06.npz", None),
        ("yolo_20180601.pth", None),  # a date
        ("vgg13-19584684.pth", "19584684"),  # no date
        ("resnet50.pth", None),
        ("resnet50-0676ba61", None),
    ],
)
def test_the_digits_of_names(name, digits):
    assert name_digits(name) == digits


@pytest.mark.parametrize("kind", ["sha256", "sha1", "md5"])
def test_a_file_is_known_by_any_hash_that_publishers_use(write, kind):
    path = write(b"numbers")
    digits = hashlib.new(kind, b"numbers").hexdigest()[:8]
    said = published_as(record(f"x-{digits}.pth"), file_hashes(path))
    assert kind in said
    assert digits in said
    assert not published_as(record("x-01234567.pth"), file_hashes(path))
    assert not published_as(record("x.pth"), file_hashes(path))


def test_a_whole_hash_counts_more_than_digits(write):
    path = write(b"numbers")
    hashes = file_hashes(path)
    assert published_as(record("x-01234567.pth", hashes["sha256"]), hashes)
    assert not published_as(record(f"x-{hashes['sha256'][:8]}.pth", "0" * 64), hashes)


def test_of_gluons_zip_the_params_inside_are_hashed(tmp_path):
    data = b"\x12\x01" + bytes(30)
    with zipfile.ZipFile(tmp_path / "net.zip", "w") as archive:
        archive.writestr("net.params", data)
    assert file_hashes(tmp_path / "net.zip")["sha1"] == hashlib.sha1(data).hexdigest()


def test_a_broken_zip_has_hashes_all_the_same(write):
    path = write(b"PK\x05\x06" + bytes(4))
    assert file_hashes(path)["md5"] == hashlib.md5(b"PK\x05\x06" + bytes(4)).hexdigest()
