"""Writes lines of text in SROIE's layout."""

import pathlib
from collections.abc import Mapping

from cvzoo.datasets.layouts.annotated_set import AnnotatedSet
from cvzoo.datasets.layouts.decimals import number_text


def write_sroie(annotated: AnnotatedSet, folder: pathlib.Path, names: Mapping[str, str]) -> None:
    """Writes box/NAME.csv and a list for each split to `folder`. names: the name of each image's copy."""
    (folder / "box").mkdir()
    for image in annotated.images:
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
        stems = [pathlib.PurePath(names[image.name]).stem for image in annotated.images if split in image.splits]
        (folder / f"{split}.txt").write_text("".join(f"{stem}\n" for stem in stems), encoding="utf-8")
