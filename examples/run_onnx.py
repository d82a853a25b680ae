"""Runs a model exported by `cvzoo export` on an image with ONNX Runtime, NumPy and Pillow, without cvzoo.

python examples/run_onnx.py model.onnx image.jpg
Everything about the model that it needs is in the file's metadata. In the file format, the input `photo` is the box of
the resized image within x, the input `photo_size` the image's size, and the output `photos` each row's image index.
"""

import argparse
import json
from typing import Any

import numpy as np
import onnxruntime
from PIL import Image, ImageOps


def read(path):
    """An image file as (H, W, 3) uint8, RGB, with its EXIF orientation applied."""
    img = ImageOps.exif_transpose(Image.open(path))
    if img.mode.startswith("I"):  # 16 bits, which Pillow would clip to 255
        img = Image.fromarray(np.uint8(np.round(np.asarray(img) / 257)))
    if img.has_transparency_data:  # on a white page
        img = Image.alpha_composite(Image.new("RGBA", img.size, "white"), img.convert("RGBA"))
    return np.asarray(img.convert("RGB"))


# --- from an image to the network's input ---------------------------------------------------------------------------
def resized_size(size, how):
    """(H, W) of the resized image."""
    height, width = size
    if how["fit"] == "none":
        return size
    if how["fit"] == "stretch":
        return tuple(how["size"])
    if how["fit"] == "short side":
        short = how["short"]
        return (short, int(short * width / height)) if height <= width else (int(short * height / width), short)
    if how["fit"] == "letterbox":
        h, w = how["size"]
        if w * height < h * width:
            return max(height * w // width, 1), w
        return h, max(width * h // height, 1)
    factor = min(how["short"] / min(size), how["long"] / max(size))  # "sides"
    rest = 0.5 if how["sides"] == "rounded" else 0
    return tuple(max(int(side * factor + rest), 1) for side in size)


def resize(img, size, how):
    """(H', W', 3) float32 of (H, W, 3) uint8."""
    if how["filter"].endswith("antialiased"):
        kind = Image.Resampling.BICUBIC if how["filter"].startswith("bicubic") else Image.Resampling.BILINEAR
        if how["of"] == "bytes":
            return np.asarray(Image.fromarray(img).resize(size[::-1], kind), np.float32)
        planes = [Image.fromarray(img[..., c].astype(np.float32)).resize(size[::-1], kind) for c in range(3)]
        return np.stack([np.asarray(plane) for plane in planes], axis=2)
    corners = how["filter"].endswith("corners on corners")
    rows, columns = (between(old, new, corners) for old, new in zip(img.shape, size))
    return np.einsum("ph,hwc,qw->pqc", rows, img.astype(np.float32), columns, optimize=True)


def between(old, new, corners=False):
    """(new, old) float32: the bilinear weights of old pixels in each new one."""
    if corners:
        at = np.arange(new, dtype=np.float32) * np.float32((old - 1) / max(new - 1, 1)) + (old - 1) * (new == 1)
    else:
        at = (np.arange(new) + 0.5) * (old / new) - 0.5
    weights = np.maximum(1 - abs(np.clip(at, 0, old - 1)[:, None] - np.arange(old)), 0)
    return weights.astype(np.float32)


def middle(img, side):
    """The central square, padded with zeros where the image is smaller."""
    missing = [max(side - n, 0) for n in img.shape[:2]]
    img = np.pad(img, [(n // 2, n - n // 2) for n in missing] + [(0, 0)])
    y, x = (round((n - side) / 2) for n in img.shape[:2])
    return img[y : y + side, x : x + side]


def prepare(img, how):
    """x (3, H', W') float32 of an image (H, W, 3) uint8, and the image's box within x: (4,) y_min x_min y_max x_max."""
    size = resized_size(img.shape[:2], how)
    x = resize(img, size, how) if size != img.shape[:2] else img.astype(np.float32)
    top = left = 0
    if "crop" in how:
        x = middle(x, how["crop"])
    if how["fit"] == "letterbox":
        framed = np.full((*how["size"], 3), how["fill"], np.float32)
        top, left = ((n - m) // 2 for n, m in zip(how["size"], size))
        framed[top : top + size[0], left : left + size[1]] = x
        x = framed
    x = x[..., :: -1 if how["channels"] == "BGR" else 1]
    x = (x - np.array(how["mean"], np.float32)) / np.array(how["std"], np.float32)
    ends = [max(-(-n // how["pad"]) * how["pad"], how["at_least"]) - n for n in x.shape[:2]]
    x = np.pad(x, [(0, n) for n in ends] + [(0, 0)])
    return np.ascontiguousarray(x.transpose(2, 0, 1)), np.array([top, left, top + size[0], left + size[1]], np.float32)


# --- from the file's outputs to results in the image's pixels -------------------------------------------------------
def paste(mask, bb, size, rule):
    """(H, W) bool: a mask (M, M) pasted into its box in an image of `size`."""
    m, out = len(mask), np.zeros(size, bool)
    if rule["paste"] == "resized":  # box corners rounded to integers
        first, last = (np.clip(np.round(part), 0, size).astype(int) for part in (bb[:2], bb[2:]))
        axes = [between(m, n) for n in last - first]
    elif rule["paste"] == "whole":  # with a border of zeros, box corners truncated to integers
        centre, half = (bb[2:] + bb[:2]) / 2, (bb[2:] - bb[:2]) / 2 * np.float32((m + 2) / m)
        first, last = np.trunc(centre - half).astype(int), np.trunc(centre + half).astype(int) + 1
        axes = [between(m + 2, n)[:, 1:-1] for n in np.maximum(last - first, 1)]
    else:  # "exact": box corners with their fractions
        first, last = np.floor(bb[:2]).astype(int) - 1, np.ceil(bb[2:]).astype(int) + 1
        axes = []
        for start, stop, a, b in zip(bb[:2], bb[2:], first, last):
            at = (np.arange(a, b) + 0.5 - start) * (m / max(stop - start, 1e-6)) - 0.5
            axes.append(np.maximum(1 - abs(at[:, None] - np.arange(m)), 0))
    prob = axes[0] @ mask @ axes[1].T
    inside = prob >= rule["thresh"] if rule["paste"] == "exact" else prob > rule["thresh"]
    a, b = np.maximum(first, 0), np.minimum(first + prob.shape, size)
    if (b > a).all():
        out[a[0] : b[0], a[1] : b[1]] = inside[a[0] - first[0] : b[0] - first[0], a[1] - first[1] : b[1] - first[1]]
    return out


def to_image_pixels(out, img, bbox, metadata):
    """Boxes, masks and points of a single image, in its pixels."""
    size = np.float32(img.shape[:2])
    scale = (bbox[2:] - bbox[:2]) / size
    if json.loads(metadata["boxes"])["scale"] == "width":
        scale[:] = scale[1]
    out = {name: value[out["photos"] == 0] for name, value in out.items()}
    out["boxes"] = (out["boxes"] - np.tile(bbox[:2], 2)) / np.tile(scale, 2)
    if "masks" in out:
        rule = json.loads(metadata["masks"])
        masks = [paste(mask, bb, img.shape[:2], rule) for mask, bb in zip(out["masks"], out["boxes"])]
        out["masks"] = np.array(masks, bool).reshape(-1, *img.shape[:2])
    if "points" in out:
        out["points"] = (out["points"] - bbox[:2]) / scale
    return out


def run(file, img):
    """Predictions for an image (H, W, 3) uint8, as a dict.

    Classifiers return probs (L,), segmenters label (H, W). Files with boxes return boxes (K, 4) y_min x_min y_max
    x_max, labels, scores and optionally masks (K, H, W) and points (K, P, 2), all in the image's pixels. Other files
    return their outputs unchanged.
    """
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    metadata = session.get_modelmeta().custom_metadata_map
    x, bbox = prepare(img, json.loads(metadata["prepare"]))
    clip = bbox.copy()
    # such models scale both axes by the width's factor: the lower edge follows from it, not from the rounded height
    if "boxes" in metadata and json.loads(metadata["boxes"])["scale"] == "width":
        clip[2:] = np.array(img.shape[:2], np.float32) * ((bbox[3] - bbox[1]) / img.shape[1])
    feeds = {"x": x[None], "photo": clip[None], "photo_size": np.array([img.shape[:2]], np.float32)}
    values = session.run(None, {port.name: feeds[port.name] for port in session.get_inputs()})
    out: dict[str, Any] = dict(zip([port.name for port in session.get_outputs()], values))
    if "boxes" in metadata:
        return to_image_pixels(out, img, bbox, metadata)
    if metadata["task"] == "classification":
        e = np.exp(out["scores"][0] - out["scores"][0].max())
        return {"probs": e / e.sum()}
    if metadata["task"] == "segmentation":
        scores = out["scores"][0]
        rows, columns = (between(old, new) for old, new in zip(scores.shape[1:], img.shape))
        return {"label": np.einsum("ph,chw,qw->cpq", rows, scores, columns, optimize=True).argmax(0)}
    return out


def main(file, image):
    metadata = onnxruntime.InferenceSession(file).get_modelmeta().custom_metadata_map
    names = json.loads(metadata.get("label_names", "null"))
    out = run(file, read(image))
    if "probs" in out:
        for label in out["probs"].argsort()[::-1][:5]:
            print(f"{out['probs'][label]:.3f}  {names[label] if names else label}")
    elif "boxes" in out:
        for bb, label, score in zip(out["boxes"], out["labels"], out["scores"]):
            print(f"{score:.3f}  {names[label] if names else label}  {' '.join(f'{n:.1f}' for n in bb)}")
    elif "label" in out:
        for label, n in zip(*np.unique(out["label"], return_counts=True)):
            print(f"{n / out['label'].size:.3f}  {names[label] if names else label}")
    else:
        for name, value in out.items():
            print(name, value.shape)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Run a model exported by `cvzoo export` on an image.")
    parser.add_argument("model", help="an .onnx file")
    parser.add_argument("image")
    args = parser.parse_args()
    main(args.model, args.image)
