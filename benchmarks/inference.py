"""Networks and 3x3 convolutions without gradients: cvzoo, ONNX Runtime, OpenVINO and torch, in turn, on one CPU.

    python benchmarks/inference.py --peers-python ENV/bin/python --model detectors --out benchmarks/results/FILE.json

ENV is an environment with onnxruntime, openvino, torch and torchvision, or some of them; this one needs cvzoo only.
cvzoo runs compiled ("cvzoo"), compiled without Winograd's algorithm ("direct"), and not compiled ("eager").
Images are float32 (B, C, H, W) in C order for all but torch, which gets them channels-last, as its weights are.
ONNX Runtime and OpenVINO run the file that `cvzoo.export` writes of our random weights, for one shape, and their
results are compared with ours; torch has random weights of its own. OpenVINO has the hint LATENCY and must compute
in float32: on CPUs with AMX it would take bfloat16 by itself. One measurement is the median of `--repeat` calls
in a row; then it is another program's turn.

Of detectors it is the network, without decoding. `layers` are four 3x3 convolutions with ReLU in a row, between a 1x1
convolution of three channels and a mean over the map, as in the middle of a network: where images have C order and
convolutions another one, no program has to reorder C channels for the measurement.
`--int8` measures quantized networks: ours by `quantize` with four images, with all layers in int8 as the others have
them ("cvzoo") and by default ("default"), the others' by ONNX Runtime's static quantization of the exported file with
four (QDQ, scales by channel), which OpenVINO reads too. Images are random.
`--side` measures square images of these sides; `--plot FILE.svg` draws how times grow with the batch, the side or the
number of threads, whichever of them there are several of.
`--isa avx2` asks every program for AVX2 only; ONNX Runtime cannot be asked and is left out.
On a machine with other work on it, `--clock cpu --threads 1` measures the CPU time of the process.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from side_by_side import Worker, compare, largest_memory, machine, serve, write_results


class Network(NamedTuple):
    """ours: its name in cvzoo.links; theirs: in torchvision.models, "": none; shape: of an image, (C, H, W)."""

    ours: str
    theirs: str
    shape: tuple[int, int, int]
    batches: tuple[int, ...] = (1, 8)


_IMAGE = (3, 224, 224)
CLASSIFIERS = {
    "resnet50": Network("ResNet50", "resnet50", _IMAGE),
    "vgg16": Network("VGG16", "vgg16", _IMAGE, (1,)),
    "resnet18": Network("ResNet18", "resnet18", _IMAGE),
    "resnet101": Network("ResNet101", "resnet101", _IMAGE),
    "mobilenet_v2": Network("MobileNetV2", "mobilenet_v2", _IMAGE),
    "mobilenet_v3_large": Network("MobileNetV3Large", "mobilenet_v3_large", _IMAGE),
    "efficientnet_b0": Network("EfficientNetB0", "efficientnet_b0", _IMAGE),
    "shufflenet_v2_x1_0": Network("ShuffleNetV2X1_0", "shufflenet_v2_x1_0", _IMAGE),
    "densenet121": Network("DenseNet121", "densenet121", _IMAGE),
    "convnext_tiny": Network("ConvNeXtTiny", "convnext_tiny", _IMAGE),
    "vit_b_16": Network("ViTB16", "vit_b_16", _IMAGE),
    "swin_t": Network("SwinT", "swin_t", _IMAGE),
}
SEGMENTERS = {
    "deeplabv3_resnet50": Network("DeepLabV3ResNet50", "segmentation.deeplabv3_resnet50", (3, 513, 513), (1,)),
    "lraspp_mobilenet_v3_large": Network(
        "LRASPPMobileNetV3Large", "segmentation.lraspp_mobilenet_v3_large", (3, 513, 513), (1,)
    ),
}
DETECTORS = {
    "ssd300": Network("SSD300", "detection.ssd300_vgg16", (3, 300, 300), (1,)),
    "retinanet": Network("retinanet_resnet50_fpn", "detection.retinanet_resnet50_fpn", (3, 800, 1088), (1,)),
    "yolo_v3": Network("YOLOv3", "", (3, 416, 416), (1,)),
    # Faster and Mask R-CNN with ResNet-50 and a pyramid: until the proposals, of 1,000 and of 100 regions
    "rcnn_proposals": Network("RegionNetwork", "rcnn_proposals", (3, 800, 1088), (1,)),
    "box_head": Network("FPNBoxHead", "box_head", (256, 7, 7), (1000,)),
    "mask_head": Network("MaskHead", "mask_head", (256, 14, 14), (100,)),
}
_LAYERS = (  # channels, height, width: of ResNet-50, of SSD300 and of a RetinaNet's heads and pyramid at 800 x 1088
    *((64, 56, 56), (128, 28, 28), (256, 14, 14), (512, 7, 7)),
    *((64, 300, 300), (128, 150, 150), (256, 75, 75), (512, 38, 38), (512, 19, 19)),
    *((256, 100, 136), (256, 50, 68), (256, 25, 34), (256, 13, 17), (256, 7, 9), (256, 200, 272)),
)
LAYERS = {f"3x3 {c}x{h}x{w}": Network("", "", (c, h, w), (1, 8) if h < 57 and h == w else (1,)) for c, h, w in _LAYERS}
NETWORKS = {**CLASSIFIERS, **SEGMENTERS, **DETECTORS, **LAYERS}
GROUPS = {
    "classifiers": list(CLASSIFIERS),
    "segmenters": list(SEGMENTERS),
    "detectors": list(DETECTORS),
    "layers": list(LAYERS),
    "winograd": ["resnet50", "vgg16", *DETECTORS],  # the networks of docs/decisions/0047
}
_PARTS = ("rcnn_proposals", "box_head", "mask_head")
_IN_A_ROW = 4  # convolutions of LAYERS
_PEERS = ("onnxruntime", "openvino", "torch")
_OURS = ("cvzoo", "direct", "default", "eager")
_AVX2 = {"ONEDNN_MAX_CPU_ISA": "AVX2", "CVZOO_NATIVE": "avx2", "ATEN_CPU_CAPABILITY": "avx2"}
_MEMORY = "largest memory"
_CALIBRATION = 4  # images


def images(batch: int, shape: tuple[int, int, int]) -> np.ndarray:
    return np.random.default_rng(batch).standard_normal((batch, *shape), "float32")


def base(name: str) -> str:
    """The network's name without the side of the images."""
    return name.partition("@")[0]


