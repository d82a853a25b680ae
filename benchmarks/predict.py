"""`predict()` end to end on one image of 640 x 480, from the JPEG file on, cvzoo against torchvision, in turn.

    python benchmarks/predict.py --torch-python ENV/bin/python [--photo FILE] [--out benchmarks/results/FILE.json]

ENV is an environment with the CPU builds of torch and torchvision; this one needs only cvzoo. Both sides have the same
numbers, which each tensor's name seeds, in torchvision's own names, and the same number of threads. torchvision is run
as its documentation shows, eager, with images decoded by Pillow; "channels-last" is the same with its weights and
image in that layout. Thresholds are torchvision's defaults on both sides. Its masks are thresholded and its label maps
are brought back to the image's size, as `predict()` gives them.

"cvzoo compiled" is `model.compile()`, and images of that size before the clock starts: the graphs are made then.
YOLOv3 is not in torchvision, and stands alone.
With --memory, it is the largest resident memory of a process that has built the network and predicted three times:
interpreter and libraries are part of it; ONNX Runtime has the prepared image, and does not suppress. On a machine with
other work on it, `--clock cpu --threads 1` measures the CPU time of the process.

Then, for cvzoo alone, where the time goes: reading the file, preparing the image, the network as far as it is replayed,
and the rest (decoding, suppression, regions and their heads). With --stream instead: a stream of images of many sizes,
the files of a folder in their order and as they are, eager and compiled from the start, recording included.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import zlib

import numpy as np
from PIL import Image
from side_by_side import Worker, compare, largest_memory, machine, serve, write_results

CASES = (
    "resnet50",
    "ssd300_vgg16",
    "retinanet_resnet50_fpn",
    "fasterrcnn_resnet50_fpn",
    "maskrcnn_resnet50_fpn",
    "ssdlite320_mobilenet_v3_large",
    "fcos_resnet50_fpn",
    "deeplabv3_resnet50",
    "yolo_v3",
)
_ALONE = ("yolo_v3",)  # not in torchvision: random numbers of our own
_EPS_0 = ("retinanet_resnet50_fpn", "fasterrcnn_resnet50_fpn", "maskrcnn_resnet50_fpn", "fcos_resnet50_fpn")
_SMALL = ("cls_logits", "bbox_pred", "bbox_reg", "mask_fcn_logits", "module_list", "cls_score")


def seeded(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """The numbers of one tensor, from its name."""
    rng = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))
    if name.endswith("num_batches_tracked"):
        return np.zeros((), np.int64)
    if name.endswith("running_var"):
        return np.float32(0.5) + rng.random(shape, dtype=np.float32)
    normal = rng.standard_normal(shape, dtype=np.float32)
    if len(shape) >= 2:
        array = np.float32(math.sqrt(2 / np.prod(shape[1:]))) * normal
    elif name.endswith(("running_mean", "bias")):
        array = np.float32(0.1) * normal
    elif name.endswith("scale_weight"):
        array = np.full(shape, 20, np.float32)
    else:
        array = 1 + np.float32(0.1) * normal
    if any(part in name for part in _SMALL):
        array = array * np.float32(0.1 if "cls_score" in name else 0.02)
    return array * np.float32(0.25) if name.endswith("bn3.weight") else array


def make_cvzoo(folder: pathlib.Path, name: str):
    from cvzoo import links as L

    makers = {
        "resnet50": L.ResNet50,
        "ssd300_vgg16": L.SSD300,
        "retinanet_resnet50_fpn": L.retinanet_resnet50_fpn,
        "fasterrcnn_resnet50_fpn": L.FasterRCNNFPNResNet50,
        "maskrcnn_resnet50_fpn": L.MaskRCNNFPNResNet50,
        "ssdlite320_mobilenet_v3_large": L.SSDLite320MobileNetV3Large,
        "fcos_resnet50_fpn": L.FCOSResNet50FPN,
        "deeplabv3_resnet50": L.DeepLabV3ResNet50,
    }
    model = L.YOLOv3(n_fg_class=80) if name in _ALONE else makers[name](pretrained_model=folder / f"{name}.npz")
    if isinstance(model, L.AbstractThresholds):
        model.use_preset("evaluate")
    return model


def _memory(run) -> float:
    """MB: the largest resident memory of this process after three calls."""
    for _ in range(3):
        run()
    return largest_memory()


def serve_cvzoo(folder: pathlib.Path, name: str, compiled: bool, memory: bool, clock) -> None:
    from cvzoo.graph import CompiledGraph
    from cvzoo.images import read_image

    photo = str(folder / "photo.jpg")
    photos = sorted((folder / "stream").glob("*")) if (folder / "stream").exists() else []
    replay = CompiledGraph.__call__
    spent = []

    def timed(self, arrays):
        start = clock()
        try:
            return replay(self, arrays)
        finally:
            spent.append(clock() - start)

    def network(model):
        """Where a case gives a number, that is its time."""
        CompiledGraph.__call__ = timed
        spent.clear()
        try:
            model.predict([photo])
        finally:
            CompiledGraph.__call__ = replay
        return sum(spent)

    def stream(model):
        # from the start, as a user meets it
        model.uncompile()
        if compiled:
            model.compile()
        for _ in model.predict_each(map(str, photos)):
            pass

    model = make_cvzoo(folder, name)
    if memory:
        if compiled:
            model.compile()
        return serve({name: lambda: _memory(lambda: model.predict([photo]))})
    if photos:
        return serve({f"{name}: stream": lambda: stream(model)}, clock=clock)
    img = read_image(photo)
    cases = {f"{name}: read": lambda: read_image(photo), f"{name}: prepare": lambda: model.prepare(img)}
    if compiled:
        model.compile()
        for _ in range(3):
            model.predict([photo])
        cases[f"{name}: network"] = lambda: network(model)
    cases[name] = lambda: model.predict([photo])
    serve(cases, clock=clock)


def serve_onnxruntime(folder: pathlib.Path, name: str) -> None:
    """For memory only: the exported network, without suppression, on an image that is prepared already."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ["OMP_NUM_THREADS"])
    session = onnxruntime.InferenceSession(folder / f"{name}.onnx", options, providers=["CPUExecutionProvider"])
    x = np.load(folder / f"{name}.npy")
    serve({name: lambda: _memory(lambda: session.run(None, {"x": x}))})


