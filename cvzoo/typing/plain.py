"""Types of arguments that are no arrays, for files that must not import NumPy; `cvzoo.typing.aliases` has them, too."""

import os
from collections.abc import Sequence
from typing import TypeAlias

Size: TypeAlias = tuple[int, int]  # height, width
Shape: TypeAlias = tuple[int, ...]
FilePath: TypeAlias = str | os.PathLike[str]
LabelNames: TypeAlias = Sequence[str]  # names of the classes, by label
