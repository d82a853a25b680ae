"""A photo of a printed sheet: where it lies, how it is bent and lit, and what the camera does to it."""

import io

import numpy as np
from PIL import Image, ImageFilter

_CELL = 32  # pixels of the photo between nodes of a bend


def bend(canvas, outlines, size, forward, shift, fill):
    """(img, outlines): the sheet as it lies in a photo.

    canvas: an image, RGB or L; outlines: arrays (P, 2) of (y, x) on it; size: (H, W) of the photo
    forward: (3, 3), takes (x, y, 1) on the sheet to the photo; shift: a function of (y, x) in the photo that gives
    how far beside its flat place (dy, dx) the sheet is seen, in pixels of the sheet, or None; fill: what is around it
    """
    h, w = size
    grid_h, grid_w = -(-h // _CELL) + 1, -(-w // _CELL) + 1
    y, x = np.mgrid[:grid_h, :grid_w].astype(np.float64) * _CELL
    backward = np.linalg.inv(forward)
    nodes = _apply(backward, np.stack([y, x], axis=2))
    nodes += shift(y, x) if shift is not None else 0
    cells = []
    for i in range(grid_h - 1):
        for j in range(grid_w - 1):
            corners = nodes[i, j], nodes[i + 1, j], nodes[i + 1, j + 1], nodes[i, j + 1]
            box = j * _CELL, i * _CELL, (j + 1) * _CELL, (i + 1) * _CELL
            cells.append((box, tuple(float(v) for corner in corners for v in corner[::-1])))
    whole = (grid_w - 1) * _CELL, (grid_h - 1) * _CELL
    img = canvas.transform(whole, Image.Transform.MESH, cells, Image.Resampling.BILINEAR, fillcolor=fill)
    return img.crop((0, 0, w, h)), _follow(outlines, nodes, forward, backward)


def _apply(matrix, points):
    """Points (..., 2) of (y, x) through a matrix of (x, y, 1)."""
    moved = np.concatenate([points[..., ::-1], np.ones_like(points[..., :1])], axis=-1) @ matrix.T
    return (moved[..., :2] / moved[..., 2:])[..., ::-1]


def _follow(outlines, nodes, forward, backward):
    """Where the points of the outlines are seen: the bend is known backwards only, so it is undone step by step."""
    if not outlines:
        return []
    aim = np.concatenate(outlines).astype(np.float64)
    flat, seen = aim, _apply(forward, aim)
    for _ in range(4):
        flat = flat - (_between(nodes, seen) - aim)
        seen = _apply(forward, flat)
    return np.split(seen.astype(np.float32), np.cumsum([len(outline) for outline in outlines])[:-1])


def _between(nodes, points):
    """The grid's values at points, linear between nodes, as the mesh has them."""
    at = points / _CELL
    cell = np.clip(np.floor(at).astype(int), 0, np.array(nodes.shape[:2]) - 2)
    fy, fx = np.moveaxis(at - cell, -1, 0)[..., None]
    i, j = cell.T
    top = nodes[i, j] * (1 - fx) + nodes[i, j + 1] * fx
    bottom = nodes[i + 1, j] * (1 - fx) + nodes[i + 1, j + 1] * fx
    return top * (1 - fy) + bottom * fy


def boxes(outlines, size, least=4.0):
    """(bbox (R, 4), quad (R, 4, 2)) float32 of the outlines that are seen, and which they are: (R,) int64.

    A run that is cut by the photo's edge keeps what is seen of it, unless that is less than half its height or under
    `least` pixels high or wide.
    """
    bboxes, quads, kept = [], [], []
    for k, outline in enumerate(outlines):
        top, left = outline.min(axis=0)
        bottom, right = outline.max(axis=0)
        cut_top, cut_left, cut_bottom, cut_right = max(top, 0), max(left, 0), min(bottom, size[0]), min(right, size[1])
        if cut_bottom - cut_top < max(least, 0.5 * (bottom - top)) or cut_right - cut_left < 0.6 * least:
            continue
        bboxes.append((cut_top, cut_left, cut_bottom, cut_right))
        quads.append(_quad(outline))
        kept.append(k)
    return (
        np.array(bboxes, np.float32).reshape(-1, 4),
        np.array(quads, np.float32).reshape(-1, 4, 2),
        np.array(kept, np.int64),
    )


def _quad(outline):
    """Four corners around an outline, parallel to its run: top left, top right, bottom right, bottom left, (y, x).

    The outline lists tops of columns from left to right and then again, then bottoms; its first and last columns
    give the direction.
    """
    n = len(outline) // 4
    along = outline[[n - 1, 3 * n - 1]].mean(axis=0) - outline[[0, 2 * n]].mean(axis=0)
    # the ends' own ink may be high or low: the direction of all columns together is steadier
    middle = (outline[:n] + outline[2 * n : 3 * n]) / 2
    if n > 8:
        half = n // 2
        along = middle[half:].mean(axis=0) - middle[:half].mean(axis=0)
    length = np.hypot(*along)
    along = along / length if length > 0 else np.array([0.0, 1.0])
    across = np.array([along[1], -along[0]])
    a, c = outline @ along, outline @ across
    corners = [(c.min(), a.min()), (c.min(), a.max()), (c.max(), a.max()), (c.max(), a.min())]
    return [v * across + u * along for v, u in corners]


def smooth_noise(rng, size, cells, sigma=1.0):
    """A smooth random surface of a size, float32, about normal with that deviation."""
    coarse = rng.standard_normal((max(int(cells[0]), 2), max(int(cells[1]), 2))).astype(np.float32) * sigma
    return np.asarray(Image.fromarray(coarse).resize((size[1], size[0]), Image.Resampling.BICUBIC))


def grain(rng, size, strength):
    """Noise without a grain: (H, W, 1) float32 in about -2.4 .. 2.4 times the strength."""
    n = size[0] * size[1]
    bytes_ = np.frombuffer(rng.bytes(2 * n), np.uint8).reshape(2, *size, 1)
    return (bytes_[0].astype(np.float32) - bytes_[1]) * np.float32(strength / 104)


def as_jpeg(img, quality):
    """The photo as a JPEG of that quality gives it back."""
    file = io.BytesIO()
    img.save(file, "JPEG", quality=int(quality))
    file.seek(0)
    with Image.open(file) as again:
        again.load()
        return again


def blurred(img, radius):
    """The photo out of focus by a radius in pixels."""
    return img.filter(ImageFilter.GaussianBlur(radius)) if radius > 0.05 else img
