"""`cvzoo benchmark`: measures the speed of a model, by stage, and next to other runtimes."""

import argparse
import contextlib
import importlib.util
import itertools
import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cvzoo.autodiff.function_hook import AbstractFunctionHook
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.backends.threads import is_busy, load, thread_count
from cvzoo.cli.benchmark_runtimes import RUNTIMES, compare_runtimes, percentiles
from cvzoo.cli.check_target import check_target
from cvzoo.cli.json_records import write_json
from cvzoo.cli.load_predictor import Predictor, load_predictor
from cvzoo.cli.photo_sources import Trouble, photo_sources
from cvzoo.cli.result_table import printable
from cvzoo.errors.exceptions import BackendError, ConfigError, ImageError, UnsupportedError
from cvzoo.images.read_image import read_image
from cvzoo.reporting.counted import counted
from cvzoo.training.run.environment import environment_facts
from cvzoo.typing.aliases import Array

STAGES = ("decode", "prepare", "network", "postprocess")
# methods that compute the network in the predict loops of one-stage detectors, classifiers and segmentation networks
_NETWORKS = ("outputs", "scores", "coarse_scores")
_PART = "CVZOO_BENCHMARK_PART"  # set in the processes for one number of threads each


def run(args: argparse.Namespace) -> int:
    """0 measured, 1 outputs of a runtime differ. Raises ConfigError, UnsupportedError, and errors of loading."""
    if args.model is None and args.cfg is None:
        raise ConfigError("no model was given", hint="cvzoo benchmark NAME, FILE, or --cfg FILE --weights FILE")
    for name, values in (("--threads", args.threads or (1,)), ("--batch-size", args.batch_size)):
        if min(values) < 1:
            raise ConfigError(f"{name}: {min(values)} is not a positive number")
    unknown = sorted({*(args.runtimes or ())} - {*RUNTIMES, "none"})
    if unknown:
        raise ConfigError(f"--runtimes: {unknown[0]!r} is unknown", expected=f"{', '.join(RUNTIMES)} or none")
    check_target(args.out)
    paths = _paths(args.images)
    if os.environ.get(_PART):
        print(json.dumps(_measure(args, paths)))
        return 0
    counts = args.threads or (thread_count()[0],)
    here = counts == (thread_count()[0],)
    parts = [_measure(args, paths) if here else _in_process(args.words, count) for count in counts]
    record = {
        "model": args.model or args.cfg,
        "class": parts[0]["class"],
        "n_image": len(paths),
        "calls": args.calls,
        "machine": environment_facts(),
        "results": [each for part in parts for each in part["results"]],
        "runtimes": [each for part in parts for each in part["runtimes"]],
        "busy": next((part["busy"] for part in parts if part["busy"] is not None), None),
        "notes": list(dict.fromkeys(note for part in parts for note in part["notes"])),
    }
    if args.out is not None:
        write_json(record, args.out)
    _print(record)
    return 0 if all(each["agrees"] for each in record["runtimes"]) else 1


def _paths(words: Sequence[str]) -> list[str]:
    """The image files. Raises ImageError for what is none, or if there is none."""
    sources, _ = photo_sources(words, ())
    paths = []
    for each in sources:
        if isinstance(each, Trouble):
            raise ImageError(f"cannot measure with {each.name}: {each.why}")
        if not isinstance(each, pathlib.Path):
            raise ImageError(f"{each}: is no file", hint="only files are measured")
        read_image(each)  # an error now rather than in the middle
        paths.append(os.fspath(each))
    if not paths:
        raise ImageError("there are no images", got=" ".join(words))
    return paths


def _in_process(words: Sequence[str], count: int) -> dict[str, Any]:
    """The measurements with another number of threads, which a process cannot change."""
    variables = dict(os.environ, CVZOO_NUM_THREADS=str(count), OMP_NUM_THREADS=str(count), **{_PART: "1"})
    done = subprocess.run([sys.executable, "-m", "cvzoo", *words], env=variables, stdout=subprocess.PIPE, text=True)
    try:
        record: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        raise BackendError(
            f"the measurement with {counted(count, 'thread')} failed, status {done.returncode}"
        ) from None
    return record


# --- measuring ---
def _measure(args: argparse.Namespace, paths: Sequence[str]) -> dict[str, Any]:
    model: Predictor = load_predictor(args)
    if not callable(getattr(model, "predict", None)):
        raise UnsupportedError(f"a {type(model).__name__} has no predict() to measure")
    if args.compile:
        model.compile()
    record: dict[str, Any] = {"class": type(model).__name__, "results": [], "runtimes": [], "notes": []}
    for size in args.batch_size:
        seconds = measure_stages(model, paths, batch_size=size, calls=args.calls)
        record["results"].append(_summary(seconds, size))
    wanted = args.runtimes or tuple(name for name in RUNTIMES if importlib.util.find_spec(name) is not None)
    wanted = tuple(name for name in wanted if name != "none")
    if args.runtimes is None and not wanted:
        record["notes"].append("neither ONNX Runtime nor OpenVINO is installed: pip install onnxruntime openvino")
    for size in args.batch_size if wanted else ():
        imgs = [read_image(path) for path in itertools.islice(itertools.cycle(paths), size)]
        times, notes = compare_runtimes(model, imgs, wanted, calls=args.calls, n_thread=thread_count()[0])
        record["runtimes"] += times
        record["notes"] += notes
    record["busy"] = _busy()
    return record