def add_sides(names: Sequence[str], sides: Sequence[int] | None) -> list[str]:
    """The names of the networks for square images of these sides, name@side; `names` without sides."""
    if not sides:
        return list(names)
    for name in names:
        for side in sides:
            NETWORKS[f"{name}@{side}"] = NETWORKS[name]._replace(shape=(3, side, side))
    return [f"{name}@{side}" for name in names for side in sides]


def case_name(name: str, batch: int) -> str:
    return f"{name}, batch {batch}"


def _keep(folder: pathlib.Path, who: str, case: str, y: np.ndarray) -> None:
    np.save(folder / f"{who}-{case}.npy", y)


# --- cvzoo ----------------------------------------------------------------------------------------------------------
def _part(network: Any, shape: tuple[int, int, int]):
    """A model that is a network alone, for images of a shape."""
    import cvzoo.functions as F
    import cvzoo.links as L

    class Part(L.AbstractClassifier):
        def __init__(self):
            with self.init_scope():
                self.network = network

        def prepare(self, img):
            return np.zeros(shape, np.float32)

        def stages(self, x):
            h = self.network(x)
            rows = [F.reshape(each, (len(each), -1)) for each in (h if isinstance(h, tuple) else (h,))]
            yield "scores", F.concat(rows, axis=1)

    return Part()


