"""Names for the types of arrays and arguments, as numpy.typing has them: `Image`, `BBox`, `Mask`, `FilePath`."""

from cvzoo.typing.aliases import (
    Area,
    Array,
    ArrayLike,
    BBox,
    Box,
    ClassMap,
    FilePath,
    Flags,
    Image,
    Label,
    LabelNames,
    Mask,
    Point,
    Prob,
    Score,
    Shape,
    Size,
)
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
