"""An embedding layer."""

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.connection.embed_id import embed_id
from cvzoo.initializers.normal import Normal
from cvzoo.links.link import InitialValue, Link
from cvzoo.typing.aliases import Array


class EmbedID(Link):
    """Embedding: the row of W for each integer.

    in_size: number of integers
    out_size: length of a row
    initialW: initial W (in_size, out_size); Normal(1.0) by default
    ignore_label: an integer that gets a row of zeros
    """

    def __init__(self, in_size: int, out_size: int, initialW: InitialValue = None, ignore_label: int | None = None):
        self.ignore_label = ignore_label
        with self.init_scope():
            self.W = Parameter(Normal(1.0) if initialW is None else initialW, (in_size, out_size))

    def forward(self, x: Variable | Array) -> Variable:
        """(..., out_size) of integers x (...)."""
        return embed_id(x, self.W, self.ignore_label)