def _convolutions(channels: int):
    import cvzoo.functions as F
    import cvzoo.links as L

    class Convolutions(L.Chain):
        def __init__(self):
            with self.init_scope():
                self.first = L.Convolution2D(3, channels, 1)
                self.convs = L.ChainList(*(L.Conv2DActiv(channels, channels, 3, 1, 1) for _ in range(_IN_A_ROW)))

        def forward(self, x):
            h = self.first(x)
            for conv in self.convs:
                h = conv(h)
            return F.reshape(F.average_pooling_2d(h, h.shape[2:]), (len(h), channels))

    return Convolutions()


def _part_of_rcnn(name: str):
    import cvzoo.links as L
    from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig
    from cvzoo.links.model.faster_rcnn_fpn.region_network import RegionNetwork
    from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskHead, MaskHeadConfig

    class Proposals(RegionNetwork):
        def forward(self, x):
            locs, confs = self.rpn(super().forward(x))
            return *locs, *confs

    if name == "rcnn_proposals":
        return Proposals(90, FasterRCNNFPNConfig())
    return MaskHead(256, 90, MaskHeadConfig()) if name == "mask_head" else L.FPNBoxHead(256, 90)


def our_model(name: str):
    """The same random numbers in every process; every layer's results are of about the same size."""
    import cvzoo
    import cvzoo.links as L

    cvzoo.set_seed(0)
    network = NETWORKS[name]
    if name in LAYERS:
        return _part(_convolutions(network.shape[0]), input_shape(name))
    if name in _PARTS:
        return _part(_part_of_rcnn(name), network.shape)
    maker = getattr(L, network.ours)
    if base(name) in DETECTORS:
        return maker(n_fg_class=90)
    return maker(n_class=21 if base(name) in SEGMENTERS else 1000)


def calibration_images(name: str) -> list[np.ndarray]:
    return [255 * np.random.default_rng(k).random(input_shape(name), "float32") for k in range(_CALIBRATION)]


def input_shape(name: str) -> tuple[int, int, int]:
    shape = NETWORKS[name].shape
    return (3, *shape[1:]) if name in LAYERS else shape


def write_onnx(folder: pathlib.Path, cases: Sequence[tuple[str, int]]) -> None:
    from cvzoo.export import export_onnx

    for name, batch in cases:
        export_onnx(folder / f"{case_name(name, batch)}.onnx", our_model(name), batch=batch, size=input_shape(name)[1:])


def _first(y: Any) -> np.ndarray:
    return np.asarray((y[0] if isinstance(y, tuple | list) else y).array)


def cvzoo_cases(
    who: str, folder: pathlib.Path, cases: Sequence[tuple[str, int]], int8: bool
) -> dict[str, Callable[[], object]]:
    import cvzoo

    def run(model, x):
        winograd = "never" if who == "direct" else "auto"
        with cvzoo.using_config("train", False), cvzoo.no_backprop_mode(), cvzoo.using_config("winograd", winograd):
            return model(x)

    made, calls = {}, {}
    for name, batch in cases:
        if name not in made:
            made[name] = our_model(name)
            if int8:
                how = {"precision": "int8", "first_and_last": who == "default"}
                made[name] = made[name].quantize(calibration_images(name), **how)
        model = made[name]
        x = images(batch, input_shape(name))
        case = case_name(name, batch)
        if who != "eager":
            run(model, x)  # the library is loaded and its kernels are made once in a process
            start = time.perf_counter()
            with cvzoo.using_config("winograd", "never" if who == "direct" else "auto"):
                model.compile(x)
            (folder / f"compile-{who}-{case}.txt").write_text(f"{time.perf_counter() - start:.2f}")
        _keep(folder, who, case, _first(run(model, x)))
        calls[case] = lambda model=model, x=x: run(model, x)
    return calls


