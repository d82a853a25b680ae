"""A scanned sheet: flat, gray or white, slightly rotated."""

import numpy as np
from PIL import Image

from rendered_documents.photograph import as_jpeg, bend, blurred, boxes, grain, light_size, smooth_noise, spread


def scan(rng, sheet, long):
    """(img (H, W, 3) uint8, bbox, quad): the scanned sheet, its longer side `long` pixels."""
    size, scale, offset = _framed(rng, sheet, long)
    canvas, outlines = sheet.print_at(scale)
    angle = np.deg2rad(rng.normal(0, 0.7) if rng.random() < 0.85 else rng.normal(0, 3))
    forward = placed(angle, canvas.width, canvas.height, offset)
    shift = _waves(rng, size) if rng.random() < 0.4 else None
    fill = 255 if canvas.mode == "L" else (255, 255, 255)
    img, outlines = bend(canvas, outlines, size, forward, shift, fill)
    ink = np.asarray(img, np.float32).reshape(*size, -1) / 255
    photo = fade(rng, ink, size) * _paper(rng, size, ink.shape[2] == 1)
    photo = _edges(rng, photo, size)
    if rng.random() < 0.75:
        photo = photo + grain(rng, size, rng.uniform(0, 9))
    if rng.random() < 0.2:  # scanned as black and white, or nearly
        middle = 0.35 * np.percentile(photo[::8, ::8], 1) + 0.65 * np.median(photo[::8, ::8])
        photo = (photo - middle) * rng.uniform(1.3, 5) + rng.uniform(100, 160)
    img = Image.fromarray(np.clip(photo, 0, 255).astype(np.uint8).squeeze())
    if rng.random() < 0.6:
        img = blurred(img, rng.uniform(0, 0.9))
    if rng.random() < 0.8:
        img = as_jpeg(img, rng.integers(35, 95))
    bbox, quad, _ = boxes(outlines, size)
    return np.asarray(img.convert("RGB")), bbox, quad


def _framed(rng, sheet, long):
    """((H, W), pixels per unit, (x, y) of the sheet's corner): the image has the size of the sheet or of an A4 page."""
    aspect = sheet.height / sheet.width
    if 1.3 < aspect < 3.5 and rng.random() < 0.3:
        h, w = long, round(long / 1.414)
        width = min(rng.uniform(0.35, 0.9), rng.uniform(0.85, 0.99) * h / (aspect * w)) * w
        at = rng.choice([0, rng.uniform(0, 1), 0.5]) * (w - width), rng.uniform(0, 1) * (h - aspect * width)
        return (h, w), width / sheet.width, at
    fraction = rng.uniform(0.9, 1.05)
    tall = aspect * fraction * rng.uniform(0.97, 1.1)
    h, w = (long, max(round(long / tall), 96)) if tall >= 1 else (max(round(long * tall), 96), long)
    width = fraction * w
    at = (w - width) * rng.uniform(0.3, 0.7), max(h - aspect * width, 0) * rng.uniform(0, 1)
    return (h, w), width / sheet.width, at


def placed(angle, w, h, offset):
    """A rotation around the center and a shift: (3, 3)."""
    cos, sin = np.cos(angle), np.sin(angle)
    to_middle = np.array([[1, 0, -w / 2], [0, 1, -h / 2], [0, 0, 1]])
    turned = np.array([[cos, -sin, w / 2 + offset[0]], [sin, cos, h / 2 + offset[1]], [0, 0, 1]])
    return turned @ to_middle


def _waves(rng, size):
    """Paper that was fed unevenly: a shift for `bend`."""
    high, often, phase = rng.uniform(0, 3), rng.uniform(0.5, 2.5) / size[0] * 2 * np.pi, rng.uniform(0, 6.3)

    def shift(y, x):
        return high * np.stack([np.sin(often * y + phase + x / size[1]), np.cos(often * y + phase)], axis=2)

    return shift


def fade(rng, ink, size):
    """Ink (H, W, C) with the unevenness of a worn print head, cheap paper or age."""
    lack = 1 - ink
    if rng.random() < 0.5:
        worn = np.clip(0.8 + smooth_noise(rng, light_size(size), (7, 4), 0.25), 0.35, 1)
        if rng.random() < 0.3:  # defective dots of the print head
            worn = worn * np.clip(1 + rng.normal(0, 0.3, (1, worn.shape[1])), 0.4, 1).astype(np.float32)
        lack *= spread(worn, size)[:, :, None]
    if rng.random() < 0.35:  # gaps by the grain of the paper
        lack *= np.clip(1 + grain(rng, size, rng.uniform(0.2, 0.7)), 0, 1)
    return 1 - lack


def _paper(rng, size, is_grey):
    """The brightness of blank paper: (H, W, 1 or 3) float32."""
    small = light_size(size)
    light = np.full(small, rng.uniform(185, 258), np.float32)
    if rng.random() < 0.6:
        light += smooth_noise(rng, small, (rng.integers(2, 9), rng.integers(2, 6)), rng.uniform(2, 14))
    if rng.random() < 0.3:
        light -= np.abs(smooth_noise(rng, small, (40, 20), rng.uniform(1, 8)))
    for _ in range(int(rng.choice([0, 0, 1, 2, 4]))):
        crease(rng, light)
    if rng.random() < 0.15:  # show-through from the back
        shine = smooth_noise(rng, small, (size[0] // 12, 10), 1.0)
        light -= rng.uniform(5, 18) * (shine > 0.8)
    light = spread(np.minimum(light, 255), size)[:, :, None]
    if is_grey and rng.random() < 0.7:
        return light
    return light * np.clip(1 + rng.normal(0, 0.025, 3), 0.9, 1.0).astype(np.float32)


def crease(rng, light):
    """Darken or lighten along a line, as a fold does: the illumination map (h, w) is changed in place."""
    h, w = light.shape
    angle = rng.choice([0, np.pi / 2, rng.uniform(0, np.pi)]) + rng.normal(0, 0.05)
    y = (np.arange(h, dtype=np.float32)[:, None] - rng.uniform(0, h)) * np.cos(angle)
    x = (np.arange(w, dtype=np.float32)[None] - rng.uniform(0, w)) * np.sin(angle)
    across = ((y + x) / rng.uniform(0.6, 8)).astype(np.float32)
    light += np.float32(np.clip(rng.normal(0, 9), -25, 25)) * across / (1 + across * across) * 2


def _edges(rng, photo, size):
    """Where the paper ends the scanner's lid begins: dark or bright strips, or the edge's shadow."""
    h, w = size
    for side in range(4):
        if rng.random() > 0.12:
            continue
        reach = int(rng.uniform(0.004, 0.035) * w)
        slope = int(rng.normal(0, 0.01) * h)
        shade = rng.choice([rng.uniform(0, 40), rng.uniform(100, 230)])
        along = np.arange(h if side < 2 else w)
        depth = np.clip(reach + slope * along / len(along), 0, None)[:, None]
        strip = np.arange(w if side < 2 else h)[None] < depth
        strip = strip if side in (0, 2) else strip[:, ::-1]
        strip = strip if side < 2 else strip.T
        photo = np.where(strip[:, :, None], np.float32(shade), photo)
    return photo
