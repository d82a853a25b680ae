"""The web application of `cvzoo studio`, which shows trainings; needs the extra `cvzoo[studio]`."""

__all__: list[str] = []
