"""A sample data set without a network: drawn receipts with a box around each run of text, in COCO's layout."""

import json
import math
import pathlib
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageDraw, ImageFont

_GOODS = (
    *("APPLES", "BREAD", "BUTTER", "CARROTS", "CHEESE", "COCOA", "COFFEE", "EGGS", "FLOUR", "GRAPES", "HONEY", "JAM"),
    *("LEMONS", "MILK", "NOODLES", "OATS", "OIL", "ONIONS", "PEARS", "PEPPER", "RICE", "SALT", "SUGAR", "TEA", "WATER"),
)
_SHOPS = ("CORNER SHOP", "HILL MARKET", "GREEN GROCER", "STATION STORE", "RIVERSIDE FOODS", "OLD MILL BAKERY")
_ENDS = ("THANK YOU", "GOODS SOLD ARE NOT RETURNABLE", "PLEASE COME AGAIN", "KEEP THIS RECEIPT")
_SIZES = (11, 18)  # of letters, in pixels
_VAL_EVERY = 5  # the split of the standard: four of five are train

_Line = tuple[float, float, float, float, str]


def draw_sample(folder: pathlib.Path, n: int, progress: Callable[[str, int, int], None]) -> None:
    """Writes n receipts to the folder, with the splits train and val. The same n gives the same data set."""
    (folder / "images").mkdir()
    (folder / "annotations").mkdir()
    files: dict[str, dict[str, list[object]]] = {
        split: {"images": [], "annotations": [], "categories": [{"id": 1, "name": "text"}]}
        for split in ("train", "val")
    }
    number = 0
    for i in range(n):
        image, lines = draw_receipt(np.random.default_rng((7, i)))
        name = f"receipt_{i:04}.png"
        image.save(folder / "images" / name)
        file = files["val" if i % _VAL_EVERY == _VAL_EVERY - 1 else "train"]
        file["images"].append({"id": i + 1, "file_name": name, "height": image.height, "width": image.width})
        for y_min, x_min, y_max, x_max, text in lines:
            number += 1
            bbox = [x_min, y_min, x_max - x_min, y_max - y_min]
            where = {"id": number, "image_id": i + 1, "category_id": 1, "bbox": bbox, "area": bbox[2] * bbox[3]}
            file["annotations"].append(where | {"iscrowd": 0, "text": text})
        progress("drawing receipts", i + 1, n)
    for split, file in files.items():
        (folder / "annotations" / f"instances_{split}.json").write_text(json.dumps(file))


def draw_receipt(rng: np.random.Generator) -> tuple[Image.Image, list[_Line]]:
    """(the image, (y_min, x_min, y_max, x_max, text) of each run of text)."""
    font = ImageFont.load_default(int(rng.integers(*_SIZES)))
    step = int(font.getbbox("Ay")[3] * rng.uniform(1.15, 1.5))
    width, margin = int(rng.integers(220, 320)), int(rng.integers(10, 24))
    rows = _rows(rng)
    longest = max(font.getlength(left) + font.getlength(right) for left, right, _ in rows)
    width = max(width, math.ceil(longest) + 3 * margin)
    paper = int(rng.integers(225, 256))
    image = Image.new("L", (width, step * len(rows) + 2 * margin), paper)
    draw = ImageDraw.Draw(image)
    lines: list[_Line] = []
    ink = int(rng.integers(0, 90))
    for i, (left, right, is_centered) in enumerate(rows):
        top = margin + i * step
        for text, align in ((left, "center" if is_centered else "left"), (right, "right")):
            if not text:
                continue
            length = draw.textlength(text, font)
            x = {"left": margin, "right": width - margin - length, "center": (width - length) / 2}[align]
            draw.text((round(x), top), text, ink, font)
            x_min, y_min, x_max, y_max = draw.textbbox((round(x), top), text, font)
            lines.append((float(y_min), float(x_min), float(y_max), float(x_max), text))
    noise = rng.normal(0, rng.uniform(0, 6), (image.height, image.width))
    shade = np.linspace(1, rng.uniform(0.85, 1), image.width)
    pixels = np.clip(np.asarray(image) * shade + noise, 0, 255).astype(np.uint8)
    return Image.fromarray(pixels), lines


def _rows(rng: np.random.Generator) -> list[tuple[str, str, bool]]:
    """(text on the left, text on the right, whether the left one is centered) of each row."""

    def price(low: int, high: int) -> str:
        return f"{int(rng.integers(low, high)) / 100:.2f}"

    rows = [(str(rng.choice(_SHOPS)), "", True), (f"TEL {int(rng.integers(10**6, 10**7))}", "", True), ("", "", False)]
    date = f"{int(rng.integers(1, 29)):02}/{int(rng.integers(1, 13)):02}/20{int(rng.integers(10, 27))}"
    rows.append((date, f"NO {int(rng.integers(100, 9999))}", False))
    for name in rng.choice(_GOODS, int(rng.integers(3, 10)), replace=False):
        rows.append((f"{int(rng.integers(1, 5))} {name}", price(50, 2000), False))
    rows += [("", "", False), ("TOTAL", price(1000, 9000), False), ("CASH", price(9000, 20000), False)]
    rows += [("", "", False), (str(rng.choice(_ENDS)), "", True)]
    return rows
