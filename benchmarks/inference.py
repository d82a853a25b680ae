"""Networks without gradients: cvzoo compiled and eager, ONNX Runtime, OpenVINO and torch eager, in turn, on one CPU.

    python benchmarks/inference.py --model resnet50 --onnxruntime-python ENV1/bin/python \\
        --openvino-python ENV2/bin/python --torch-python ENV3/bin/python [--threads 1 4] [--out results/FILE.json]

Each ENV is an environment with that package (torch: with torchvision, too); the one of this script needs cvzoo only.
Photos are float32 (B, 3, H, W) in C order for all but torch, which gets them channels-last, as its weights are.
ONNX Runtime and OpenVINO run the file that `cvzoo.export` writes of our random weights, for one shape, and their
numbers are compared with ours; torch has random weights of its own. OpenVINO has the hint LATENCY and must compute
in float32: on processors with AMX it would take bfloat16 by itself. One measurement is the median of `--repeat` calls
in a row; then it is another program's turn.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import time

import numpy as np
from side_by_side import Worker, compare, machine, serve, write_results

MODELS = {  # ours, torchvision's, (H, W)
    "resnet50": ("ResNet50", "resnet50", (224, 224)),
    "mobilenet_v3_large": ("MobileNetV3Large", "mobilenet_v3_large", (224, 224)),
    "efficientnet_b0": ("EfficientNetB0", "efficientnet_b0", (224, 224)),
    "shufflenet_v2_x1_0": ("ShuffleNetV2X1_0", "shufflenet_v2_x1_0", (224, 224)),
    "densenet121": ("DenseNet121", "densenet121", (224, 224)),
    "convnext_tiny": ("ConvNeXtTiny", "convnext_tiny", (224, 224)),
    "vit_b_16": ("ViTB16", "vit_b_16", (224, 224)),
    "swin_t": ("SwinT", "swin_t", (224, 224)),
    "vgg16": ("VGG16", "vgg16", (224, 224)),
    "deeplabv3_resnet50": ("DeepLabV3ResNet50", "segmentation.deeplabv3_resnet50", (513, 513)),
    "lraspp_mobilenet_v3_large": ("LRASPPMobileNetV3Large", "segmentation.lraspp_mobilenet_v3_large", (513, 513)),
}


def photos(batch: int, size: tuple[int, int]) -> np.ndarray:
    return np.random.default_rng(batch).standard_normal((batch, 3, *size), "float32")


def case_name(batch: int) -> str:
    return f"batch {batch}"


def _keep(folder: pathlib.Path, who: str, batch: int, y: np.ndarray) -> None:
    np.save(folder / f"{who}-{batch}.npy", y)


def our_model(name: str):
    """The same random numbers whoever makes it; every layer's results are of about the same size."""
    import cvzoo
    import cvzoo.links as L

    cvzoo.set_seed(0)
    makers = vars(L)[MODELS[name][0]]
    return makers(n_class=21 if name.startswith(("deeplab", "lraspp")) else 1000)


def write_onnx(name: str, folder: pathlib.Path, batches: list[int]) -> None:
    from cvzoo.export import export_onnx

    model = our_model(name)
    for batch in batches:
        export_onnx(folder / f"{batch}.onnx", model, batch=batch, size=MODELS[name][2])


def serve_cvzoo(name: str, folder: pathlib.Path, batches: list[int], repeat: int, *, compiled: bool) -> None:
    import cvzoo

    model = our_model(name)
    cases = {}
    with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
        for batch in batches:
            x = photos(batch, MODELS[name][2])
            if compiled:
                model(x)  # the library is loaded and its kernels are made once in a process
                start = time.perf_counter()
                graph = model.compile(x)
                seconds = time.perf_counter() - start
                (folder / f"compile-{batch}.txt").write_text(f"{seconds:.2f}")
                print(
                    f"compiled for batch {batch} in {seconds:.2f} s:", graph.summary().split("\n")[0], file=sys.stderr
                )
            y = model(x)
            _keep(folder, "cvzoo" if compiled else "eager", batch, (y[0] if isinstance(y, tuple) else y).array)
            cases[case_name(batch)] = lambda x=x: model(x)
        serve(cases, repeat=repeat)


def serve_onnxruntime(name: str, folder: pathlib.Path, batches: list[int], repeat: int) -> None:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ["CVZOO_NUM_THREADS"])
    cases = {}
    for batch in batches:
        session = onnxruntime.InferenceSession(folder / f"{batch}.onnx", options, providers=["CPUExecutionProvider"])
        x = photos(batch, MODELS[name][2])
        _keep(folder, "onnxruntime", batch, session.run(None, {"x": x})[0])
        cases[case_name(batch)] = lambda session=session, x=x: session.run(None, {"x": x})
    serve(cases, repeat=repeat)


