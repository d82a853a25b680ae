"""`predict()` end to end on one photo of 640 x 480, from the JPEG file on, cvzoo against torchvision, in turn.

    python benchmarks/predict.py --torch-python ENV/bin/python [--photo FILE] [--out benchmarks/results/FILE.json]

ENV is an environment with the CPU builds of torch and torchvision; this one needs only cvzoo. Both sides have the same
numbers, which each tensor's name seeds, in torchvision's own names, and the same number of threads. torchvision is run
as its documentation shows, eager, with photos decoded by Pillow; "channels-last" is the same with its weights and
photo in that layout. Thresholds are torchvision's defaults on both sides. Its masks are thresholded and its label maps
are brought back to the photo's size, as `predict()` gives them.

"cvzoo compiled" is `model.compile()`, and photos of that size before the clock starts: the graphs are made then.

Then, for cvzoo alone, where the time goes: reading the file, preparing the photo, the network as far as it is replayed,
and the rest (decoding, suppression, regions and their heads). With --stream instead: a stream of photos of many sizes,
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
from side_by_side import Worker, compare, machine, serve, write_results

CASES = (
    "resnet50",
    "ssd300_vgg16",
    "retinanet_resnet50_fpn",
    "fasterrcnn_resnet50_fpn",
    "maskrcnn_resnet50_fpn",
    "deeplabv3_resnet50",
)
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
        "deeplabv3_resnet50": L.DeepLabV3ResNet50,
    }
    model = makers[name](pretrained_model=folder / f"{name}.npz")
    if isinstance(model, L.AbstractThresholds):
        model.use_preset("evaluate")
    return model


def serve_cvzoo(folder: pathlib.Path, compiled: bool) -> None:
    from cvzoo.graph import CompiledGraph
    from cvzoo.images import read_image

    photo = str(folder / "photo.jpg")
    photos = sorted((folder / "stream").glob("*")) if (folder / "stream").exists() else []
    replay = CompiledGraph.__call__
    spent = []

    def timed(self, arrays):
        start = time.perf_counter()
        try:
            return replay(self, arrays)
        finally:
            spent.append(time.perf_counter() - start)

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

    cases = {}
    for name in CASES:
        if not (folder / f"{name}.npz").exists():
            continue
        model = make_cvzoo(folder, name)
        if photos:
            cases[f"{name}: stream"] = lambda model=model: stream(model)
            continue
        if compiled:
            model.compile()
            for _ in range(3):
                model.predict([photo])
            cases[f"{name}: network"] = lambda model=model: network(model)
        cases[name] = lambda model=model: model.predict([photo])
        cases[f"{name}: read"] = lambda: read_image(photo)
        img = read_image(photo)
        cases[f"{name}: prepare"] = lambda model=model, img=img: model.prepare(img)
    serve(cases)


def serve_torch(folder: pathlib.Path, channels_last: bool) -> None:
    import torch
    import torchvision
    from torchvision.models import detection, segmentation

    torch.set_num_threads(int(os.environ["CVZOO_NUM_THREADS"]))
    photo = str(folder / "photo.jpg")
    layout = torch.channels_last if channels_last else torch.contiguous_format
    cases = {}
    for name in CASES:
        if not (folder / f"{name}.npz").exists():
            continue
        home = segmentation if name.startswith("deeplab") else torchvision.models if name == "resnet50" else detection
        options = {"aux_loss": True} if home is segmentation else {}
        if home is not torchvision.models:
            options |= {"weights": None, "weights_backbone": None}
        model = home.__dict__[name](**options).eval()
        with np.load(folder / f"{name}.npz") as arrays:
            model.load_state_dict({key: torch.from_numpy(arrays[key]) for key in arrays})
        if name in ("retinanet_resnet50_fpn", "fasterrcnn_resnet50_fpn", "maskrcnn_resnet50_fpn"):
            detection._utils.overwrite_eps(model, 0.0)
        model = model.to(memory_format=layout)
        if home is detection:
            to_tensor = torchvision.models.get_model_weights(name).DEFAULT.transforms()

            def run(model=model, to_tensor=to_tensor):
                with torch.inference_mode():
                    found = model([to_tensor(Image.open(photo).convert("RGB"))])[0]
                    return found["masks"] > 0.5 if "masks" in found else found
        else:
            prepare = torchvision.models.get_model_weights(name).DEFAULT.transforms()

            def run(model=model, prepare=prepare):
                with torch.inference_mode():
                    img = Image.open(photo).convert("RGB")
                    y = model(prepare(img)[None].to(memory_format=layout))
                    if not isinstance(y, dict):
                        return y.softmax(1)
                    y = torch.nn.functional.interpolate(y["out"], size=img.size[::-1], mode="bilinear")
                    return y.argmax(1)

        cases[name] = run
    serve(cases)


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
    lines = subprocess.run([torch_python, "-c", script, *cases], capture_output=True, text=True, check=True).stdout
    for name, line in zip(cases, lines.splitlines()):
        np.savez(folder / f"{name}.npz", **{key: seeded(key, tuple(shape)) for key, shape in json.loads(line).items()})


def link_stream(target: pathlib.Path, source: pathlib.Path, n: int) -> None:
    """n links to the photos of a folder, in their order."""
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch-python", help="the python of an environment with torch and torchvision")
    parser.add_argument("--photo", default=str(pathlib.Path(__file__).parents[2] / "shared/data/photos/dog.jpg"))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--cases", nargs="*", default=CASES, help=f"of {', '.join(CASES)}")
    parser.add_argument("--out", help="write a JSON file of results")
    parser.add_argument("--stream", metavar="FOLDER", help="photos of many sizes, eager and compiled from the start")
    parser.add_argument("--stream-length", type=int, default=100, help="how many of them, again and again if need be")
    parser.add_argument("--serve", choices=("compiled", "cvzoo", "torch", "torch-last"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.serve in ("cvzoo", "compiled"):
        return serve_cvzoo(a.folder, a.serve == "compiled")
    if a.serve:
        return serve_torch(a.folder, a.serve == "torch-last")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        write_inputs(folder, pathlib.Path(a.photo), a.torch_python, a.cases)
        if a.stream:
            link_stream(folder / "stream", pathlib.Path(a.stream), a.stream_length)
        environment = {"CVZOO_NUM_THREADS": str(a.threads), "OMP_NUM_THREADS": str(a.threads)}
        kinds = [("cvzoo compiled", sys.executable, "compiled"), ("cvzoo", sys.executable, "cvzoo")]
        if not a.stream:
            kinds += [("torchvision", a.torch_python, "torch"), ("channels-last", a.torch_python, "torch-last")]
        workers = [
            Worker(name, [python, __file__, "--serve", which, "--folder", temporary], environment)
            for name, python, which in kinds
        ]
        print(machine(), f"threads {a.threads}")
        if a.stream:
            rows = [compare(workers, f"{case}: stream", runs=a.runs, warmup=1) for case in a.cases]
        else:
            rows = [compare(workers, case, runs=a.runs) for case in a.cases]
            for row in rows:
                add_parts(row, workers[0], a.runs)
        for worker in workers:
            worker.close()
    if a.out:
        import cvzoo

        versions = {"cvzoo": cvzoo.__version__, "numpy": np.__version__, "threads": str(a.threads)}
        write_results(
            a.out,
            title="predict() of a stream of photos" if a.stream else "predict(), end to end",
            rows=rows,
            versions=versions,
            notes=__doc__,
        )


if __name__ == "__main__":
    main()
