"""Durations as text."""


def as_time(seconds: float) -> str:
    """As "0:07", "1:56" or "2:03:00"."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