def write_onnx(folder: pathlib.Path, name: str) -> None:
    """NAME.onnx and NAME.npy, the image as the network takes it, padded to a multiple of 32 pixels."""
    from cvzoo.export import export_onnx
    from cvzoo.images import read_image

    model = make_cvzoo(folder, name)
    img = model.prepare(read_image(folder / "photo.jpg"))
    x = np.pad(img, [(0, 0), *((0, -side % 32) for side in img.shape[1:])])[None]
    export_onnx(folder / f"{name}.onnx", model, batch=1, size=x.shape[2:])
    np.save(folder / f"{name}.npy", x)


def serve_torch(folder: pathlib.Path, name: str, channels_last: bool, memory: bool, clock) -> None:
    if name in _ALONE:
        return serve({})
    import torch
    import torchvision
    from torchvision.models import detection, segmentation

    torch.set_num_threads(int(os.environ["CVZOO_NUM_THREADS"]))
    photo = str(folder / "photo.jpg")
    layout = torch.channels_last if channels_last else torch.contiguous_format
    home = segmentation if name.startswith("deeplab") else torchvision.models if name == "resnet50" else detection
    options = {"aux_loss": True} if home is segmentation else {}
    if home is not torchvision.models:
        options |= {"weights": None, "weights_backbone": None}
    model = home.__dict__[name](**options).eval()
    with np.load(folder / f"{name}.npz") as arrays:
        model.load_state_dict({key: torch.from_numpy(arrays[key]) for key in arrays})
    if name in _EPS_0:
        detection._utils.overwrite_eps(model, 0.0)
    model = model.to(memory_format=layout)
    prepare = torchvision.models.get_model_weights(name).DEFAULT.transforms()

    def run():
        with torch.inference_mode():
            img = Image.open(photo).convert("RGB")
            if home is detection:
                found = model([prepare(img)])[0]
                return found["masks"] > 0.5 if "masks" in found else found
            y = model(prepare(img)[None].to(memory_format=layout))
            if not isinstance(y, dict):
                return y.softmax(1)
            y = torch.nn.functional.interpolate(y["out"], size=img.size[::-1], mode="bilinear")
            return y.argmax(1)

    serve({name: (lambda: _memory(run)) if memory else run}, clock=clock)


def write_inputs(folder: pathlib.Path, photo: pathlib.Path, torch_python: str, cases: list[str]) -> None:
    """photo.jpg and a file of seeded numbers for each network, as torchvision names and shapes them."""
    Image.open(photo).convert("RGB").resize((640, 480)).save(folder / "photo.jpg", quality=92)
    script = (
        "import json, sys, torchvision\n"
        "from torchvision.models import detection, segmentation\n"
        "for name in sys.argv[1:]:\n"
        "    home = segmentation if name.startswith('deeplab') else torchvision.models if name == 'resnet50'"
        " else detection\n"
        "    options = {'aux_loss': True} if home is segmentation else {}\n"
        "    if home is not torchvision.models:\n"
        "        options |= {'weights': None, 'weights_backbone': None}\n"
        "    model = home.__dict__[name](**options)\n"
        "    print(json.dumps({k: list(v.shape) for k, v in model.state_dict().items()}))\n"
    )
    theirs = [name for name in cases if name not in _ALONE]
    lines = subprocess.run([torch_python, "-c", script, *theirs], capture_output=True, text=True, check=True).stdout
    for name in _ALONE:
        if name in cases:
            np.savez(folder / f"{name}.npz")
    for name, line in zip(theirs, lines.splitlines()):
        np.savez(folder / f"{name}.npz", **{key: seeded(key, tuple(shape)) for key, shape in json.loads(line).items()})


