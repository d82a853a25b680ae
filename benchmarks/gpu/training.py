"""Steps of training ResNet-50 on a GPU: ours captured and eager, PyTorch compiled and eager (AMP, channels-last).

    python benchmarks/gpu/training.py --out result.json [--batch 256] [--dtype mixed_bf16]

A step is forward, softmax cross entropy, backward and SGD with momentum 0.9, PyTorch's fused; parameters and their
updates are float32 on both sides. Images are random numbers that lie channels-last, the next of three batches each
time. All begin with the same numbers, seeded by PyTorch's names of the tensors. `memory` is what a side holds of the
device after its steps, that of graphs included, other sides' left-over memory given back before.

Then the losses of `--steps` steps on one batch that is overfit, ours and PyTorch's, from the same start. Both
round to 16 bits in ways of their own, and such steps make much of what is rounded: PyTorch's other curve, in float32
(TF32), says how much. `difference` is the mean of |a - b| over the steps in parts of the mean of b.
"""

import pathlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from bench import (
    begin,
    dtype_of,
    gpu,
    in_turn,
    is_made_up,
    optional,
    parser,
    photos,
    scratch,
    seeded_file,
    torch_device,
)

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.config.switches import using_config
from cvzoo.optimizers import MomentumSGD

LR, MOMENTUM = 0.01, 0.9
SETS = 3
Step = Callable[[int], Any]


def labels(batch: int, n_class: int, count: int) -> list[np.ndarray]:
    """Random classes of each image."""
    rng = np.random.default_rng(1)
    return [rng.integers(0, n_class, batch).astype("int32") for _ in range(count)]


class Ours:
    """Our side: what makes steps.

    file: the numbers to begin with, or None for random ones
    """

    name = "ours"

    def __init__(self, arguments: Any, file: pathlib.Path | None, xs: list[Any], ts: list[np.ndarray]):
        self.arguments, self.file = arguments, file
        self.xs, self.ts = xs, [gpu().asarray(t) for t in ts]

    def step(self, *, compiled: bool) -> Step:
        """A function of the batch's number that makes a step and gives the loss, on the device."""
        cvzoo.set_seed(0)
        if self.arguments.quick and self.file is None:
            model = L.ResNet(10, 10, base_channels=8, insize=32)
        elif self.file is None:
            model = L.ResNet50(n_class=1000)
        else:
            model = L.ResNet50(pretrained_model=self.file)
        model.to_device("gpu:0")
        optimizer = MomentumSGD(lr=LR, momentum=MOMENTUM).setup(model)
        if self.arguments.dtype == "mixed_fp16":
            optimizer.loss_scaling()
        if compiled:
            graph = model.compile(self.xs[0], train=True)
            print(graph.summary().split("\n")[0] if graph is not None else "NOT CAPTURED", flush=True)
        kept = []

        def lossfun(x: Any, t: Any) -> Any:
            kept[:] = [F.softmax_cross_entropy(model(x), t)]
            return kept[0]

        def step(k: int) -> Any:
            optimizer.update(lossfun, self.xs[k], self.ts[k])
            return kept[0].array

        return step


class Theirs:
    """PyTorch's side."""

    name = "PyTorch"

    def __init__(self, arguments: Any, folder: pathlib.Path, torchvision: Any, xs: list[Any], ts: list[np.ndarray]):
        import torch

        self.torch, self.arguments = torch, arguments
        torch.backends.cudnn.benchmark = True
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = True
        self.model = torchvision.models.resnet50(weights=None)
        self.file = seeded_file(folder, "resnet50", self.model)
        last = {"device": torch_device(), "memory_format": torch.channels_last}
        self.xs = [torch.from_numpy(x.astype("float32").get()).to(**last) for x in xs]
        self.ts = [torch.from_numpy(t.astype("int64")).to(torch_device()) for t in ts]

    def step(self, *, compiled: bool, mode: str) -> Step:
        """As `Ours.step`."""
        import copy

        torch = self.torch
        kind = {"mixed_bf16": torch.bfloat16, "mixed_fp16": torch.float16}.get(mode)
        model = copy.deepcopy(self.model).to(torch_device(), memory_format=torch.channels_last).train()
        optimizer = torch.optim.SGD(model.parameters(), lr=LR, momentum=MOMENTUM, fused=True)
        scaler = torch.amp.GradScaler(torch_device(), enabled=kind is torch.float16)
        network = torch.compile(model, mode="default" if is_made_up() else "max-autotune") if compiled else model

        def step(k: int) -> Any:
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(torch_device(), kind or torch.bfloat16, enabled=kind is not None):
                loss = torch.nn.functional.cross_entropy(network(self.xs[k]), self.ts[k])
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            return loss.detach()

        return step


