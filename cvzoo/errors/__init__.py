"""The exceptions of cvzoo: `cvzoo.errors.CvzooError` and everything below it."""

from cvzoo.errors.exceptions import (
    BackendError,
    ConfigError,
    CvzooError,
    DownloadError,
    DtypeError,
    FileFormatError,
    GradientError,
    GraphError,
    ImageError,
    MissingExtraError,
    ShapeError,
    UnsafeFileError,
    UnsupportedError,
    ValueRangeError,
    WeightsError,
    WeightsMismatchError,
)

__all__ = [
    "BackendError",
    "ConfigError",
    "CvzooError",
    "DownloadError",
    "DtypeError",
    "FileFormatError",
    "GradientError",
    "GraphError",
    "ImageError",
    "MissingExtraError",
    "ShapeError",
    "UnsafeFileError",
    "UnsupportedError",
    "ValueRangeError",
    "WeightsError",
    "WeightsMismatchError",
]
