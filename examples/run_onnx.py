"""Runs a file that `cvzoo export` wrote on a photo, with ONNX Runtime, NumPy and Pillow, and without cvzoo.

python examples/run_onnx.py model.onnx photo.jpg
All that it needs to know of the model stands in the file's metadata.
"""

import argparse
import json
from typing import Any

import numpy as np
import onnxruntime
from PIL import Image, ImageOps


def read(photo):
    """(H, W, 3) uint8, RGB, upright."""
    img = ImageOps.exif_transpose(Image.open(photo))
    if img.mode.startswith("I"):  # 16 bits, which Pillow would cut off at 255
        img = Image.fromarray(np.uint8(np.round(np.asarray(img) / 257)))
    if img.has_transparency_data:  # on a white page
        img = Image.alpha_composite(Image.new("RGBA", img.size, "white"), img.convert("RGBA"))
    return np.asarray(img.convert("RGB"))


# --- from a photo to the network's input ----------------------------------------------------------------------------
def resized_size(size, how):
    """(H, W) of the photo once resized."""
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
    """(new, old) float32: what each new pixel takes of each old one, bilinearly."""
    if corners:
        place = np.arange(new, dtype=np.float32) * np.float32((old - 1) / max(new - 1, 1)) + (old - 1) * (new == 1)
    else:
        place = (np.arange(new) + 0.5) * (old / new) - 0.5
    shares = np.maximum(1 - abs(np.clip(place, 0, old - 1)[:, None] - np.arange(old)), 0)
    return shares.astype(np.float32)


def middle(img, side):
    """The square in the middle, with zeros around a photo that is smaller."""
    missing = [max(side - n, 0) for n in img.shape[:2]]
    img = np.pad(img, [(n // 2, n - n // 2) for n in missing] + [(0, 0)])
    y, x = (round((n - side) / 2) for n in img.shape[:2])
    return img[y : y + side, x : x + side]


def prepare(img, how):
    """x (3, H', W') float32 of a photo (H, W, 3) uint8; and (4,), where in x the photo lies: y, x, y, x."""
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


# --- from what the file gives to what is in the photo ---------------------------------------------------------------
def paste(mask, bb, size, rule):
    """(H, W) bool: a small mask (M, M) over its box in a photo of `size`."""
    m, out = len(mask), np.zeros(size, bool)
    if rule["paste"] == "resized":  # over whole pixels
        first, last = (np.clip(np.round(part), 0, size).astype(int) for part in (bb[:2], bb[2:]))
        axes = [between(m, n) for n in last - first]
    elif rule["paste"] == "whole":  # a border of zeros around it, over whole pixels
        centre, half = (bb[2:] + bb[:2]) / 2, (bb[2:] - bb[:2]) / 2 * np.float32((m + 2) / m)
        first, last = np.trunc(centre - half).astype(int), np.trunc(centre + half).astype(int) + 1
        axes = [between(m + 2, n)[:, 1:-1] for n in np.maximum(last - first, 1)]
    else:  # "exact": over its box as it is
        first, last = np.floor(bb[:2]).astype(int) - 1, np.ceil(bb[2:]).astype(int) + 1
        axes = []
        for start, stop, a, b in zip(bb[:2], bb[2:], first, last):
            place = (np.arange(a, b) + 0.5 - start) * (m / max(stop - start, 1e-6)) - 0.5
            axes.append(np.maximum(1 - abs(place[:, None] - np.arange(m)), 0))
    prob = axes[0] @ mask @ axes[1].T
    inside = prob >= rule["thresh"] if rule["paste"] == "exact" else prob > rule["thresh"]
    a, b = np.maximum(first, 0), np.minimum(first + prob.shape, size)
    if (b > a).all():
        out[a[0] : b[0], a[1] : b[1]] = inside[a[0] - first[0] : b[0] - first[0], a[1] - first[1] : b[1] - first[1]]
    return out


def found(out, img, place, texts):
    """Boxes, masks and points in the photo's own pixels; of one photo."""
    size = np.float32(img.shape[:2])
    scale = (place[2:] - place[:2]) / size
    if json.loads(texts["boxes"])["scale"] == "width":
        scale[:] = scale[1]
    out = {name: value[out["photos"] == 0] for name, value in out.items()}
    out["boxes"] = (out["boxes"] - np.tile(place[:2], 2)) / np.tile(scale, 2)
    if "masks" in out:
        rule = json.loads(texts["masks"])
        masks = [paste(mask, bb, img.shape[:2], rule) for mask, bb in zip(out["masks"], out["boxes"])]
        out["masks"] = np.array(masks, bool).reshape(-1, *img.shape[:2])
    if "points" in out:
        out["points"] = (out["points"] - place[:2]) / scale
    return out


def run(file, img):
    """What the file says of a photo (H, W, 3) uint8, by name.

    Of classifiers: probs (L,). Of segmenters: label (H, W). Of files with boxes: boxes (K, 4) y_min x_min y_max x_max,
    labels, scores, perhaps masks (K, H, W) and points (K, P, 2), all in the photo's own pixels. Else what heads say.
    """
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    texts = session.get_modelmeta().custom_metadata_map
    x, place = prepare(img, json.loads(texts["prepare"]))
    seen = place.copy()
    if "boxes" in texts and json.loads(texts["boxes"])["scale"] == "width":
        seen[2:] = np.array(img.shape[:2], np.float32) * ((place[3] - place[1]) / img.shape[1])
    feeds = {"x": x[None], "photo": seen[None], "photo_size": np.array([img.shape[:2]], np.float32)}
    values = session.run(None, {port.name: feeds[port.name] for port in session.get_inputs()})
    out: dict[str, Any] = dict(zip([port.name for port in session.get_outputs()], values))
    if "boxes" in texts:
        return found(out, img, place, texts)
    if texts["task"] == "classification":
        e = np.exp(out["scores"][0] - out["scores"][0].max())
        return {"probs": e / e.sum()}
    if texts["task"] == "segmentation":
        scores = out["scores"][0]
        rows, columns = (between(old, new) for old, new in zip(scores.shape[1:], img.shape))
        return {"label": np.einsum("ph,chw,qw->cpq", rows, scores, columns, optimize=True).argmax(0)}
    return out


def main(file, photo):
    texts = onnxruntime.InferenceSession(file).get_modelmeta().custom_metadata_map
    names = json.loads(texts.get("label_names", "null"))
    out = run(file, read(photo))
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
    parser = argparse.ArgumentParser(description="Run a file that `cvzoo export` wrote on a photo.")
    parser.add_argument("model", help="an .onnx file")
    parser.add_argument("photo")
    args = parser.parse_args()
    main(args.model, args.photo)
