"""Boxes against the ink itself, run by run, after whatever bends the paper and before anything disturbs the photo."""

import dataclasses

import numpy as np
import pytest
from rendered_documents.fonts import fonts_of
from rendered_documents.photograph import bend, boxes
from rendered_documents.receipt import draw_receipt
from rendered_documents.sheet import Sheet, Writing, ink_outline

SIZE = 500, 400


def lay(rng, width, height, *, tilt, wave):
    """(forward, shift) of a sheet that fills most of the photo."""
    angle = np.deg2rad(rng.uniform(-tilt, tilt))
    scale = min(SIZE[0] / height, SIZE[1] / width)
    cos, sin = scale * np.cos(angle), scale * np.sin(angle)
    forward = np.array([[cos, -sin, SIZE[1] / 2], [sin, cos, SIZE[0] / 2], [tilt * 3e-6, tilt * 4e-6, 1]])
    forward = forward @ np.array([[1, 0, -width / 2], [0, 1, -height / 2], [0, 0, 1]])

    def shift(y, x):
        return np.stack([wave * np.sin(y / 90 + x / 70), wave * np.cos(y / 110)], axis=2)

    return forward, shift if wave else None


def only(sheet, mark):
    alone = Sheet(sheet.width)
    alone.height, alone.marks = sheet.height, [dataclasses.replace(mark, color=(0, 0, 0))]
    return alone


@pytest.mark.parametrize(
    ("seed", "tilt", "wave"), [(0, 0, 0), (1, 2, 0), (2, 12, 0), (3, 2, 3), (4, 12, 5), (5, 30, 2)]
)
def test_a_run_lies_within_its_box_and_fills_it(seed, tilt, wave):
    rng = np.random.default_rng(seed)
    sheet = draw_receipt(rng, fonts_of(()))
    scale = 1.3 * SIZE[1] / sheet.width
    n_seen = 0
    for mark in [mark for mark in sheet.marks if isinstance(mark, Writing) and mark.is_boxed][::2]:
        canvas, outlines = only(sheet, mark).print_at(scale)
        forward, shift = lay(np.random.default_rng(seed), *canvas.size, tilt=tilt, wave=wave)
        img, seen = bend(canvas, outlines, SIZE, forward, shift, 255)
        bbox, quad, kept = boxes(seen, SIZE)
        ink = 255 - np.asarray(img)
        if len(kept) == 0:
            continue
        n_seen += 1
        y, x = np.nonzero(ink > 90)
        dark = np.array([y.min(), x.min(), y.max() + 1, x.max() + 1])
        y, x = np.nonzero(ink > 25)
        faint = np.array([y.min(), x.min(), y.max() + 1, x.max() + 1])
        inside = np.concatenate([dark[:2] - bbox[0][:2], bbox[0][2:] - dark[2:]])
        assert inside.min() > -1, f"{mark.text}: ink {dark} leaves its box {bbox[0]}"
        loose = np.concatenate([faint[:2] - bbox[0][:2], bbox[0][2:] - faint[2:]])
        assert loose.max() < 2, f"{mark.text}: box {bbox[0]} is wider than the ink {faint}"
        corners = np.concatenate([quad[0].min(axis=0), quad[0].max(axis=0)])
        assert (np.concatenate([bbox[0][:2] - corners[:2], corners[2:] - bbox[0][2:]]) > -1).all()
    assert n_seen > 8


def test_a_box_is_cut_at_the_edge_and_dropped_when_little_is_left():
    def outline(y0, x0, y1, x1):
        return np.array([(y0, x0), (y0, x1), (y1, x0), (y1, x1)], np.float32)

    outlines = [
        outline(10, 10, 20, 40),
        outline(-4, 10, 10, 40),  # a little cut
        outline(-8, 10, 4.5, 40),  # more than half is gone
        outline(50, -20, 60, -1),  # not there
        outline(50, 90, 60, 130),
        outline(70, 10, 73, 40),  # too small to read
    ]
    bbox, quad, kept = boxes(outlines, (100, 100))
    assert kept.tolist() == [0, 1, 4]
    np.testing.assert_array_equal(bbox, [(10, 10, 20, 40), (0, 10, 10, 40), (50, 90, 60, 100)])
    np.testing.assert_array_equal(quad[0], [(10, 10), (10, 40), (20, 40), (20, 10)])


def test_no_run_no_box():
    bbox, quad, kept = boxes([], (10, 10))
    assert bbox.shape == (0, 4)
    assert quad.shape == (0, 4, 2)
    assert len(kept) == 0


def test_an_outline_is_cut_at_the_canvas_and_none_without_ink():
    ink = np.full((6, 9), 255, np.uint8)
    outline = ink_outline(ink, -2, 5, 20, 10)
    np.testing.assert_array_equal(outline.min(axis=0), (0, 5))
    np.testing.assert_array_equal(outline.max(axis=0), (4, 10))
    assert ink_outline(ink, -6, 0, 20, 10) is None
    assert ink_outline(ink // 8, 0, 0, 20, 10) is None
