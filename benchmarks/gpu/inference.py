"""Networks without gradients on a GPU: ours captured and eager, PyTorch compiled and eager (channels-last), in turn.

    python benchmarks/gpu/inference.py --out result.json [--models resnet50] [--batches 256 1 32]

Both sides have the same numbers, seeded by PyTorch's names of the tensors, and images of 224 x 224 in 16 bits that lie
channels-last; nothing is measured on zeros, and each call has the next of three sets of images. PyTorch chooses its
kernels by measuring (cudnn.benchmark; max-autotune for ResNet-50, the default mode for the others), so do we.

`ours` is `model.compile(x)`: a copy of the images into the graph, its launch, a copy of the result out of it. `first
over this` below 1: ours takes less time. `wall` rows are what who waits for each result sees, `predict` from an image
of 8 bits to names on the host. `parity` rows compare with PyTorch in float32: ||a - b|| / ||b|| of a batch of eight.
"""

import pathlib
import time
from typing import Any

from bench import (
    PARITY,
    begin,
    dtype_of,
    gpu,
    host,
    in_turn,
    is_made_up,
    optional,
    parser,
    photos,
    poison,
    relative_error,
    scratch,
    seeded_file,
    torch_device,
    wall_milliseconds,
)

import cvzoo
import cvzoo.links as L
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.links.model.raw_outputs import seeded_photo

MODELS = {  # PyTorch's name: ours, how PyTorch compiles it
    "resnet50": (L.ResNet50, "max-autotune"),
    "mobilenet_v3_large": (L.MobileNetV3Large, "default"),
    "efficientnet_b0": (L.EfficientNetB0, "default"),
    "convnext_tiny": (L.ConvNeXtTiny, "default"),
    "vit_b_16": (L.ViTB16, "default"),
    "swin_t": (L.SwinT, "default"),
}
NEEDED_BATCHES = {"resnet50": (256, 1, 32)}
SETS = 3


def our_model(name: str, file: pathlib.Path | None, quick: bool) -> Any:
    """The network on the GPU, by the file's numbers or, without one, by random ones."""
    cvzoo.set_seed(0)
    if quick and file is None:
        return L.ResNet(10, 10, base_channels=8, insize=32).to_device("gpu:0")
    if file is None:
        return MODELS[name][0](n_class=1000).to_device("gpu:0")
    return MODELS[name][0](pretrained_model=file).to_device("gpu:0")


class Rival:
    """PyTorch's network of that name, whose numbers stand in `file`."""

    def __init__(self, name: str, folder: pathlib.Path, torchvision: Any):
        import torch

        self.torch, self.name = torch, name
        torch.backends.cudnn.benchmark = True
        self.model = vars(torchvision.models)[name](weights=None).eval()
        self.file = seeded_file(folder, name, self.model)

    def made(self, mode: str) -> Any:
        """It on the GPU in that dtype, weights channels-last."""
        import copy

        torch = self.torch
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = mode == "tf32"
        return copy.deepcopy(self.model).to(torch_device(), self.kind(mode), memory_format=torch.channels_last)

    def kind(self, mode: str) -> Any:
        """PyTorch's dtype."""
        torch = self.torch
        return {"mixed_bf16": torch.bfloat16, "mixed_fp16": torch.float16}.get(mode, torch.float32)

    def photos(self, xs: list[Any], mode: str) -> list[Any]:
        """The same images."""
        torch = self.torch
        like = {"device": torch_device(), "dtype": self.kind(mode), "memory_format": torch.channels_last}
        return [torch.from_numpy(x.astype("float32").get()).to(**like) for x in xs]


