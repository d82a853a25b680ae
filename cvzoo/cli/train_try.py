"""`cvzoo train --try` and `--find-lr`: a few iterations in a temporary folder, and what they say of a training."""

import dataclasses
import datetime
import itertools
import resource
import statistics
import tempfile
import time

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.reporting.as_time import as_time
from cvzoo.reporting.counted import counted
from cvzoo.training.find_learning_rate import find_learning_rate
from cvzoo.training.recipes.recipe import AbstractRecipe, Splits
from cvzoo.training.recipes.training import Training

ITERATIONS = 20  # the first ones, which allocate memory and choose kernels, are not timed
LR_ITERATIONS = 100  # of the learning rate range test
_WARM = 3  # kernels are chosen and memory is taken in the first iterations
_VALIDATED = 8  # images


@dataclasses.dataclass(frozen=True)
class _Few:
    """The splits with a part of the validation set."""

    train: AbstractSliceableDataset
    val: AbstractSliceableDataset
    label_names: tuple[str, ...]


def try_training(recipe: AbstractRecipe, splits: Splits, start: str, *, compile: bool = False) -> int:
    """Prints seconds an iteration, memory and estimated end of a training; its folder is removed. Returns 0."""
    few = _Few(splits.train, splits.val.slice[:_VALIDATED], splits.label_names)

    with tempfile.TemporaryDirectory(prefix="cvzoo-try-") as folder:
        training = Training(recipe, few, folder, compile=compile, data={})
        updater = training.trainer.updater
        seconds = []
        try:
            for _ in itertools.repeat(None, ITERATIONS):
                before = time.perf_counter()
                updater.update()
                seconds.append(time.perf_counter() - before)
            before = time.perf_counter()
            recipe.evaluator(training.model, few)()
            per_image = (time.perf_counter() - before) / len(few.val)
        finally:
            updater.finalize()
    typical = statistics.median(seconds[_WARM:])
    n = recipe.n_update(len(splits.train))
    n_validation = -(-recipe.epochs // recipe.validation_interval)
    validation = per_image * len(splits.val)
    total = n * typical + n_validation * validation
    end = datetime.datetime.now() + datetime.timedelta(seconds=total)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    batch = counted(recipe.batch_size, "image")
    parts = f"{counted(n, 'iteration')}, {counted(n_validation, 'validation')}"
    print(start)
    print(f"{ITERATIONS} iterations of {batch}: {typical:.3g} s each, the first {seconds[0]:.3g} s")
    print(f"memory: {memory:.1f} GiB at most")
    print(f"a validation of {counted(len(splits.val), 'image')}: about {as_time(validation)}")
    print(f"{counted(recipe.epochs, 'epoch')}, {parts}: about {as_time(total)}")
    print(f"estimated end, if started now: {end:%Y-%m-%d %H:%M}; no files were left")
    return 0


def suggest_learning_rate(recipe: AbstractRecipe, splits: Splits, start: str) -> int:
    """Prints the losses of a learning rate range test and the rate at which they fall fastest. Returns 0."""
    with tempfile.TemporaryDirectory(prefix="cvzoo-find-lr-") as folder:
        training = Training(recipe, splits, folder, data={})
        trainer = training.trainer
        try:
            # parameters of layers that infer their shapes have values after a first update
            trainer.updater.update()
            curve = find_learning_rate(trainer, n_iteration=LR_ITERATIONS)
        finally:
            trainer.updater.finalize()
    print(start)
    print(f"{'learning rate':>13}  {'loss':>9}  {'smoothed':>9}")
    for i in range(0, len(curve.lrs), max(len(curve.lrs) // 12, 1)):
        print(f"{curve.lrs[i]:>13.2g}  {curve.losses[i]:>9.4g}  {curve.smoothed[i]:>9.4g}")
    if curve.suggestion is None:
        print(f"no suggestion: the loss never falls; the recipe has lr={recipe.lr:g}")
    else:
        best = f"lr={curve.suggestion:.2g}"
        print(f"the loss falls fastest at {best}, it is lowest at {curve.limit:.2g}; the recipe has {recipe.lr:g}")
    return 0