def link_stream(target: pathlib.Path, source: pathlib.Path, n: int) -> None:
    """n links to the images of a folder, in their order."""
    target.mkdir()
    photos = [path for path in sorted(source.iterdir()) if path.suffix.lower() in (".jpg", ".jpeg", ".png")]
    for i in range(n):
        path = photos[i % len(photos)]
        (target / f"{i:05d}{path.suffix}").symlink_to(path.resolve())


def add_parts(row: dict, worker: Worker, runs: int) -> None:
    """Where the time of a compiled `predict` goes, medians in milliseconds."""
    left = row["cvzoo compiled"]["median_ms"]
    for part in ("read", "prepare", "network"):
        times = [worker.run(f"{row['case']}: {part}") for _ in range(runs)]
        row[f"{part}_ms"] = round(statistics.median(times) * 1e3, 3)
        left -= row[f"{part}_ms"]
    row["rest_ms"] = round(left, 3)
    print({key: value for key, value in row.items() if key == "case" or key.endswith("_ms")})


def programs(a: argparse.Namespace) -> dict[str, tuple[str, str]]:
    """Of each program to measure its Python, and what it serves."""
    found = {"cvzoo compiled": (sys.executable, "compiled"), "cvzoo": (sys.executable, "cvzoo")}
    if a.memory and a.peers_python:
        found |= {"onnxruntime": (a.peers_python, "onnxruntime")}
    if not a.stream:
        found |= {"torchvision": (a.torch_python, "torch"), "channels-last": (a.torch_python, "torch-last")}
    return found


def measure(a: argparse.Namespace, folder: pathlib.Path, case: str) -> dict:
    """A row: the programs in turn, in processes that have this case only."""
    environment = {"CVZOO_NUM_THREADS": str(a.threads), "OMP_NUM_THREADS": str(a.threads)}
    tail = ["--folder", str(folder), "--clock", a.clock, "--only", case, *(["--memory"] if a.memory else [])]
    workers = [
        Worker(name, [python, __file__, "--serve", which, *tail], environment)
        for name, (python, which) in programs(a).items()
    ]
    named = f"{case}: stream" if a.stream else case
    having = [worker for worker in workers if named in worker.cases]
    if a.memory:
        row: dict = {"case": case} | {worker.name: round(worker.run(case)) for worker in having}
        print(row, flush=True)
    else:
        row = compare(having, named, runs=a.runs, warmup=1, seconds=a.seconds)
    if not a.memory and not a.stream:
        add_parts(row, workers[0], min(a.runs, 5))
    for worker in workers:
        worker.close()
    return row | {"load": round(os.getloadavg()[0], 1)}


def write(a: argparse.Namespace, rows: list[dict]) -> None:
    import cvzoo

    versions = {"cvzoo": cvzoo.__version__, "numpy": np.__version__, "threads": str(a.threads)}
    title = "predict() of a stream of images" if a.stream else "predict(), end to end"
    title = "MB of a process that predicts" if a.memory else f"{title}, {a.clock} time"
    write_results(a.out, title=title, rows=rows, versions=versions, notes=__doc__)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch-python", help="the python of an environment with torch and torchvision")
    parser.add_argument("--peers-python", help="the python of an environment with onnxruntime, for --memory")
    parser.add_argument("--photo", default=str(pathlib.Path(__file__).parents[2] / "shared/data/photos/dog.jpg"))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=30.0, help="at most for one case, after three runs")
    parser.add_argument("--cases", nargs="*", default=CASES, help=f"of {', '.join(CASES)}")
    parser.add_argument("--out", help="write a JSON file of results")
    parser.add_argument("--stream", metavar="FOLDER", help="images of many sizes, eager and compiled from the start")
    parser.add_argument("--stream-length", type=int, default=100, help="how many of them, again and again if need be")
    parser.add_argument(
        "--serve", choices=("compiled", "cvzoo", "onnxruntime", "torch", "torch-last"), help=argparse.SUPPRESS
    )
    parser.add_argument("--only", choices=CASES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    parser.add_argument("--memory", action="store_true", help="the largest resident memory, each case in a process")
    a = parser.parse_args()
    clock = time.process_time if a.clock == "cpu" else time.perf_counter
    if a.serve in ("cvzoo", "compiled"):
        return serve_cvzoo(a.folder, a.only, a.serve == "compiled", a.memory, clock)
    if a.serve == "onnxruntime":
        return serve_onnxruntime(a.folder, a.only)
    if a.serve:
        return serve_torch(a.folder, a.only, a.serve == "torch-last", a.memory, clock)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        write_inputs(folder, pathlib.Path(a.photo), a.torch_python, a.cases)
        if a.stream:
            link_stream(folder / "stream", pathlib.Path(a.stream), a.stream_length)
        print(machine(), f"threads {a.threads}")
        rows = []
        for case in a.cases:
            if a.memory and a.peers_python:
                write_onnx(folder, case)
            rows.append(measure(a, folder, case))
            if a.out:  # each time: an interrupted run keeps what it has measured
                write(a, rows)


if __name__ == "__main__":
    main()