# --- others ---------------------------------------------------------------------------------------------------------
def quantize_files(folder: pathlib.Path, names: Sequence[str]) -> None:
    """Replace the files of networks by quantized ones; in an environment with onnxruntime and onnx."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    class Images(CalibrationDataReader):
        def __init__(self, batches: list[np.ndarray]):
            self._left = iter(batches)

        def get_next(self) -> dict[str, np.ndarray] | None:
            x = next(self._left, None)
            return None if x is None else {"x": x}

    for file in folder.glob("*.onnx"):
        name, batch = next(
            (name, int(file.stem[len(name) + 8 :])) for name in names if file.stem.startswith(f"{name},")
        )
        x = [np.repeat(each[None], batch, axis=0) for each in images_in_range(name)]
        done = file.with_suffix(".int8")
        kinds = {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QInt8}
        quantize_static(file, done, Images(x), quant_format=QuantFormat.QDQ, per_channel=True, **kinds)
        done.rename(file)


def images_in_range(name: str) -> list[np.ndarray]:
    """Normal numbers, as a prepared image has; times do not depend on them."""
    return [np.random.default_rng(k).standard_normal(input_shape(name), "float32") for k in range(_CALIBRATION)]


def onnxruntime_cases(folder: pathlib.Path, cases: Sequence[tuple[str, int]]) -> dict[str, Callable[[], object]]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = int(os.environ["CVZOO_NUM_THREADS"])
    calls = {}
    for name, batch in cases:
        case = case_name(name, batch)
        session = onnxruntime.InferenceSession(folder / f"{case}.onnx", options, providers=["CPUExecutionProvider"])
        x = images(batch, input_shape(name))
        _keep(folder, "onnxruntime", case, session.run(None, {"x": x})[0])
        calls[case] = lambda session=session, x=x: session.run(None, {"x": x})
    return calls


def openvino_cases(folder: pathlib.Path, cases: Sequence[tuple[str, int]]) -> dict[str, Callable[[], object]]:
    import openvino

    core = openvino.Core()
    options = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": int(os.environ["CVZOO_NUM_THREADS"]),
    }
    calls = {}
    for name, batch in cases:
        case = case_name(name, batch)
        request = core.compile_model(core.read_model(folder / f"{case}.onnx"), "CPU", options).create_infer_request()
        x = images(batch, input_shape(name))
        run = lambda request=request, x=x: request.infer({0: x}, share_inputs=True, share_outputs=True)  # noqa: E731
        _keep(folder, "openvino", case, np.array(run()[0]))
        calls[case] = run
    return calls


def _torch_model(name: str):
    """A function of x; None if torchvision has no such network."""
    import torch

    network = NETWORKS[name]
    if name in LAYERS:
        c = network.shape[0]
        convs = [layer for _ in range(_IN_A_ROW) for layer in (torch.nn.Conv2d(c, c, 3, padding=1), torch.nn.ReLU())]
        return torch.nn.Sequential(torch.nn.Conv2d(3, c, 1), *convs, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    import torchvision

    if name in _PARTS:
        rcnn = torchvision.models.detection
        if name == "box_head":
            part = rcnn.faster_rcnn
            return torch.nn.Sequential(part.TwoMLPHead(256 * 49, 1024), part.FastRCNNPredictor(1024, 91))
        if name == "mask_head":
            part = rcnn.mask_rcnn
            return torch.nn.Sequential(part.MaskRCNNHeads(256, (256,) * 4, 1), part.MaskRCNNPredictor(256, 256, 90))
        whole = rcnn.fasterrcnn_resnet50_fpn(weights=None, weights_backbone=None)
        proposals = torch.nn.Module()
        proposals.backbone, proposals.head = whole.backbone, whole.rpn.head
        proposals.forward = lambda x: proposals.head(list(proposals.backbone(x).values()))
        return proposals
    if not network.theirs:
        return None
    home, _, maker = network.theirs.rpartition(".")
    models = getattr(torchvision.models, home) if home else torchvision.models
    model = getattr(models, maker)(**({"weights": None, "weights_backbone": None} if home else {"weights": None}))
    if base(name) not in DETECTORS:
        return model
    network = torch.nn.Module()
    network.backbone, network.head = model.backbone, model.head
    network.forward = lambda x: network.head(list(network.backbone(x).values()))
    return network


def torch_cases(cases: Sequence[tuple[str, int]]) -> dict[str, Callable[[], object]]:
    import torch

    torch.set_num_threads(int(os.environ["CVZOO_NUM_THREADS"]))
    calls = {}
    for name, batch in cases:
        model = _torch_model(name)
        if model is not None:
            model = model.eval().to(memory_format=torch.channels_last)
            x = torch.from_numpy(images(batch, input_shape(name))).to(memory_format=torch.channels_last)
            calls[case_name(name, batch)] = lambda model=model, x=x: model(x)
    return calls


def serve_program(
    who: str, folder: pathlib.Path, cases: Sequence[tuple[str, int]], repeat: int, clock: str, int8: bool
) -> None:
    if who == "torch":
        import torch

        torch.inference_mode().__enter__()
        calls = torch_cases(cases)
    elif who in _OURS:
        calls = cvzoo_cases(who, folder, cases, int8)
    else:
        calls = (onnxruntime_cases if who == "onnxruntime" else openvino_cases)(folder, cases)
    calls[_MEMORY] = largest_memory
    serve(calls, repeat=repeat, clock=time.process_time if clock == "cpu" else time.perf_counter)


# --------------------------------------------------------------------------------------------------------------------
def _difference(folder: pathlib.Path, who: str, case: str) -> float | None:
    """The greatest difference to cvzoo's compiled results, in parts of the greatest value."""
    file = folder / f"{who}-{case}.npy"
    if not file.exists():
        return None
    ours, theirs = np.load(folder / f"cvzoo-{case}.npy"), np.load(file)
    return float(f"{np.abs(ours - theirs.reshape(ours.shape)).max() / np.abs(theirs).max():.1e}")


