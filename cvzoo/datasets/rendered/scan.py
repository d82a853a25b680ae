"""A sheet on a scanner: flat, grey or white, hardly turned."""

import numpy as np
from PIL import Image

from cvzoo.datasets.rendered.photograph import as_jpeg, bend, blurred, boxes, smooth_noise


def scan(rng, sheet, long):
    """(img (H, W, 3) uint8, bbox, quad): the sheet as a scanner sees it, its longer side `long` pixels."""
    aspect = sheet.height / sheet.width
    on_a4 = aspect < 3 and rng.random() < 0.3
    if on_a4:
        H, W = long, round(long / 1.414)
        fraction = min(rng.uniform(0.35, 0.95), 0.97 * H / (aspect * W))
    else:
        grow = rng.uniform(1.0, 1.08)
        H, W = (long, max(round(long / (aspect * grow)), 64)) if aspect >= 1 else (round(long * aspect * grow), long)
        fraction = rng.uniform(0.94, 1.06)
    scale = max(fraction * W / sheet.width, 0.15)
    canvas, outlines = sheet.print_at(scale, rng)
    h, w = canvas.shape[:2]
    angle = np.deg2rad(rng.normal(0, 0.8) if rng.random() < 0.85 else rng.normal(0, 3))
    offset = (W - w) / 2 + rng.normal(0, 0.01) * W, max((H - h) * (rng.uniform(0, 1) if on_a4 else 0.5), 0)
    if on_a4:
        offset = rng.uniform(0, 1) * (W - w), offset[1]
    forward = _placed(angle, w, h, offset)
    shift = None
    if rng.random() < 0.4:
        a, b, phase = rng.uniform(0, 3), rng.uniform(0.5, 2.5) / H * 2 * np.pi, rng.uniform(0, 6.3)

        def shift(y, x):
            return np.stack([a * np.sin(b * y + phase + x / W), a * np.cos(b * y + phase)], axis=2)

    img, outlines = bend(canvas, outlines, (H, W), forward, shift, (255, 255, 255))
    ink = np.asarray(img, np.float32) / 255
    ink = _fade(rng, ink, (H, W))
    paper = _paper(rng, (H, W), forward, (h, w), on_a4)
    photo = ink * paper
    if rng.random() < 0.7:
        photo += rng.standard_normal((H, W, 1)).astype(np.float32) * rng.uniform(0, 8)
    if rng.random() < 0.15:  # scanned as black and white, or nearly
        middle = 0.35 * np.percentile(photo[::8, ::8], 1) + 0.65 * np.median(photo[::8, ::8])
        photo = (photo - middle) * rng.uniform(1.3, 5) + rng.uniform(100, 160)
    img = Image.fromarray(np.clip(photo, 0, 255).astype(np.uint8))
    img = blurred(img, rng.uniform(0, 0.9) if rng.random() < 0.6 else 0)
    if rng.random() < 0.8:
        img = as_jpeg(img, rng.integers(35, 95))
    bbox, quad, _ = boxes(outlines, (H, W))
    return np.asarray(img), bbox, quad


def _placed(angle, w, h, offset):
    """Turned about its middle and moved: (3, 3)."""
    cos, sin = np.cos(angle), np.sin(angle)
    to_middle = np.array([[1, 0, -w / 2], [0, 1, -h / 2], [0, 0, 1]])
    turned = np.array([[cos, -sin, w / 2 + offset[0]], [sin, cos, h / 2 + offset[1]], [0, 0, 1]])
    return turned @ to_middle


def _fade(rng, ink, size):
    """Ink that a worn print head or years have made uneven."""
    if rng.random() < 0.5:
        return ink
    worn = np.clip(0.75 + smooth_noise(rng, size, (6, 4), 0.25), 0.35, 1)[:, :, None]
    if rng.random() < 0.3:
        worn = worn * np.clip(1 + rng.normal(0, 0.3, (1, size[1], 1)), 0.4, 1)
    return (1 - (1 - ink) * worn).astype(np.float32)


def _paper(rng, size, forward, sheet_size, on_a4):
    """The light that comes back from where nothing is written: (H, W, 3) float32."""
    tint = np.array([1.0, 1.0, 1.0]) if rng.random() < 0.7 else 1 + rng.normal(0, 0.03, 3)
    light = rng.uniform(190, 258) * np.ones(size, np.float32)
    if rng.random() < 0.6:
        light += smooth_noise(rng, size, (rng.integers(2, 9), rng.integers(2, 6)), rng.uniform(2, 14))
    if rng.random() < 0.3:
        light -= np.abs(smooth_noise(rng, size, (40, 20), rng.uniform(1, 8)))
    paper = light[:, :, None] * np.clip(tint, 0.85, 1.05).astype(np.float32)
    return paper