def _busy() -> str | None:
    """Other programs' load in words; None if the CPUs are free."""
    return load() if is_busy() else None


def measure_stages(
    model: Predictor,
    paths: Sequence[str],
    *,
    batch_size: int,
    calls: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Seconds of each stage in each call of `predict`, and of the whole as "total"; a first call is not counted.

    paths: image files, used in turn
    Of networks with several parts, such as two-stage detectors, "network" is the time in differentiable functions, and
    the selection of region proposals between them is postprocessing.
    """
    times = _Times(clock)
    seconds: dict[str, list[float]] = {name: [] for name in (*STAGES, "total")}
    endless = itertools.cycle(paths)
    network = next((name for name in _NETWORKS if callable(getattr(model, name, None))), None)
    functions = _Functions(times) if network is None else times.timed(model, network, "network")
    with times.timed(model, "prepare", "prepare"), functions:
        for call in range(calls + 1):
            times.seconds.clear()
            begun = clock()
            model.predict(times.decoded(itertools.islice(endless, batch_size)), batch_size=batch_size)
            total = clock() - begun
            if call == 0:
                continue
            stages = {name: times.seconds.get(name, 0.0) for name in STAGES[:3]}
            stages["postprocess"] = max(total - sum(stages.values()), 0.0)
            for name, value in {**stages, "total": total}.items():
                seconds[name].append(value)
    return seconds


class _Times:
    """Seconds of stages, by wrapping methods of one model."""

    def __init__(self, clock: Callable[[], float]):
        self.seconds: dict[str, float] = {}
        self.clock = clock

    def decoded(self, paths: Iterator[str]) -> Iterator[Array]:
        """The images as `predict` asks for them."""
        for path in paths:
            begun = self.clock()
            img = read_image(path)
            self.add("decode", begun)
            yield img

    @contextlib.contextmanager
    def timed(self, model: Predictor, method: str, stage: str) -> Iterator[None]:
        """A block in which the time of a method of this model counts to a stage."""
        inner = getattr(model, method)

        def outer(*args: Any, **kwargs: Any) -> Any:
            begun = self.clock()
            try:
                return inner(*args, **kwargs)
            finally:
                self.add(stage, begun)

        object.__setattr__(model, method, outer)
        try:
            yield
        finally:
            object.__delattr__(model, method)

    def add(self, stage: str, begun: float) -> None:
        """Adds the time since `begun` to a stage."""
        self.seconds[stage] = self.seconds.get(stage, 0.0) + self.clock() - begun


class _Functions(AbstractFunctionHook):
    """Counts the time of functions that no other function calls to the network."""

    def __init__(self, times: _Times):
        self._times = times
        self._begun: list[float] = []

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[Array, ...]) -> None:
        self._begun.append(self._times.clock())

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[Array, ...]) -> None:
        begun = self._begun.pop()
        if not self._begun:
            self._times.add("network", begun)


def _summary(seconds: Mapping[str, Sequence[float]], batch_size: int) -> dict[str, Any]:
    """Milliseconds of a call by stage and percentile, and images per second."""
    return {
        "threads": thread_count()[0],
        "batch_size": batch_size,
        "milliseconds": {name: percentiles(each) for name, each in seconds.items()},
        "images_per_second": batch_size * len(seconds["total"]) / sum(seconds["total"]),
    }


# --- printing ---
def _print(record: Mapping[str, Any]) -> None:
    machine = record["machine"]
    counts = f"{counted(record['n_image'], 'image')}, {counted(record['calls'], 'call')}"
    print(f"{printable(str(record['model']))}: {record['class']}, {counts}")
    print(f"{machine['processor name']}; cvzoo {machine['cvzoo']}")
    if record["busy"] is not None:
        print(f"the times are unreliable: {record['busy']}")
    for each in record["results"]:
        print(f"\nthreads {each['threads']}, batch size {each['batch_size']}: {each['images_per_second']:.2f} images/s")
        print(f"  {'milliseconds of a call':<24}{'p50':>9}{'p90':>9}{'p99':>9}{'mean':>9}")
        for name, values in each["milliseconds"].items():
            print(f"  {name:<24}" + "".join(f"{values[key]:>9.2f}" for key in ("p50", "p90", "p99", "mean")))
    for each in record["runtimes"]:
        ours, theirs = each["cvzoo"]["p50"], each["milliseconds"]["p50"]
        said = "outputs agree" if each["agrees"] else "OUTPUTS DIFFER"
        print(
            f"\nnetwork, {each['runtime']} {each['version']}, threads {each['threads']}, input {each['input']}:\n"
            f"  p50 {theirs:.2f} ms, cvzoo {ours:.2f} ms: {theirs / ours:.2f} times as long; {said}: "
            f"at most {each['difference']:.2g} apart, of numbers up to {each['scale']:.3g}"
        )
    for note in record["notes"]:
        print(f"\n{note}")