def _has(python: str, package: str) -> bool:
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({package!r}) is None)"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


def programs(arguments: argparse.Namespace) -> dict[str, str]:
    """The Python of each program to measure."""
    ours = [who for who in arguments.ours if who != ("direct" if arguments.int8 else "default")]
    found = dict.fromkeys(ours, sys.executable)
    for who in _PEERS[:2] if arguments.int8 else _PEERS:
        python = getattr(arguments, f"{who}_python") or arguments.peers_python
        if python and _has(python, who) and not (who == "onnxruntime" and arguments.isa == "avx2"):
            found[who] = python
    return found


def _flags(arguments: argparse.Namespace, names: Sequence[str]) -> list[str]:
    """The command line's end, after --model, for a program that measures these networks."""
    flags = list(dict.fromkeys(map(base, names)))
    flags += ["--side", *(name.partition("@")[2] for name in names)] if "@" in names[0] else []
    flags += ["--batch", *map(str, arguments.batch)] if arguments.batch else []
    return [*flags, "--int8"] if arguments.int8 else flags


def measure(arguments: argparse.Namespace, names: Sequence[str], threads: int) -> list[dict]:
    """Some networks in the same processes, one number of threads."""
    environment = {key: str(threads) for key in ("CVZOO_NUM_THREADS", "OMP_NUM_THREADS")}
    environment |= _AVX2 if arguments.isa == "avx2" else {}
    cases = [(name, batch) for name in names for batch in arguments.batch or NETWORKS[name].batches]
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        write_onnx(folder, cases)
        if arguments.int8:
            python = arguments.onnxruntime_python or arguments.peers_python
            subprocess.run([python, __file__, "--quantize", place, "--model", *_flags(arguments, names)], check=True)
        tail = ["--folder", place, "--repeat", str(arguments.repeat), "--clock", arguments.clock, "--model"]
        tail += _flags(arguments, names)
        workers = [
            Worker(who, [python, __file__, "--serve", who, *tail], environment)
            for who, python in programs(arguments).items()
        ]
        rows = []
        for name, batch in cases:
            case = case_name(name, batch)
            having = [worker for worker in workers if case in worker.cases]
            row = compare(having, case, runs=arguments.runs, warmup=1, seconds=arguments.seconds)
            for worker in having[1:]:
                row[worker.name]["greatest_difference"] = _difference(folder, worker.name, case)
            compiling = folder / f"compile-cvzoo-{case}.txt"
            row |= {"model": name, "batch": batch, "threads": threads}
            row |= {"isa": arguments.isa or "all", "clock": arguments.clock, "side": input_shape(name)[-1]}
            row |= {"precision": "int8" if arguments.int8 else "float32", "load": round(os.getloadavg()[0], 1)}
            rows.append(row | ({"compile_seconds": float(compiling.read_text())} if compiling.exists() else {}))
        for worker in workers:
            memory = round(worker.run(_MEMORY))
            for row in rows if len(names) == 1 else ():
                if worker.name in row:
                    row[worker.name]["largest_memory_mb"] = memory
            worker.close()
    return rows


