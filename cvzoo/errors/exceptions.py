"""Every exception that cvzoo raises on purpose.

    CvzooError
    ├── ShapeError (ValueError)          an array's shape, rank or length does not fit
    ├── DtypeError (TypeError)           an array's dtype, or an argument's type, does not fit
    ├── ValueRangeError (ValueError)     a value is outside of what makes sense (NaN, negative size, unknown class)
    │   └── NoSuchKeyError (KeyError, IndexError)  examples of a data set have no value of this name or number
    ├── ConfigError (ValueError)         a switch or an environment variable has no such name or value
    ├── GraphError (RuntimeError)        the computational graph is used in a way that cannot work
    ├── GradientError (AssertionError)   gradient_check found a derivative that disagrees with numbers
    ├── BackendError (RuntimeError)      a device or a vendor's library is absent or refused a call
    ├── UnsupportedError (ValueError)    a file or a network asks for something that cvzoo does not have
    ├── MissingExtraError (ImportError)  an optional package is absent; the message holds the pip command
    ├── ReplacedAttributeError (AttributeError)  an attribute of Chainer's has another name here
    ├── ReplacedNameError (ImportError)  a name of Chainer or ChainerCV has another here; the message says which
    ├── ImageError (ValueError)          an image is corrupt, empty, too large or of an unknown kind
    ├── DatasetError (ValueError)        a data set's files are absent, or hold what they must not
    │   ├── BrokenRuleError (AssertionError) an example breaks a rule of its kind of data set
    │   ├── ExampleIndexError (IndexError)   there is no example of this number
    │   └── ExampleError                 an example could not be read; the message names its image
    └── FileError (ValueError)           a file is absent, damaged, or not the one that is wanted
        ├── FileFormatError              a file is truncated, oversized or not what its name says
        │   └── UnsafeFileError          a file asks to run code or to reach outside of its folder
        ├── WeightsMismatchError         names or shapes of a file and of a model differ
        └── DownloadError                a file could not be fetched, or its hash is wrong

The files are those of weights, archives, annotations and results alike. `WeightsError` is another name of FileError,
as IOError is of OSError: `except WeightsError` around the loading of weights catches all that can be wrong with them.

A message says what failed, what was expected, what came, and what to try, each on a line of its own when there is
more than one: build it with `explain`.
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
    """The root: `except CvzooError` catches all that cvzoo raises on purpose."""

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
    """A value is outside of what makes sense."""


class NoSuchKeyError(ValueRangeError, KeyError, IndexError):
    """Examples of a data set have no value of this name or number."""


class ConfigError(CvzooError, ValueError):
    """A switch or an environment variable has no such name or value."""


class GraphError(CvzooError, RuntimeError):
    """The computational graph is used in a way that cannot work."""


class GradientError(CvzooError, AssertionError):
    """A derivative disagrees with finite differences."""


class BackendError(CvzooError, RuntimeError):
    """A device or a vendor's library is absent or refused a call."""


class UnsupportedError(CvzooError, ValueError):
    """A file or a network asks for something that cvzoo does not have."""


class MissingExtraError(CvzooError, ImportError):
    """An optional package is absent."""


class ReplacedNameError(CvzooError, ImportError):
    """A name of Chainer or ChainerCV has another here."""


class ReplacedAttributeError(CvzooError, AttributeError):
    """An attribute of Chainer's has another name here."""


class ImageError(CvzooError, ValueError):
    """An image is corrupt, empty, too large or of an unknown kind."""


class DatasetError(CvzooError, ValueError):
    """A data set's files are absent, or hold what they must not."""


class BrokenRuleError(DatasetError, AssertionError):
    """An example breaks a rule of its kind of data set."""


class ExampleIndexError(DatasetError, IndexError):
    """There is no example of this number."""


class ExampleError(DatasetError):
    """An example could not be read."""


class FileError(CvzooError, ValueError):
    """A file, of weights or of anything else, is absent, damaged, or not the one that is wanted."""


WeightsError = FileError


class FileFormatError(FileError):
    """A file is truncated, oversized or not what its name says."""


class UnsafeFileError(FileFormatError):
    """A file asks to run code or to reach outside of its folder."""


class WeightsMismatchError(FileError):
    """Names or shapes of a file and of a model differ."""


class DownloadError(FileError):
    """A file could not be fetched, or its hash is wrong."""
