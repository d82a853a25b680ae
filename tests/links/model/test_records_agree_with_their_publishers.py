"""Every record of the zoo against the publishers' own lists in ../shared/reference, so that no digit was mistyped."""

import json
import re

import pytest

from cvzoo.links.model.families import zoo_members
from cvzoo.weights.record import name_digits

RECORDS = {record.url: record for member in zoo_members() for record in member.files}
CHAINERCV = "https://chainercv-models.preferred.jp/"


def entries(shared, name):
    """address -> what the publisher says of the file"""
    listed = json.loads((shared / "reference" / f"{name}_weights.json").read_text())
    return {entry["url"]: entry for entry in listed if entry.get("url")}


def shares(numbers):
    """Per cents as shares, as records have them."""
    return {round(number / 100, 5) for number in numbers}


def ours(published):
    """(record, entry) of the files that the zoo has."""
    found = [(record, published[url]) for url, record in RECORDS.items() if url in published]
    assert found
    return found


def test_a_file_has_one_record():
    by_name = {}
    for member in zoo_members():
        for record in member.files:
            assert by_name.setdefault(record.name, record.url) == record.url


def test_torchvisions_records(shared):
    for record, entry in ours(entries(shared, "torchvision")):
        assert f"{entry['enum']}.{entry['member']}" in record.source, record.name
        published = {number for numbers in entry["metrics"].values() for number in numbers.values()}
        assert set(record.score.values()) <= shares(published), record.name
        assert record.score, record.name
        assert name_digits(record.file_name).startswith(entry["sha256_prefix"]), record.name
        size = record.size or record.about_size
        if size is not None:
            assert size / 2**20 == pytest.approx(entry["file_size_mb"], abs=1e-3), record.name
        if entry["license"]:  # a link to CC-BY-NC-4.0
            assert "NC" in record.licence, record.name
        if entry["transforms"]["preset"] == "ImageClassification":
            assert prepared(entry) <= words_of(record), record.name


def test_timms_records(shared):
    torchvision = entries(shared, "torchvision")  # timm lists some of its files, too, as measured by timm
    published = {url: entry for url, entry in entries(shared, "timm").items() if url not in torchvision}
    for record, entry in ours(published):
        result = entry["result"]
        assert dict(record.score) == {
            "top1": round(float(result["top1"]) / 100, 5),
            "top5": round(float(result["top5"]) / 100, 5),
        }, record.name
        assert record.licence.lower().startswith(entry["license"]), record.name
        size = int(result["img_size"])
        short = int(size / float(result["crop_pct"]))
        assert f"short side {short} ({result['interpolation']}" in record.preprocessing, record.name
        assert f"middle {size} x {size}" in record.preprocessing, record.name


def test_gluons_records(shared):
    published = entries(shared, "gluoncv")
    for record in RECORDS.values():
        if "apache-mxnet" in record.url:
            entry = published[record.url]
            assert entry["sha1"].startswith(name_digits(record.file_name))


def test_detectron2s_records(shared):
    for record, entry in ours(entries(shared, "detectron2")):
        published = {value for name, value in entry.items() if "AP" in name and isinstance(value, float)}
        assert set(record.score.values()) <= shares(published), record.name
        assert record.licence.replace(" ", "-").startswith("CC-BY-SA-3.0"), record.name


def test_chainercvs_records(shared):
    lines = (shared / "reference" / "originals.md").read_text().splitlines()
    found = [record for url, record in RECORDS.items() if url.startswith(CHAINERCV)]
    assert found
    for record in found:
        date = re.search(r"_((?:converted|trained)_\d{4}_\d\d_\d\d)\.npz$", record.url)[1]
        alike = lines_about(record.file_name, lines)  # one may refer to another: "same pattern"
        assert any(date in line for line in alike), record.name
        said = " ".join(alike)
        numbers = {float(number) for number in re.findall(r"\d+\.\d+", said)}
        for score in record.score.values():
            right, wrong = round(100 * score, 3), round(100 - 100 * score, 3)  # some tables give errors
            assert right in numbers or wrong in numbers, record.name


def lines_about(file_name, lines):
    """The lines that name the class of the file: "SEResNet50/101/152" of "se_resnet101_imagenet_..."."""
    words = file_name.split("_")
    for n in range(len(words), 0, -1):
        name = "".join(words[:n]).rstrip("0123456789")
        found = [line for line in lines if name in line.lower()]
        if found:
            return found
    return []


def prepared(entry):
    how = entry["transforms"]
    if entry["enum"] in ("GoogLeNet_Weights", "Inception_V3_Weights"):
        # the network itself brings ImageNet's statistics to a mean and deviation of a half
        how = how | {"mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5)}
    return {
        f"short side {how['resize_size']} ({how['interpolation']}",
        f"middle {how['crop_size']} x {how['crop_size']}",
        f"({', '.join(f'{value:.5g}' for value in how['mean'])})",
        f"({', '.join(f'{value:.5g}' for value in how['std'])})",
    }


def words_of(record):
    text = record.preprocessing
    return set(re.findall(r"short side \d+ \(\w+|middle \d+ x \d+|\([\d., ]+\)", text))