def plot(path: str, rows: Sequence[dict]) -> None:
    """Milliseconds by what differs: the batch, the side of images or the number of threads."""
    from matplotlib.figure import Figure

    varied = next((key for key in ("batch", "side", "threads") if len({row[key] for row in rows}) > 1), "batch")
    names = list(dict.fromkeys(base(row["model"]) for row in rows))
    figure = Figure(figsize=(5 * len(names), 4), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names):
        of_name = [row for row in rows if base(row["model"]) == name]
        for who in (*_OURS, *_PEERS):
            points = [(row[varied], row[who]["median_ms"]) for row in of_name if who in row]
            if points:
                axes.loglog(*zip(*points), marker="o", base=2, label=who)
        axes.set(title=name, xlabel=varied, ylabel=f"ms ({rows[0]['clock']} time)")
        axes.legend()
    figure.savefig(path)


def _versions() -> dict[str, str]:
    import cvzoo

    return {"cvzoo": cvzoo.__version__, "numpy": np.__version__}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choices = [*GROUPS, *NETWORKS]
    parser.add_argument("--model", nargs="+", choices=choices, default=["resnet50"], metavar="NAME", help=str(choices))
    parser.add_argument("--batch", nargs="+", type=int, help="default: by network, 1 and 8 or 1 (box head 1000)")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, len(os.sched_getaffinity(0))])
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=8.0, help="at most for one case, after three runs")
    parser.add_argument("--isa", choices=["avx2"], help="default: all instructions of the CPU")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    parser.add_argument("--ours", nargs="*", choices=_OURS, default=_OURS, help="of cvzoo; the first one is compared")
    parser.add_argument("--peers-python", help="the python of an environment with the other programs")
    for who in _PEERS:
        parser.add_argument(f"--{who}-python", help=f"the python of an environment with {who}")
    parser.add_argument("--out", help="write a JSON file of results")
    parser.add_argument("--int8", action="store_true", help="quantized networks")
    parser.add_argument("--side", nargs="+", type=int, help="square images of these sides; default: by network")
    parser.add_argument("--plot", help="write an SVG file of how times grow")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--quantize", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    names = add_sides([name for given in arguments.model for name in GROUPS.get(given, [given])], arguments.side)
    if arguments.quantize:
        return quantize_files(arguments.quantize, names)
    if arguments.serve:
        cases = [(name, batch) for name in names for batch in arguments.batch or NETWORKS[name].batches]
        return serve_program(
            arguments.serve, arguments.folder, cases, arguments.repeat, arguments.clock, arguments.int8
        )
    print(machine(), flush=True)
    together = [[name for name in names if name in LAYERS], *([name] for name in names if name not in LAYERS)]
    together = [names] if arguments.side else together
    rows = []
    for threads in arguments.threads:
        for some in filter(None, together):
            print(f"threads {threads}", flush=True)
            rows += measure(arguments, some, threads)
            if arguments.out:  # each time: an interrupted run keeps what it has measured
                write_results(arguments.out, title="Inference", rows=rows, versions=_versions(), notes=__doc__)
            if arguments.plot:
                plot(arguments.plot, rows)


if __name__ == "__main__":
    main()
