"""The branches of Inception v3's blocks, with torchvision's names."""

from collections.abc import Callable

from cvzoo.links.model.googlenet.mixed import Layer, Pool

Branches = tuple[tuple[Layer, ...], ...]
Scaled = Callable[[int], int]


def block_35(scaled: Scaled, pool_channels: int) -> tuple[Branches, Pool]:
    """Figure 5 of the paper, on maps of 35 x 35."""
    return (
        (Layer("branch1x1", scaled(64)),),
        (Layer("branch5x5_1", scaled(48)), Layer("branch5x5_2", scaled(64), 5)),
        _double(scaled, 1),
        (Layer("branch_pool", scaled(pool_channels)),),
    ), "mean"


def _double(scaled: Scaled, stride: int) -> tuple[Layer, ...]:
    n = scaled(96)
    return (
        Layer("branch3x3dbl_1", scaled(64)),
        Layer("branch3x3dbl_2", n, 3),
        Layer("branch3x3dbl_3", n, 3, stride),
    )


def halve_35(scaled: Scaled) -> tuple[Branches, Pool]:
    """Figure 10: from 35 x 35 to 17 x 17."""
    return ((Layer("branch3x3", scaled(384), 3, 2),), _double(scaled, 2), ()), "halve"


def block_17(scaled: Scaled, channels: int) -> tuple[Branches, Pool]:
    """Figure 6, on maps of 17 x 17: 7 x 7 as a column and a row."""
    n, out = scaled(channels), scaled(192)
    row, column = (1, 7), (7, 1)
    return (
        (Layer("branch1x1", out),),
        (Layer("branch7x7_1", n), Layer("branch7x7_2", n, row), Layer("branch7x7_3", out, column)),
        (
            Layer("branch7x7dbl_1", n),
            Layer("branch7x7dbl_2", n, column),
            Layer("branch7x7dbl_3", n, row),
            Layer("branch7x7dbl_4", n, column),
            Layer("branch7x7dbl_5", out, row),
        ),
        (Layer("branch_pool", out),),
    ), "mean"


def halve_17(scaled: Scaled) -> tuple[Branches, Pool]:
    """From 17 x 17 to 8 x 8."""
    n = scaled(192)
    return (
        (Layer("branch3x3_1", n), Layer("branch3x3_2", scaled(320), 3, 2)),
        (
            Layer("branch7x7x3_1", n),
            Layer("branch7x7x3_2", n, (1, 7)),
            Layer("branch7x7x3_3", n, (7, 1)),
            Layer("branch7x7x3_4", n, 3, 2),
        ),
        (),
    ), "halve"


def block_8(scaled: Scaled) -> tuple[Branches, Pool]:
    """Figure 7, on maps of 8 x 8: rows and columns side by side."""
    n = scaled(384)
    return (
        (Layer("branch1x1", scaled(320)),),
        (Layer("branch3x3_1", n), Layer("branch3x3_2a", n, (1, 3)), Layer("branch3x3_2b", n, (3, 1))),
        (
            Layer("branch3x3dbl_1", scaled(448)),
            Layer("branch3x3dbl_2", n, 3),
            Layer("branch3x3dbl_3a", n, (1, 3)),
            Layer("branch3x3dbl_3b", n, (3, 1)),
        ),
        (Layer("branch_pool", scaled(192)),),
    ), "mean"


def plan(scaled: Scaled) -> dict[str, tuple[Branches, Pool]]:
    """All blocks, by name, in order."""
    return {
        "mixed5b": block_35(scaled, 32),
        "mixed5c": block_35(scaled, 64),
        "mixed5d": block_35(scaled, 64),
        "mixed6a": halve_35(scaled),
        "mixed6b": block_17(scaled, 128),
        "mixed6c": block_17(scaled, 160),
        "mixed6d": block_17(scaled, 160),
        "mixed6e": block_17(scaled, 192),
        "mixed7a": halve_17(scaled),
        "mixed7b": block_8(scaled),
        "mixed7c": block_8(scaled),
    }
