"""Freezing of parameters."""

from cvzoo.autodiff.parameter import Parameter
from cvzoo.optimizers.gradient_hook import Selector
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.optimizer_hook import AbstractOptimizerHook


class Freeze(AbstractOptimizerHook):
    """Freezes parameters: always, or during the first `iterations` updates.

    selector: (path, param) -> bool, such as `named("/extractor")`
    iterations: None: always

    Gradients are still computed; `link.disable_update()` saves that work.
    """

    name = "Freeze"
    freezes = True
    sees_gradients = False
    runs_on_device = True

    def __init__(self, selector: Selector, iterations: int | None = None):
        self.selector = selector
        self.iterations = iterations

    def __call__(self, optimizer: AbstractOptimizer) -> None:
        """No-op: the optimizer calls `is_frozen`."""

    def is_frozen(self, path: str, param: Parameter, t: int) -> bool:
        return (self.iterations is None or t < self.iterations) and self.selector(path, param)
