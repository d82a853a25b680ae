"""A sheet on a desk in a hand-held camera's image: tilted, unevenly lit, possibly with fingers at its edge."""

import numpy as np
from PIL import Image

from rendered_documents.photograph import as_jpeg, bend, blurred, boxes, grain, light_size, smooth_noise, spread
from rendered_documents.scan import crease, fade


def on_desk(rng, sheet, long):
    """(img (H, W, 3) uint8, bbox, quad): the camera's image of the sheet, its longer side `long` pixels."""
    size, scale = _framed(rng, sheet, long)
    canvas, outlines = sheet.print_at(scale)
    forward = _seen_from(rng, canvas.size, size)
    shift = _curl(rng, size) if rng.random() < 0.6 else None
    img, outlines = bend(canvas, outlines, size, forward, shift, 255 if canvas.mode == "L" else (255, 255, 255))
    cover, _ = bend(Image.new("L", canvas.size, 255), [], size, forward, shift, 0)
    cover = np.asarray(cover, np.float32)[:, :, None] / 255
    ink = np.asarray(img, np.float32).reshape(*size, -1) / 255
    paper = rng.uniform(0.72, 1.0, 3) if rng.random() < 0.3 else rng.uniform(0.95, 1.0, 3)
    paper = np.float32(rng.uniform(190, 255)) * paper.astype(np.float32)
    photo = fade(rng, ink, size) * paper * cover + _desk(rng, size) * (1 - cover)
    if rng.random() < 0.2:
        _fingers(rng, photo)
    photo = photo * _light(rng, size) * rng.uniform(0.92, 1.06, 3).astype(np.float32)
    photo = photo + grain(rng, size, rng.uniform(0, 12))
    img = blurred(Image.fromarray(np.clip(photo, 0, 255).astype(np.uint8)), rng.uniform(0, 1.2))
    if rng.random() < 0.9:
        img = as_jpeg(img, rng.integers(30, 95))
    bbox, quad, _ = boxes(outlines, size)
    return np.asarray(img.convert("RGB")), bbox, quad


def _framed(rng, sheet, long):
    """((H, W), pixels per unit): the sheet covers between two thirds and slightly more than the whole image."""
    height, width = sheet.height * rng.uniform(0.98, 1.5), sheet.width * rng.uniform(0.98, 1.5)
    scale = long / max(height, width)
    return (max(round(height * scale), 96), max(round(width * scale), 96)), scale


def _seen_from(rng, sheet, size):
    """(3, 3): the homography from the sheet (W, H) to the image (H, W), with rotation, shift and tilt."""
    (w, h), angle = sheet, np.deg2rad(rng.normal(0, 1.2))
    tilt = rng.normal(0, 0.04, 2) / (w, h)
    to_middle = np.array([[1, 0, -w / 2], [0, 1, -h / 2], [0, 0, 1]])
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [*tilt, 1]])
    free = np.maximum(np.array([size[1] - w, size[0] - h]), 0) / 2
    x, y = np.array([size[1], size[0]]) / 2 + free * rng.uniform(-0.8, 0.8, 2)
    return np.array([[1, 0, x], [0, 1, y], [0, 0, 1]]) @ turn @ to_middle


def _curl(rng, size):
    """The shift for `bend` of paper that is not flat."""
    waves = rng.uniform(-1, 1, (3, 2)) * min(size) * 0.006
    often = rng.uniform(0.3, 1.5, (3, 2)) * 2 * np.pi / max(size)
    phase = rng.uniform(0, 2 * np.pi, 3)

    def shift(y, x):
        angle = often[:, 0] * y[..., None] + often[:, 1] * x[..., None] + phase
        return np.sin(angle) @ waves

    return shift


def _desk(rng, size):
    """The background: wood, cloth, stone or one color, (H, W, 3) float32."""
    small = light_size(size)
    kind = rng.integers(4)
    field = smooth_noise(rng, small, (3, 3), 0.4)
    if kind == 0:
        x = np.arange(small[1], dtype=np.float32)
        field = field + np.sin(x * np.float32(rng.uniform(0.1, 1.2)) + 6 * field) * 0.5
    elif kind == 1:
        field = field + smooth_noise(rng, small, (small[0] // 3, small[1] // 3), 0.6)
    elif kind == 2:
        field = field + smooth_noise(rng, small, (small[0] // 12, small[1] // 12), 0.8)
    field = spread(field.astype(np.float32), size)[:, :, None]
    return rng.uniform(15, 210, 3).astype(np.float32) + np.float32(rng.uniform(4, 30)) * field


def _light(rng, size):
    """The illumination map: (H, W, 1) float32."""
    small = light_size(size)
    light = 0.85 + smooth_noise(rng, small, (2, 2), rng.uniform(0.02, 0.14))
    if rng.random() < 0.4:  # a shadow
        angle = rng.uniform(0, 2 * np.pi)
        y = np.arange(small[0], dtype=np.float32)[:, None] - rng.uniform(0, small[0])
        x = np.arange(small[1], dtype=np.float32)[None] - rng.uniform(0, small[1])
        across = np.clip((y * np.cos(angle) + x * np.sin(angle)) / rng.uniform(1, 15), -20, 20)
        light = light * (1 - rng.uniform(0.1, 0.5) / (1 + np.exp(across)))
    light = np.clip(light, 0.25, 1.1).astype(np.float32) * 255
    for _ in range(int(rng.choice([0, 1, 3]))):
        crease(rng, light)
    return spread(light, size)[:, :, None] / 255


def _fingers(rng, photo):
    """Fingers that hold the sheet at its left or right edge are drawn into the image."""
    h, w = photo.shape[:2]
    skin = np.array([214, 165, 135], np.float32) * np.float32(rng.uniform(0.4, 1.1))
    edge, thick = rng.choice([0, w]), rng.uniform(0.03, 0.06) * w
    middle = rng.uniform(0.3, 0.85) * h
    y, x = np.arange(h, dtype=np.float32)[:, None], np.arange(w, dtype=np.float32)[None]
    for k in range(rng.integers(1, 5)):
        reach = rng.uniform(0.02, 0.09) * w
        far = ((y - middle - 2.1 * k * thick) / thick) ** 2 + ((x - edge) / reach) ** 2
        shade = np.clip(1.15 - 0.4 * far, 0.6, 1.15)[:, :, None].astype(np.float32)
        np.copyto(photo, skin * shade, where=(far < 1)[:, :, None])
