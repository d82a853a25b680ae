"""The folder of a run, with its configuration, logs and results."""

import contextlib
import json
import os
import pathlib
import random
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cvzoo.config.randomness import set_seed
from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.distributed.create_multi_node_optimizer import create_multi_node_optimizer
from cvzoo.distributed.null_communicator import NullCommunicator
from cvzoo.distributed.scatter_dataset import scatter_batches
from cvzoo.errors.exceptions import FileFormatError, ValueRangeError
from cvzoo.iterators.abstract import AbstractIterator
from cvzoo.iterators.multiprocess_iterator import MultiprocessIterator
from cvzoo.iterators.order_samplers import Sampler
from cvzoo.iterators.serial_iterator import SerialIterator
from cvzoo.links.link import Link
from cvzoo.optimizers.hooks.exponential_moving_average import ExponentialMovingAverage
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.training.concat_examples import concat_examples
from cvzoo.training.extensions.averaged import Averaged
from cvzoo.training.extensions.best_model import BestModel
from cvzoo.training.extensions.csv_report import CSVReport
from cvzoo.training.extensions.fail_on_non_number import FailOnNonNumber
from cvzoo.training.extensions.json_lines_report import JSONLinesReport
from cvzoo.training.extensions.live_report import LiveReport
from cvzoo.training.extensions.log_report import LogReport
from cvzoo.training.extensions.multi_node_checkpointer import create_multi_node_checkpointer
from cvzoo.training.extensions.observation_aggregator import ObservationAggregator
from cvzoo.training.extensions.plot_report import PlotReport
from cvzoo.training.extensions.print_report import PrintReport
from cvzoo.training.extensions.progress_bar import ProgressBar
from cvzoo.training.extensions.run_report import RunReport
from cvzoo.training.extensions.snapshot import snapshot
from cvzoo.training.extensions.tensorboard_report import TensorBoardReport
from cvzoo.training.output_folder import check_output_folder, make_output_folder, sweep_parts, write_text
from cvzoo.training.run.command import CONFIG, SCRIPT_COPY, Command, copy_script, resume_words, this_command
from cvzoo.training.run.data_fingerprint import data_fingerprint, same_data
from cvzoo.training.run.environment import environment_facts
from cvzoo.training.run.mark_killed import mark_if_killed
from cvzoo.training.run.plain import plain, stored_as
from cvzoo.training.run.run_report import IMAGES, ITERATIONS
from cvzoo.training.trainer import Trainer
from cvzoo.training.updaters.standard_updater import StandardUpdater
from cvzoo.typing.aliases import FilePath
from cvzoo.typing.protocols import IndexableDataset

if TYPE_CHECKING:
    from cvzoo.training.triggers.abstract import TriggerLike

_FORMAT = 1  # of run.json
ENVIRONMENT, DATA, PLOTS = "environment.json", "data.json", "plots"


