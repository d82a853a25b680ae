"""A predictor with its training loss."""

from collections.abc import Callable
from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.chain import Chain
from cvzoo.links.link import Link
from cvzoo.reporting.reporter import report


class Classifier(Chain):
    """Training loss of a classifier; reports "loss" and "accuracy".

    predictor: a link, inputs -> (B, C) scores
    lossfun, accfun: (predictor's output, labels) -> a scalar
    label_key: the argument that holds the labels: the index of a positional one (-1: the last), or a keyword
    compute_accuracy: attribute, whether the accuracy is computed and reported; True by default
    y, loss, accuracy: of the last call

    Source: Chainer's link of this name.
    """

    predictor: Any  # a Link; its own methods, such as reset_state, are not known here

    def __init__(
        self,
        predictor: Link,
        lossfun: Callable[[Variable, Any], Variable] = F.softmax_cross_entropy,
        accfun: Callable[[Variable, Any], Variable] = F.accuracy,
        label_key: int | str = -1,
    ):
        super().__init__()
        self.lossfun = lossfun
        self.accfun = accfun
        self.label_key = label_key
        self.compute_accuracy = True
        self.y: Variable | Any = None
        self.loss: Variable | Any = None
        self.accuracy: Variable | Any = None
        with self.init_scope():
            self.predictor = predictor

    def forward(self, *args: Any, **kwargs: Any) -> Variable:
        """The loss. All arguments except the labels are passed to the predictor.

        Raises ValueRangeError if there is no argument at `label_key`.
        """
        if isinstance(self.label_key, str):
            if self.label_key not in kwargs:
                raise ValueRangeError(f"Classifier: no labels are called {self.label_key!r}", got=sorted(kwargs))
            t = kwargs.pop(self.label_key)
        else:
            place = self.label_key + len(args) if self.label_key < 0 else self.label_key
            if not 0 <= place < len(args):
                raise ValueRangeError("Classifier: no argument at label_key", expected=self.label_key, got=len(args))
            t = args[place]
            args = args[:place] + args[place + 1 :]
        self.y = self.loss = self.accuracy = None  # frees the last call's graph before the next is built
        self.y = self.predictor(*args, **kwargs)
        self.loss = self.lossfun(self.y, t)
        report({"loss": self.loss}, self)
        if self.compute_accuracy:
            self.accuracy = self.accfun(self.y, t)
            report({"accuracy": self.accuracy}, self)
        return self.loss
