"""Every exception that cvzoo raises on purpose.

    CvzooError
    ├── ShapeError (ValueError)          an array's shape, rank or length does not fit
    ├── DtypeError (TypeError)           an array's dtype, or an argument's type, does not fit
    ├── ValueRangeError (ValueError)     a value is out of range (NaN, negative size, unknown class)
    │   └── NoSuchKeyError (KeyError, IndexError)  examples of a data set have no such key
    ├── ConfigError (ValueError)         a switch or an environment variable has no such name or value
    ├── GraphError (RuntimeError)        an invalid operation on the computational graph
    ├── GradientError (AssertionError)   a derivative disagrees with finite differences
    ├── BackendError (RuntimeError)      a device or its library is not available, or a call of it failed
    ├── UnsupportedError (ValueError)    a file or a network needs a feature that cvzoo does not support
    ├── MissingExtraError (ImportError)  an optional package is not installed; the message has the pip command
    ├── ReplacedAttributeError (AttributeError)  an attribute of Chainer has another name in cvzoo
    ├── ReplacedNameError (ImportError)  a name of Chainer or ChainerCV has another name in cvzoo, given in the message
    ├── ImageError (ValueError)          an image is corrupt, empty, too large or of an unknown format
    ├── DatasetError (ValueError)        files of a data set are missing or malformed
    │   ├── BrokenRuleError (AssertionError) an example violates a convention of its kind of data set
    │   ├── ExampleIndexError (IndexError)   the index of an example is out of range
    │   └── ExampleError                 an example could not be read; the message names its image
    └── FileError (ValueError)           a file is missing, damaged, or not the expected one
        ├── FileFormatError              a file is truncated, oversized or of another format than its name suggests
        │   └── UnsafeFileError          a file tries to execute code or to access paths outside of its folder
        ├── WeightsMismatchError         names or shapes of arrays differ between a file and a model
        └── DownloadError                a download failed, or its hash is wrong

FileErrors are about files of any kind: weights, archives, annotations, results. `WeightsError` is an alias of it, as
IOError is of OSError, so `except WeightsError` around the loading of weights catches all of their errors.

A message states what failed, what was expected, what was received, and what to try, each on a line of its own:
build it with `explain`.
"""


def explain(what: str, *, expected: object = None, got: object = None, hint: str | None = None) -> str:
    """The text of an error: what failed, then the lines `expected`, `got` and `try` for those that are given."""
    lines = [what]
    if expected is not None:
        lines.append(f"  expected: {expected}")
    if got is not None:
        lines.append(f"  got:      {got}")
    if hint is not None:
        lines.append(f"  try:      {hint}")
    return "\n".join(lines)


class CvzooError(Exception):
    """Base class of all exceptions that cvzoo raises on purpose."""

    def __init__(self, what: str, *, expected: object = None, got: object = None, hint: str | None = None):
        super().__init__(explain(what, expected=expected, got=got, hint=hint))

    def __str__(self) -> str:
        # ImportError and KeyError spell their arguments in their own ways; ours is always the text itself
        return str(self.args[0])


class ShapeError(CvzooError, ValueError):
    """An array's shape, rank or length does not fit."""


class DtypeError(CvzooError, TypeError):
    """An array's dtype, or an argument's type, does not fit."""


class ValueRangeError(CvzooError, ValueError):
    """A value is out of range."""


class NoSuchKeyError(ValueRangeError, KeyError, IndexError):
    """Examples of a data set have no such key."""


class ConfigError(CvzooError, ValueError):
    """A switch or an environment variable has no such name or value."""


class GraphError(CvzooError, RuntimeError):
    """An invalid operation on the computational graph."""


class GradientError(CvzooError, AssertionError):
    """A derivative disagrees with finite differences."""


class BackendError(CvzooError, RuntimeError):
    """A device or its library is not available, or a call of it failed."""


class UnsupportedError(CvzooError, ValueError):
    """A file or a network needs a feature that cvzoo does not support."""


class MissingExtraError(CvzooError, ImportError):
    """An optional package is not installed."""


class ReplacedNameError(CvzooError, ImportError):
    """A name of Chainer or ChainerCV has another name in cvzoo, or no counterpart."""


class ReplacedAttributeError(CvzooError, AttributeError):
    """An attribute of Chainer has another name in cvzoo."""


class ImageError(CvzooError, ValueError):
    """An image is corrupt, empty, too large or of an unknown format."""


class DatasetError(CvzooError, ValueError):
    """Files of a data set are missing or malformed."""


class BrokenRuleError(DatasetError, AssertionError):
    """An example violates a convention of its kind of data set."""


class ExampleIndexError(DatasetError, IndexError):
    """The index of an example is out of range."""


class ExampleError(DatasetError):
    """An example could not be read."""


class FileError(CvzooError, ValueError):
    """A file is missing, damaged, or not the expected one."""


WeightsError = FileError


class FileFormatError(FileError):
    """A file is truncated, oversized or of another format than its name suggests."""


class UnsafeFileError(FileFormatError):
    """A file tries to execute code or to access paths outside of its folder."""


class WeightsMismatchError(FileError):
    """Names or shapes of arrays differ between a file and a model."""


class DownloadError(FileError):
    """A download failed, or its hash is wrong."""