class Run:
    """A folder with the configuration, environment, logs and results of a training, by which it can be repeated.

    >>> run = Run("runs/bccd", recipe, seed=0, data={"train": train, "val": val}, resume=args.resume)
    >>> trainer = run.trainer(optimizer, train, 16, (50, "epoch"))
    >>> run.extend(trainer, model, best="validation/main/map")
    >>> trainer.run()

    out: the folder, created if it does not exist
    recipe: the resolved settings: a dataclass, a dictionary, or None
    seed: of cvzoo's, NumPy's and Python's generators, which are seeded at once: create the run before the model
    data: data sets by name, to compute their fingerprints, which reads their annotations; or such fingerprints
    resume: resume the run in the folder, if there is one; otherwise a folder with a run is an error
    command: the command of the run; None: that of this process
    resume_with: the command that resumes the run, for messages and the report; None: that of this script if it has
        --resume, else `Run(..., resume=True)`
    comm: of a training on several ranks, of which rank 0 writes the files; `trainer` gives each its part of the batches
        and updates by the mean gradients; None: one process

    Writes config.json (recipe, seed, command), environment.json (versions, CPU, threads), data.json (fingerprints),
    script.py (a copy of the script); `extend` adds the files that are written during training.
    Raises ValueRangeError if the folder has a run and `resume` is not set, OSError if it is not writable. If a run is
    resumed with different data, settings or seed, a warning names them.
    """

    def __init__(
        self,
        out: FilePath,
        recipe: object = None,
        *,
        seed: int = 0,
        data: Mapping[str, Any] | None = None,
        resume: bool = False,
        command: Command | None = None,
        resume_with: str | None = None,
        comm: AbstractCommunicator | None = None,
    ):
        self.comm: AbstractCommunicator = NullCommunicator() if comm is None else comm
        self.out = os.fspath(out)
        self.seed = int(seed)
        self.resume = bool(resume)
        command = this_command(self.out) if command is None else command
        self.resume_with = resume_with or resume_words(command, self.out) or f"Run({self.out!r}, ..., resume=True)"
        _seed_all(self.seed)
        self.config = {
            "format": _FORMAT,
            "recipe": plain({} if recipe is None else recipe),
            "seed": self.seed,
            "command": command.to_json(),
        }
        self.data = {
            name: dict(each) if isinstance(each, Mapping) else data_fingerprint(each)
            for name, each in (data or {}).items()
        }
        if self.comm.rank == 0:
            self._begin(recipe, command)

    def _begin(self, recipe: object, command: Command) -> None:
        """Checks the folder and writes the first files."""
        before = check_run_folder(self.out, resume=self.resume, resume_with=self.resume_with)
        make_output_folder(self.out)
        for folder in (self.out, pathlib.Path(self.out, PLOTS)):
            sweep_parts(folder)
        if before:
            before["config"]["recipe"] = stored_as(recipe, before["config"]["recipe"])
            _warn_of_changes(self.out, before, self.config, self.data)
        self._write(ENVIRONMENT, environment_facts())
        self._write(DATA, self.data)
        copy_script(command, self.out)
        self._write(CONFIG, self.config)  # last: if it exists, the others do, too

    @contextlib.contextmanager
    def removed_on_error(self) -> Iterator[None]:
        """A block that prepares the training; an error removes a new run's files, so that the folder has no run."""
        try:
            yield
        except BaseException:
            if not self.resume and self.comm.rank == 0:
                with contextlib.suppress(OSError):
                    for name in (CONFIG, DATA, ENVIRONMENT, SCRIPT_COPY):
                        pathlib.Path(self.out, name).unlink(missing_ok=True)
                    for folder in (
                        pathlib.Path(self.out, IMAGES),
                        pathlib.Path(self.out, PLOTS),
                        pathlib.Path(self.out),
                    ):
                        if folder.is_dir():
                            folder.rmdir()  # unless it has other files
            raise

    def _write(self, name: str, tree: object) -> None:
        write_text(pathlib.Path(self.out, name), json.dumps(tree, indent=2, ensure_ascii=False) + "\n")

    def trainer(
        self,
        optimizer: AbstractOptimizer,
        examples: IndexableDataset[object],
        batch_size: int,
        stop: "TriggerLike",
        *,
        converter: Callable = concat_examples,
        n_processes: int = 2,
        order_sampler: Sampler | None = None,
    ) -> Trainer:
        """A trainer that updates once per batch and writes into the run's folder.

        optimizer: set up with the loss
        examples: the data set to train on, read by `n_processes` workers, 0: by this process, in an order that depends
            on the run's seed alone
        stop: when training ends, such as (50, "epoch")
        converter: turns a batch of examples into the arguments of the loss
        order_sampler: decides on the order of each epoch, such as a RepeatFactorOrderSampler; None: at random
        """
        iterator: AbstractIterator[object]
        if n_processes:
            iterator = MultiprocessIterator(
                examples, batch_size, n_processes=n_processes, order_sampler=order_sampler, seed=self.seed
            )
        else:
            iterator = SerialIterator(examples, batch_size, order_sampler=order_sampler, seed=self.seed)
        if self.comm.size == 1:
            return Trainer(StandardUpdater(iterator, optimizer, converter=converter), stop, out=self.out)
        iterator = scatter_batches(iterator, self.comm)
        optimizer = create_multi_node_optimizer(optimizer, self.comm)
        return Trainer(StandardUpdater(iterator, optimizer, converter=converter), stop, out=self.out, comm=self.comm)

    def extend(
        self,
        trainer: Trainer,
        model: Link,
        *,
        best: str | None = None,
        best_is: str = "largest",
        log: "TriggerLike" = (1, "epoch"),
        save: "TriggerLike" = (1, "epoch"),
        print_keys: Sequence[str] | None = None,
        plot_keys: Sequence[str] = ("main/loss", "validation/main/loss"),
        half: bool = False,
        label_names: Sequence[str] | None = None,
        average: ExponentialMovingAverage | None = None,
    ) -> None:
        """Adds all extensions that write into the folder; evaluators and schedules are up to the script.

        model: saved as best.safetensors
        best: the score that selects it, such as "validation/main/map"; None: no such file
        best_is: "largest" or "smallest"
        log, save: triggers of logs and of snapshots
        print_keys: the columns of the printed table; None: those of the first entry
        plot_keys: the values in plots/loss.svg; `best` is plotted in plots/best.svg
        half, label_names: as for BestModel
        average: best.safetensors has these averages of the weights; extend the trainer with `Averaged` evaluators
        Files: metrics.jsonl, metrics.csv, log (JSON), events for TensorBoard, plots/, snapshot_iter_*.npz, report.html,
        status.json, live.jsonl (rows every few seconds), and iterations.jsonl, which has each of the first 100
        iterations, then every tenth, and so on
        Raises ValueRangeError if the trainer has a different folder.
        """
        if os.path.abspath(trainer.out) != os.path.abspath(self.out):
            raise ValueRangeError(
                "the trainer has a different output folder", expected=self.out, got=trainer.out, hint="out=run.out"
            )
        trainer.extend(FailOnNonNumber())
        keeper = snapshot(autoload=self.resume, resume_with=self.resume_with)
        if self.comm.size > 1:
            trainer.extend(ObservationAggregator(self.comm))
            trainer.extend(create_multi_node_checkpointer(keeper, self.comm), trigger=save)
        if self.comm.rank:
            return
        os.makedirs(pathlib.Path(self.out, PLOTS), exist_ok=True)
        trainer.extend(LogReport(trigger=log))
        trainer.extend(JSONLinesReport(trigger=log))
        trainer.extend(JSONLinesReport(trigger=_ever_less_often, filename=ITERATIONS), name="iterations")
        trainer.extend(LiveReport())
        trainer.extend(CSVReport(trigger=log))
        trainer.extend(TensorBoardReport(trigger=log))
        trainer.extend(PlotReport(plot_keys, trigger=log, filename="plots/loss.svg", marker=None), name="plot_loss")
        trainer.extend(PrintReport(print_keys))
        trainer.extend(ProgressBar())
        if best is not None:
            trainer.extend(PlotReport(best, trigger=log, filename="plots/best.svg", marker=None), name="plot_best")
            best_model = BestModel(model, best, best_is, half=half, label_names=label_names)
            trainer.extend(best_model if average is None else Averaged(best_model, average))
        trainer.extend(RunReport(best, best_is, log, resume_with=self.resume_with))
        if self.comm.size == 1:
            trainer.extend(keeper, trigger=save)


