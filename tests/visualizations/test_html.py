"""What a notebook shows: a picture that is whole, a table that is safe."""

import base64
import re
import xml.etree.ElementTree

import numpy as np
import pytest

from cvzoo.images import encode_jpeg, read_image
from cvzoo.visualizations import detection_html, detection_png, detection_table, draw_bbox

IMG = np.full((3, 40, 60), 99, dtype=np.float32)
BBOX = np.array([[1, 2, 30, 40], [5, 6, 17, 28]], dtype=np.float32)
LABEL, SCORE = np.array([0, 1], np.int32), np.array([0.25, 0.75], np.float32)


def rows(table):
    return [[cell.text for cell in row] for row in xml.etree.ElementTree.fromstring(table)]


def test_the_table_lists_the_best_first_with_spelled_fields():
    assert rows(detection_table(BBOX, LABEL, SCORE, label_names=["cat", "dog"])) == [
        ["label", "score", "y_min", "x_min", "y_max", "x_max"],
        ["dog", "0.750", "5.0", "6.0", "17.0", "28.0"],
        ["cat", "0.250", "1.0", "2.0", "30.0", "40.0"],
    ]


def test_the_table_leaves_out_what_is_not_known():
    assert rows(detection_table(BBOX))[0] == ["y_min", "x_min", "y_max", "x_max"]
    assert rows(detection_table(BBOX, LABEL))[1][0] == "0"
    assert rows(detection_table(np.zeros((0, 4)), [], [])) == [["label", "score", "y_min", "x_min", "y_max", "x_max"]]


def test_the_table_counts_what_it_does_not_list():
    assert rows(detection_table(BBOX.repeat(9, axis=0), max_rows=4))[-1] == ["and 14 more"]
    assert len(rows(detection_table(BBOX.repeat(9, axis=0), max_rows=4))) == 6


def test_the_picture_is_the_drawn_photo():
    drawn = draw_bbox(IMG, BBOX, LABEL, SCORE, label_names=["cat", "dog"])
    np.testing.assert_array_equal(read_image(detection_png(IMG, BBOX, LABEL, SCORE, label_names=["cat", "dog"])), drawn)
    page = detection_html(IMG, BBOX, LABEL, SCORE, label_names=["cat", "dog"])
    (data,) = re.findall(r"data:image/jpeg;base64,([A-Za-z0-9+/=]+)", page)
    np.testing.assert_array_equal(read_image(base64.b64decode(data)), read_image(encode_jpeg(drawn)))


def test_the_picture_of_a_large_photo_full_of_detail_is_a_small_jpeg():
    noise = np.random.default_rng(0).integers(0, 256, (3, 1500, 2000)).astype(np.float32)
    assert len(detection_html(noise, BBOX)) < 500_000  # of a photo a fifth of it, as PNG at 1000 pixels 2 MB


def test_names_are_escaped():
    page = detection_html(IMG, BBOX, LABEL, SCORE, label_names=["<script>alert(1)</script>", '"&'])
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "&quot;&amp;" in page


@pytest.mark.parametrize(("shape", "expected"), [((3, 40, 60), (3, 20, 30)), ((1, 60, 40), (3, 30, 20))])
def test_large_photos_are_shrunk_with_their_boxes(shape, expected):
    img = np.zeros(shape, np.float32)
    bbox = np.array([[10, 10, 30, 30]], np.float32)
    shown = read_image(detection_png(img, bbox, long_side=30))
    np.testing.assert_array_equal(shown, draw_bbox(np.zeros(expected), bbox / 2))
