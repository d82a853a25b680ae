"""Learning rates of parts of a network, as factors of the optimizer's."""

from collections.abc import Sequence

from cvzoo.errors.exceptions import GraphError, ValueRangeError
from cvzoo.optimizers.gradient_hook import Selector
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.selectors import named


def scale_learning_rate(optimizer: AbstractOptimizer, factor: float, selector: Selector) -> int:
    """Multiplies the learning rate of the selected parameters by a factor, whatever the optimizer's schedule is.

    optimizer: after `setup`
    factor: 0 or larger; it takes the place of an earlier one
    selector: (path, param) -> bool, such as `named("/extractor")`

    The factor is the hyperparameter `lr_factor` of each parameter's rule and part of the optimizer's state. It
    multiplies `eta` where the optimizer has it, and with it AdamW's decay, else `lr` or `alpha`.
    Returns the number of selected parameters.
    Raises GraphError before `setup`, ValueRangeError for a negative factor, if no parameter is selected, or if the
    optimizer has no learning rate.
    """
    if optimizer.target is None:
        raise GraphError("scale_learning_rate: the optimizer has no network", hint="optimizer.setup(model)")
    if not factor >= 0:
        raise ValueRangeError("scale_learning_rate: the factor must not be negative", got=factor)
    rules = [
        param.update_rule
        for path, param in optimizer.target.namedparams()
        if param.update_rule is not None and selector(path, param)
    ]
    if not rules:
        parts = sorted({path.split("/")[1] for path, _ in optimizer.target.namedparams()})
        raise ValueRangeError(
            "scale_learning_rate: the selector selects no parameter", expected=f"a path below /{', /'.join(parts)}"
        )
    for rule in rules:
        rule.hyperparam.lr_factor = factor
    return len(rules)


def layerwise_lr_decay(optimizer: AbstractOptimizer, stages: Sequence[str], decay: float) -> dict[str, float]:
    """Layer-wise learning rate decay: each stage's learning rate is `decay` times that of the next one.

    optimizer: after `setup`
    stages: paths of the stages from the input to the output, such as "/predictor/extractor/conv1"; the last one has the
        factor `decay`, and what is in none of them, as the head, has 1
    decay: in (0, 1]

    Returns the factors by stage.
    Raises ValueRangeError if decay is out of range or a stage has no parameter.
    Source: Howard and Ruder, "Universal Language Model Fine-tuning for Text Classification", 2018, section 3.2
    (discriminative fine-tuning); Clark et al., "ELECTRA", 2020, appendix A.
    """
    if not 0 < decay <= 1:
        raise ValueRangeError("layerwise_lr_decay: decay must be in (0, 1]", got=decay)
    factors = {stage: decay ** (len(stages) - i) for i, stage in enumerate(stages)}
    for stage, factor in factors.items():
        scale_learning_rate(optimizer, factor, named("/" + stage.strip("/")))
    return factors