def measure(case: tuple[str, int], arguments: Any, folder: pathlib.Path, report: Any) -> None:
    """One network, one batch."""
    name, batch = case
    mode, size = arguments.dtype, (32, 32) if arguments.quick else (224, 224)
    torchvision = optional("torchvision")
    theirs = None if torchvision is None else Rival(name, folder, torchvision)
    file = None if theirs is None else theirs.file
    xs = photos(batch, size, dtype_of(mode), SETS)
    row: dict[str, Any] = {"case": name, "batch": batch, "dtype": mode}
    eager, ours = our_model(name, file, arguments.quick), our_model(name, file, arguments.quick)
    with using_config("dtype", mode), using_config("autotune", not arguments.quick):
        eager(xs[0])
        start = time.perf_counter()
        graph = ours.compile(xs[0])
        row["our compiling, s"] = round(time.perf_counter() - start, 2)
        row["captured"] = graph is not None
        rivals = {
            "ours": [lambda x=x: ours(x) for x in xs],
            "ours eager": [lambda x=x: eager(x) for x in xs],
        }
        if theirs is not None:
            plain, ys = theirs.made(mode), theirs.photos(xs, mode)
            how = MODELS[name][1] if not is_made_up() else "default"
            compiled = theirs.torch.compile(plain, mode=how)
            start = time.perf_counter()
            compiled(ys[0])
            row["PyTorch's compiling, s"] = round(time.perf_counter() - start, 2)
            rivals[f"PyTorch {how}"] = [lambda y=y: compiled(y) for y in ys]
            rivals["PyTorch eager"] = [lambda y=y: plain(y) for y in ys]
        count = 2 if arguments.quick else max(10, min(200, 2000 // batch))
        row["rivals"] = in_turn(rivals, rounds=2 if arguments.quick else 9, count=count)
        for each in row["rivals"].values():
            each["photos/s"] = round(1e3 * batch / each["median_ms"], 1)
        if batch == 1:
            row["wall"] = in_turn(rivals, rounds=2 if arguments.quick else 5, count=count, clock=wall_milliseconds)
            photo = seeded_photo((480, 640)).astype("uint8")
            for _ in range(3):
                ours.predict([photo])
            calls = [lambda: ours.predict([photo])]
            row["predict"] = in_turn({"ours": calls}, rounds=2 if arguments.quick else 5, count=count)["ours"]
    report.add(row)


def compare(name: str, arguments: Any, folder: pathlib.Path, report: Any) -> None:
    """How far each dtype is from PyTorch in float32, and PyTorch's own."""
    torchvision = optional("torchvision")
    if torchvision is None:
        return
    theirs = Rival(name, folder, torchvision)
    size = (32, 32) if arguments.quick else (224, 224)
    (x,) = photos(2 if arguments.quick else 8, size, "float32", 1, seed=7)
    (y,) = theirs.photos([x], "float32")
    want = host(theirs.made("float32")(y))
    ours = our_model(name, theirs.file, arguments.quick)
    row: dict[str, Any] = {"case": f"parity {name}", "allowed": PARITY}
    for mode in PARITY:
        poison(1 << 20 if arguments.quick else 1 << 30)
        with using_config("dtype", mode):
            eager = host(ours(x.astype(dtype_of(mode))))
            ours.compile(x.astype(dtype_of(mode)))
            replayed = host(ours(x.astype(dtype_of(mode))))
            ours.uncompile()
        row[mode] = {"ours": relative_error(replayed, want), "ours eager": relative_error(eager, want)}
        row[mode]["PyTorch"] = relative_error(host(theirs.made(mode)(theirs.photos([x], mode)[0])), want)
        row[mode]["in bounds"] = row[mode]["ours"] <= PARITY[mode]
        row[mode]["over PyTorch's"] = round(row[mode]["ours"] / max(row[mode]["PyTorch"], 1e-12), 2)
    report.add(row)


def main() -> None:
    """Measure and print."""
    made = parser(__doc__)
    made.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    made.add_argument("--batches", type=int, nargs="+", help="default: 256, 1 and 32 for ResNet-50, 256 for others")
    made.add_argument("--dtype", choices=PARITY, default="mixed_bf16")
    made.add_argument("--no-parity", action="store_true")
    arguments = made.parse_args()
    if arguments.quick:
        arguments.models = arguments.models[:1]
        arguments.batches = arguments.batches or [2, 1]
    report = begin("Inference on a GPU", arguments)
    gpu()
    torch = optional("torch")
    off = no_backprop_mode() if torch is None else torch.inference_mode()
    cases = [
        (name, batch) for name in arguments.models for batch in arguments.batches or NEEDED_BATCHES.get(name, (256,))
    ]
    with scratch() as place, using_config("train", False), no_backprop_mode(), off:
        folder = pathlib.Path(place)
        if not arguments.no_parity:
            report.try_each(arguments.models, lambda name: compare(name, arguments, folder, report))
        report.try_each(cases, lambda case: measure(case, arguments, folder, report))


if __name__ == "__main__":
    main()
