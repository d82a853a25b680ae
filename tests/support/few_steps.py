"""A few steps of training."""

import numpy as np


def losses_of_steps(loss, optimizer, n_step):
    """The loss before each of the steps; a finite gradient reaches every parameter.

    loss: called without arguments it gives the scalar Variable that the optimizer's target is to make small
    """
    losses = []
    for _ in range(n_step):
        value = loss()
        losses.append(float(value.array))
        optimizer.target.cleargrads()
        value.backward()
        bad = [
            name
            for name, parameter in optimizer.target.namedparams()
            if parameter.grad is None or not np.isfinite(parameter.grad).all()
        ]
        assert not bad, bad
        optimizer.update()
    return losses
