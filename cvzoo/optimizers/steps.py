"""An update of parameters on several devices: the CPU, one or more GPUs."""

import math
from collections.abc import Sequence

from cvzoo.optimizers.gradient_hook import AbstractGradientHook
from cvzoo.optimizers.on_device.step import DeviceStep
from cvzoo.optimizers.plan import Step


class Steps:
    """The steps on several devices as one; norms over all gradients are computed on the host, which synchronizes."""

    def __init__(self, steps: Sequence[Step | DeviceStep]):
        self.steps = steps

    def is_finite(self) -> bool:
        """Whether every gradient is a finite number."""
        return all(step.is_finite() for step in self.steps)

    def add(self, number: int, hook: AbstractGradientHook) -> None:
        """Apply the optimizer's gradient hook with that index."""
        norm = math.sqrt(sum([step.norm() ** 2 for step in self.steps])) if hook.needs_norm else None
        for step in self.steps:
            step.add(number, hook, norm)

    def write_gradients(self) -> None:
        """Write the changed gradients into the parameters' `grad`."""
        for step in self.steps:
            step.write_gradients()

    def update(self) -> None:
        """Update the parameters."""
        for step in self.steps:
            step.update()
