"""Which converter makes ONNX operators of which function: the tables of all families."""

from cvzoo.export.onnx.converters import (
    activation,
    arithmetic,
    arrays,
    connection,
    indexing,
    normalization,
    pooling,
    resizing,
)

CONVERTERS = {
    **activation.CONVERTERS,
    **arithmetic.CONVERTERS,
    **arrays.CONVERTERS,
    **connection.CONVERTERS,
    **indexing.CONVERTERS,
    **normalization.CONVERTERS,
    **pooling.CONVERTERS,
    **resizing.CONVERTERS,
}
