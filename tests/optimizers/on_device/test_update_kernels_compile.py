"""Kernels written for optimizers compile for GPUs that are not here, and keep their values in registers."""

import numpy as np
import pytest
from cuda_compilers import ONE_OF_ARCHITECTURES, ptxas_report, spills

from cvzoo import optimizers
from cvzoo.backends.gpu_kernels import common_source
from cvzoo.optimizers.on_device import formula
from cvzoo.optimizers.on_device.functions_text import FUNCTIONS
from cvzoo.optimizers.on_device.kernel_text import ratio_text, update_text
from cvzoo.optimizers.on_device.trace import Trace

OPTIMIZERS = {
    cls.__name__: cls
    for cls in (
        optimizers.SGD,
        optimizers.MomentumSGD,
        optimizers.NesterovAG,
        optimizers.AdaGrad,
        optimizers.AdaDelta,
        optimizers.RMSprop,
        optimizers.Adam,
        optimizers.AdamW,
        optimizers.AMSGrad,
        optimizers.LARS,
        optimizers.LAMB,
    )
}


def texts(name, dtype):
    """The kernels of an optimizer with hooks and loss scaling, that is the longest ones."""
    rule = OPTIMIZERS[name]().create_update_rule()
    shapes = formula.Shapes(np.dtype(dtype), True, len(rule.slots))
    layerwise = isinstance(rule, optimizers.AbstractLayerwiseRule)
    hp = rule.hyperparam.get_dict()
    scalars = Trace("double", "n", lift=True)
    t = scalars.number(3) - scalars.cell("loss_scale[3]")
    cells = [x if x is None or hasattr(x, "trace") else scalars.number(x) for x in rule.coefficients(hp, t, False)]
    changes = [
        formula.Change(hook.change, [scalars.number(0.1)] * 2)
        for hook in (optimizers.WeightDecay(0.1), optimizers.GradientHardClipping(-1, 1), optimizers.Lasso(0.1))
    ]
    made = [
        formula.update_formula(scalars, shapes, changes, rule, cells, layerwise),
        formula.norm_formula(scalars, shapes, changes),
        formula.check_formula(shapes),
        formula.write_formula(scalars, shapes, changes),
    ]
    if layerwise:
        made.append(formula.measure_formula(scalars, shapes, changes, rule, cells))
        ratios = Trace("double", "r", lift=True)
        cell = rule.ratio(ratios.cell("first"), ratios.cell("second"), hp, False)
        yield ratio_text(ratios.lines, ratios.name_of(cell))
    for each in made:
        yield update_text(each)


def _reports(name, dtype, architecture, folder):
    for text in texts(name, dtype):
        yield spills(ptxas_report(common_source() + FUNCTIONS + text, architecture, folder))


@pytest.mark.parametrize("name", ["Adam", "LAMB"])
def test_updates_compile_for_hopper_without_spilling(name, tmp_path):
    text = next(iter(texts(name, "float32")))
    assert spills(ptxas_report(common_source() + FUNCTIONS + text, 90, tmp_path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("architecture", ONE_OF_ARCHITECTURES)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_updates_compile_for_every_architecture_without_spilling(name, architecture, dtype, tmp_path):
    assert not any(_reports(name, dtype, architecture, tmp_path))
