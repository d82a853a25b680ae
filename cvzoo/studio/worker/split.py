"""A stratified split, in a process of its own, as the server does not compute with arrays.

`python -m cvzoo.studio.worker.split` reads {"counts": N lists of numbers of objects by class, "fractions", "seed"} from
standard input, and writes the N numbers of the parts.
"""

import json
import sys

import numpy as np

from cvzoo.datasets.sliceable.stratified_parts import stratified_parts
from cvzoo.datasets.split.write_split import part_sizes
from cvzoo.studio.worker.parent import end_with_parent


def parts(counts: list[list[int]], fractions: list[float], seed: int) -> list[int]:
    """The part of each image, as `cvzoo data split` with this seed has it."""
    table = np.array(counts, np.int64).reshape(len(counts), -1)
    found: list[int] = stratified_parts(table, part_sizes(fractions, len(counts)), seed=seed).tolist()
    return found


def main() -> None:
    """Answers the question on standard input."""
    end_with_parent()
    asked = json.load(sys.stdin)
    json.dump(parts(asked["counts"], asked["fractions"], asked["seed"]), sys.stdout)


if __name__ == "__main__":
    main()