def free_memory() -> int:
    """Unallocated bytes, after cached memory was released."""
    import gc
    import sys

    gc.collect()
    gpu().cuda.Device().synchronize()
    gpu().get_default_memory_pool().free_all_blocks()
    if sys.modules.get("torch") is not None and sys.modules["torch"].cuda.is_available():
        sys.modules["torch"].cuda.empty_cache()
    return gpu().cuda.runtime.memGetInfo()[0]


def begun(make: Callable[[], Step], row: dict[str, Any], name: str) -> Step:
    """The step, made and done twice; what that took."""
    before = free_memory()
    start = time.perf_counter()
    step = make()
    for k in (0, 1):
        step(k)
    gpu().cuda.Device().synchronize()
    peak = before - gpu().cuda.runtime.memGetInfo()[0]
    row[name] = {"to begin, s": round(time.perf_counter() - start, 1), "memory": f"{peak / 1e9:.2f} GB"}
    return step


def curve(step: Step, count: int) -> list[float]:
    """The losses of so many steps on the first batch."""
    losses = [step(0) for _ in range(count)]
    return [float(loss.get()) if isinstance(loss, gpu().ndarray) else float(loss) for loss in losses]


def main() -> None:
    """Measure and print."""
    made = parser(__doc__)
    made.add_argument("--batch", type=int)
    made.add_argument("--steps", type=int)
    made.add_argument("--dtype", choices=("float32", "tf32", "mixed_fp16", "mixed_bf16"), default="mixed_bf16")
    arguments = made.parse_args()
    quick = arguments.quick
    batch = arguments.batch or (2 if quick else 256)
    steps = arguments.steps or (2 if quick else 200)
    size, n_class = ((32, 32), 10) if quick else ((224, 224), 1000)
    report = begin("Training on a GPU", arguments)
    torchvision = optional("torchvision")
    mode = arguments.dtype
    with scratch() as place, using_config("dtype", mode), using_config("autotune", not quick):
        xs, ts = photos(batch, size, dtype_of(mode), SETS), labels(batch, n_class, SETS)
        theirs = None if torchvision is None else Theirs(arguments, pathlib.Path(place), torchvision, xs, ts)
        ours = Ours(arguments, None if theirs is None else theirs.file, xs, ts)
        makers: dict[str, Callable[[], Step]] = {
            "ours": lambda: ours.step(compiled=True),
            "ours eager": lambda: ours.step(compiled=False),
        }
        if theirs is not None:
            makers["PyTorch compiled"] = lambda: theirs.step(compiled=True, mode=mode)
            makers["PyTorch eager"] = lambda: theirs.step(compiled=False, mode=mode)

        def measure(case: str) -> None:
            row: dict[str, Any] = {"case": case, "batch": batch, "dtype": mode}
            made = {name: begun(make, row, name) for name, make in makers.items()}
            rivals = {name: [lambda k=k, step=step: step(k) for k in range(SETS)] for name, step in made.items()}
            found = in_turn(rivals, rounds=2 if quick else 7, count=2 if quick else 9)
            for name, each in found.items():
                row[name] |= each | {"photos/s": round(1e3 * batch / each["median_ms"], 1)}
            report.add(row)

        def learn(case: str) -> None:
            curves = {"ours": curve(makers["ours"](), steps)}
            if theirs is not None:
                curves["PyTorch"] = curve(makers["PyTorch eager"](), steps)
                curves["PyTorch, TF32"] = curve(theirs.step(compiled=False, mode="tf32"), steps)
            row: dict[str, Any] = {"case": case, "steps": steps, "finite": bool(np.isfinite(curves["ours"]).all())}
            for name in list(curves)[1:]:
                a, b = np.array(curves["ours"]), np.array(curves[name])
                row[f"difference to {name}"] = round(float(np.abs(a - b).mean() / np.abs(b).mean()), 5)
            report.add(row | {"losses": {name: [round(each, 4) for each in one] for name, one in curves.items()}})

        report.try_each(["resnet50 step"], measure)
        report.try_each(["resnet50 losses"], learn)


if __name__ == "__main__":
    main()