def _seed_all(seed: int) -> None:
    set_seed(seed)
    random.seed(seed)
    np.random.seed(seed % (1 << 32))


def _ever_less_often(trainer: Trainer) -> bool:
    """After each of the first 100 iterations, each tenth of the first 1000, and so on, for curves from the start."""
    iteration = trainer.updater.iteration
    return iteration % 10 ** max(len(str(iteration)) - 2, 0) == 0


def check_run_folder(out: FilePath, *, resume: bool, resume_with: str) -> dict[str, Any] | None:
    """Checks that a run can be started in the folder; returns config and data of the run in it, None without one.

    resume_with: the command that resumes it, for the error
    A run with a killed process is marked as killed in its report.
    Raises ValueRangeError if there is one and `resume` is not set, or if a process is training there; FileFormatError
    if a file is damaged; OSError if the folder is not writable.
    """
    check_output_folder(out)
    status = mark_if_killed(out)
    before = _before(os.fspath(out))
    if before and not resume:
        how = "" if status is None else f" ({status.state} at iteration {status.iteration}, {status.seen})"
        raise ValueRangeError(f"{out} already has a run{how}", hint=f"{resume_with}, or another folder")
    return before


def _before(out: str) -> dict[str, Any] | None:
    """config and data of the run in the folder; None if there is none."""
    values = {}
    for key, name in (("config", CONFIG), ("data", DATA)):
        path = pathlib.Path(out, name)
        if not path.exists():
            return None
        try:
            values[key] = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise FileFormatError(f"{path} is damaged: {error}") from error
    return values


def _warn_of_changes(out: str, before: Mapping[str, Any], config: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    then = before["config"]
    changed = [f"{name}: {a!r} is now {b!r}" for name, a, b in differences(then["recipe"], config["recipe"])]
    if then["seed"] != config["seed"]:
        changed.append(f"seed: {then['seed']} is now {config['seed']}")
    for name in sorted({*before["data"], *data}):
        if name not in data or name not in before["data"] or same_data(before["data"][name], data[name]) is False:
            changed.append(f"the data {name!r} have changed")
    if changed:
        warnings.warn(
            f"{out} is resumed with different settings:\n  " + ";\n  ".join(changed), RuntimeWarning, stacklevel=3
        )
    print(f"resumes the run in {out}", file=sys.stderr)


def differences(a: object, b: object, name: str = "") -> list[tuple[str, object, object]]:
    """(name, value in a, value in b) of the differences of two JSON trees; None for missing values."""
    if not (isinstance(a, dict) and isinstance(b, dict)):
        return [] if a == b and type(a) is type(b) else [(name, a, b)]
    lines = []
    for key in [*a, *(key for key in b if key not in a)]:
        lines += differences(a.get(key), b.get(key), f"{name}.{key}" if name else key)
    return lines