def serve_openvino(name: str, folder: pathlib.Path, batches: list[int], repeat: int) -> None:
    import openvino

    core = openvino.Core()
    options = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": int(os.environ["CVZOO_NUM_THREADS"]),
    }
    cases = {}
    for batch in batches:
        request = core.compile_model(core.read_model(folder / f"{batch}.onnx"), "CPU", options).create_infer_request()
        x = photos(batch, MODELS[name][2])
        run = lambda request=request, x=x: request.infer({0: x}, share_inputs=True, share_outputs=True)  # noqa: E731
        _keep(folder, "openvino", batch, np.array(run()[0]))
        cases[case_name(batch)] = run
    serve(cases, repeat=repeat)


def serve_torch(name: str, folder: pathlib.Path, batches: list[int], repeat: int) -> None:
    import torch
    import torchvision

    torch.set_num_threads(int(os.environ["CVZOO_NUM_THREADS"]))
    home, _, maker = MODELS[name][1].rpartition(".")
    models = torchvision.models.segmentation if home else torchvision.models
    options = {"weights": None, "weights_backbone": None} if home else {"weights": None}
    model = vars(models)[maker](**options).eval().to(memory_format=torch.channels_last)
    cases = {}
    for batch in batches:
        x = torch.from_numpy(photos(batch, MODELS[name][2])).to(memory_format=torch.channels_last)
        cases[case_name(batch)] = lambda x=x: model(x)
    with torch.inference_mode():
        serve(cases, repeat=repeat)


def _difference(folder: pathlib.Path, who: str, batch: int) -> float | None:
    """The greatest difference to cvzoo's compiled numbers, in parts of the greatest number."""
    file = folder / f"{who}-{batch}.npy"
    if not file.exists():
        return None
    ours, theirs = np.load(folder / f"cvzoo-{batch}.npy"), np.load(file)
    return float(f"{np.abs(ours - theirs).max() / np.abs(theirs).max():.1e}")


def measure(arguments: argparse.Namespace, name: str, threads: int) -> list[dict]:
    """One model, one number of threads."""
    environment = {key: str(threads) for key in ("CVZOO_NUM_THREADS", "OMP_NUM_THREADS")}
    pythons = {
        "cvzoo": sys.executable,
        "eager": sys.executable,
        "onnxruntime": arguments.onnxruntime_python,
        "openvino": arguments.openvino_python,
        "torch": arguments.torch_python,
    }
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        write_onnx(name, folder, arguments.batch)
        tail = [str(folder), "--model", name, "--repeat", str(arguments.repeat), "--batch", *map(str, arguments.batch)]
        workers = [
            Worker(who, [python, __file__, "--serve", who, "--folder", *tail], environment)
            for who, python in pythons.items()
            if python
        ]
        rows = []
        for batch in arguments.batch:
            row = compare(workers, case_name(batch), runs=arguments.runs)
            for worker in workers[1:]:
                row[worker.name]["greatest_difference"] = _difference(folder, worker.name, batch)
            print({worker.name: row[worker.name]["greatest_difference"] for worker in workers[1:]}, flush=True)
            compiling = float((folder / f"compile-{batch}.txt").read_text())
            rows.append({"model": name, "threads": threads, "compile_seconds": compiling, **row})
        for worker in workers:
            worker.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", nargs="+", choices=sorted(MODELS), default=["resnet50"])
    parser.add_argument("--batch", nargs="+", type=int, default=[1, 8])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, len(os.sched_getaffinity(0))])
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--onnxruntime-python", help="the python of an environment with onnxruntime")
    parser.add_argument("--openvino-python", help="the python of an environment with openvino")
    parser.add_argument("--torch-python", help="the python of an environment with torch and torchvision")
    parser.add_argument("--out", help="write a JSON file of results")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        given = arguments.model[0], arguments.folder, arguments.batch, arguments.repeat
        if arguments.serve in ("cvzoo", "eager"):
            return serve_cvzoo(*given, compiled=arguments.serve == "cvzoo")
        return {"onnxruntime": serve_onnxruntime, "openvino": serve_openvino, "torch": serve_torch}[arguments.serve](
            *given
        )
    print(machine(), flush=True)
    rows = []
    for threads in arguments.threads:
        for name in arguments.model:
            print(name, f"threads {threads}", flush=True)
            rows += measure(arguments, name, threads)
    if arguments.out:
        import cvzoo

        versions = {"cvzoo": cvzoo.__version__, "numpy": np.__version__}
        write_results(arguments.out, title="Inference, compiled", rows=rows, versions=versions, notes=__doc__)


if __name__ == "__main__":
    main()
