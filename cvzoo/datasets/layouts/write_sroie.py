"""Writes lines of text in SROIE's layout."""

import pathlib
from collections.abc import Iterable, Mapping

from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedSet
from cvzoo.datasets.layouts.decimals import number_text


def write_sroie(
    annotated: AnnotatedSet,
    folder: pathlib.Path,
    names: Mapping[str, str],
    images: Iterable[AnnotatedImage] | None = None,
) -> None:
    """Writes box/NAME.csv and a list for each split to `folder`.

    names: the name of each image's copy
    images: the images, each of which is written before the next one is asked for; None: those of `annotated`
    """
    (folder / "box").mkdir()
    stems: dict[str, list[str]] = {split: [] for split in annotated.splits}
    for image in annotated.images if images is None else images:
        lines = []
        for each in image.objects:
            if each.bbox is None:
                continue
            y_min, x_min, y_max, x_max = each.bbox
            corners: tuple[float, ...] = (x_min, y_min, x_max, y_min, x_max, y_max, x_min, y_max)
            if each.polygons and len(each.polygons[0]) == 8:
                corners = each.polygons[0]
            text = " ".join(str(each.extra.get("text", "")).splitlines())
            lines.append(",".join([*map(number_text, map(float, corners)), text]) + "\n")
        path = folder / "box" / pathlib.PurePath(names[image.name]).with_suffix(".csv")
        path.write_text("".join(lines), encoding="utf-8")
        for split in annotated.splits:
            if split in image.splits:
                stems[split].append(f"{path.stem}\n")
    for split, chosen in stems.items():
        (folder / f"{split}.txt").write_text("".join(chosen), encoding="utf-8")
