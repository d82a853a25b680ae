"""Channels that kernels like."""


def round_channels(n: float, divisor: int = 8) -> int:
    """n to the nearest multiple of divisor, at least one, and not more than a tenth below n.

    Source: MobileNetV2's published code, whose rounding all the mobile networks share.
    """
    rounded = max(divisor, int(n + divisor / 2) // divisor * divisor)
    return rounded if rounded >= 0.9 * n else rounded + divisor
