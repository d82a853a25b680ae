"""A simulated photograph of a printed sheet: position, bending, illumination, and camera artifacts."""

import io

import numpy as np
from PIL import Image, ImageFilter

_CELL = 64  # pixels between nodes of the deformation mesh
_LIGHT = 4  # downsampling factor of the illumination map


def bend(canvas, outlines, size, forward, shift, fill):
    """(img, outlines): the sheet warped into an image.

    canvas: an image, RGB or L; outlines: arrays (P, 2) of (y, x) on it; size: (H, W) of the image
    forward: (3, 3), the homography from (x, y, 1) on the sheet to the image; shift: a function of (y, x) in the image
    that returns the displacement (dy, dx) from the flat sheet, in pixels of the sheet, or None; fill: the background
    """
    h, w = size
    backward = np.linalg.inv(forward)
    points = np.concatenate(outlines).astype(np.float64) if outlines else np.zeros((0, 2))
    if shift is None:
        flat = tuple((backward / backward[2, 2]).ravel()[:8])
        img = canvas.transform((w, h), Image.Transform.PERSPECTIVE, flat, Image.Resampling.BILINEAR, fillcolor=fill)
        seen = _apply(forward, points)
    else:
        grid_h, grid_w = -(-h // _CELL) + 1, -(-w // _CELL) + 1
        y, x = np.mgrid[:grid_h, :grid_w].astype(np.float64) * _CELL
        nodes = _apply(backward, np.stack([y, x], axis=2)) + shift(y, x)
        whole = (grid_w - 1) * _CELL, (grid_h - 1) * _CELL
        img = canvas.transform(
            whole, Image.Transform.MESH, _cells(nodes), Image.Resampling.BILINEAR, fillcolor=fill
        ).crop((0, 0, w, h))
        seen = _follow(points, nodes, forward, backward)
    ends = np.cumsum([len(outline) for outline in outlines])[:-1]
    return img, np.split(seen.astype(np.float32), ends) if outlines else []


def _cells(nodes):
    """The mesh in Pillow's format."""
    corners = np.stack([nodes[:-1, :-1], nodes[1:, :-1], nodes[1:, 1:], nodes[:-1, 1:]], axis=2)[..., ::-1]
    corners = corners.reshape(*corners.shape[:2], 8).tolist()
    return [
        ((j * _CELL, i * _CELL, (j + 1) * _CELL, (i + 1) * _CELL), tuple(cell))
        for i, row in enumerate(corners)
        for j, cell in enumerate(row)
    ]


def _apply(matrix, points):
    """Points (..., 2) of (y, x) transformed by a homography of (x, y, 1)."""
    moved = np.concatenate([points[..., ::-1], np.ones_like(points[..., :1])], axis=-1) @ matrix.T
    return (moved[..., :2] / moved[..., 2:])[..., ::-1]


def _follow(points, nodes, forward, backward):
    """The image positions of points of the sheet, by fixed-point iteration, since the bend is given inversely."""
    flat, seen = points, _apply(forward, points)
    for _ in range(3):
        flat = flat - (_between(nodes, seen) - points)
        seen = _apply(forward, flat)
    return seen


def _between(nodes, points):
    """The grid's values at points, interpolated bilinearly, as the mesh does."""
    at = points / _CELL
    cell = np.clip(np.floor(at).astype(int), 0, np.array(nodes.shape[:2]) - 2)
    fy, fx = np.moveaxis(at - cell, -1, 0)[..., None]
    i, j = cell.T
    top = nodes[i, j] * (1 - fx) + nodes[i, j + 1] * fx
    bottom = nodes[i + 1, j] * (1 - fx) + nodes[i + 1, j + 1] * fx
    return top * (1 - fy) + bottom * fy


def boxes(outlines, size, least=4.0):
    """(bbox (R, 4), quad (R, 4, 2)) float32 of the visible outlines, and their indices: (R,) int64.

    Runs are clipped to the image, and omitted if less than half of their height or under `least` pixels are visible.
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

    An outline lists its columns' tops from left to right twice, for their left and right ends, and so their bottoms.
    """
    middle = outline.reshape(4, -1, 2)[[0, 2]].mean(axis=0)
    half = max(len(middle) // 2, 1)
    along = middle[half:].mean(axis=0) - middle[:half].mean(axis=0) if len(middle) > 8 else np.zeros(2)
    length = np.hypot(along[0], along[1])
    along = along / length if length > 0 else np.array([0.0, 1.0])
    across = np.array([along[1], -along[0]])
    a, c = outline @ along, outline @ across
    corners = [(c.min(), a.min()), (c.min(), a.max()), (c.max(), a.max()), (c.max(), a.min())]
    return [v * across + u * along for v, u in corners]


def light_size(size):
    """(h, w) of the illumination map for an image of that size."""
    return size[0] // _LIGHT + 1, size[1] // _LIGHT + 1


def smooth_noise(rng, size, cells, sigma=1.0):
    """A smooth random surface, float32, about normal with that standard deviation and that many cells (y, x)."""
    coarse = rng.standard_normal((max(int(cells[0]), 2), max(int(cells[1]), 2))).astype(np.float32) * sigma
    return np.array(Image.fromarray(coarse).resize((size[1], size[0]), Image.Resampling.BICUBIC))


def spread(light, size):
    """An illumination map, (h, w) float32, resized to its image."""
    h, w = size
    box = 0, 0, w / _LIGHT, h / _LIGHT
    return np.asarray(Image.fromarray(light).resize((w, h), Image.Resampling.BILINEAR, box=box))


def grain(rng, size, strength):
    """Smooth noise: (H, W, 1) float32 in about -2.4 .. 2.4 times the strength."""
    n = size[0] * size[1]
    bytes_ = np.frombuffer(rng.bytes(2 * n), np.uint8).reshape(2, *size, 1)
    return (bytes_[0].astype(np.float32) - bytes_[1]) * np.float32(strength / 104)


def as_jpeg(img, quality):
    """The image after JPEG compression of that quality."""
    file = io.BytesIO()
    img.save(file, "JPEG", quality=int(quality))
    file.seek(0)
    with Image.open(file) as again:
        again.load()
        return again


def blurred(img, radius):
    """The image blurred by a radius in pixels."""
    return img.filter(ImageFilter.BoxBlur(radius)) if radius > 0.05 else img
