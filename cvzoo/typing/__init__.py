"""Names for the types of arrays and arguments, as numpy.typing has them: `Image`, `BBox`, `Mask`, `FilePath`."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.typing.aliases import (
        Area,
        Array,
        ArrayLike,
        BBox,
        Box,
        ClassMap,
        Flags,
        Image,
        Label,
        Mask,
        Point,
        Prob,
        Score,
    )
    from cvzoo.typing.plain import FilePath, LabelNames, Shape, Size
    from cvzoo.typing.protocols import IndexableDataset

__all__ = [
    "Area",
    "Array",
    "ArrayLike",
    "BBox",
    "Box",
    "ClassMap",
    "FilePath",
    "Flags",
    "Image",
    "IndexableDataset",
    "Label",
    "LabelNames",
    "Mask",
    "Point",
    "Prob",
    "Score",
    "Shape",
    "Size",
]

import_on_demand(__name__)
