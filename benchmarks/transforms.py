"""SSD's training pipeline, from a JPEG to a float32 array of 300 x 300, beside albumentations and torchvision v2.

    python benchmarks/transforms.py FOLDER [--opencv PYTHON] [--albumentations PYTHON] [--torchvision PYTHON]
                                    [--runs 15] [--out FILE]

Read, expand (every other time, up to 4 times the sides), crop, resize to 300 x 300, flip, jitter: each library with
its own transforms for it, in a process of its own (PYTHON is the interpreter that has it), on one thread, A B C A B C.
The images of the folder are shrunk to VOC's size (500 on the long side, JPEG) first. Seconds are those of 40 images.
What the libraries call expand and crop differs a little; the notes in the result say how.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

N_PHOTO = 40
SIZE = 300
FILL = (123, 117, 104)
JITTER = {"brightness": 0.125, "contrast": 0.5, "saturation": 0.5, "hue": 0.05}
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "CVZOO_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
NOTES = (
    "cvzoo: Sometimes(RandomExpand), RandomCropWithBboxConstraints, Resize, RandomFlip, ColorJitter on a uint8 photo; "
    "cvzoo-float the same on read_image's float32; pillow antialiases when it shrinks, opencv does not, decodes with "
    "OpenCV and changes the colours in 8 bits, all as albumentations. "
    "albumentations: CropAndPad (pads each side by up to 1.5, so 4 in all), RandomSizedBBoxSafeCrop (keeps all boxes, "
    "tries no constraints), OpenCV's bilinear. torchvision: RandomZoomOut, RandomIoUCrop, Resize(antialias), "
    "SanitizeBoundingBoxes, on PIL images or on uint8 tensors of decode_jpeg."
)


def cvzoo_pipeline(*, backend, dtype="uint8"):
    import numpy as np

    import cvzoo.transforms as T
    from cvzoo.images import read_image

    compose = T.Compose(
        [
            T.Sometimes(T.RandomExpand(max_ratio=4, fill=FILL)),
            T.RandomCropWithBboxConstraints(),
            T.Resize((SIZE, SIZE), backend=backend),
            T.RandomFlip(x_random=True),
            T.ColorJitter(**JITTER, dtype=np.float32, backend="opencv" if backend == "opencv" else "numpy"),
        ]
    )

    def run(path, bbox, index):
        img = read_image(path, dtype=np.dtype(dtype), decoder=backend)
        sample = T.Sample(img=img, bbox=np.array(bbox, np.float32), label=np.zeros(len(bbox), np.int32))
        return compose(sample, rng=T.sample_generator(0, 0, index)).img

    return run


def albumentations_pipeline():
    import albumentations as A
    import cv2
    import numpy as np

    cv2.setNumThreads(1)
    compose = A.Compose(
        [
            A.CropAndPad(percent=(0, 1.5), keep_size=False, fill=FILL, p=0.5),
            A.RandomSizedBBoxSafeCrop(SIZE, SIZE, erosion_rate=0.2),
            A.HorizontalFlip(p=0.5),
            A.ColorJitter(
                brightness=(0.875, 1.125), contrast=(0.5, 1.5), saturation=(0.5, 1.5), hue=(-0.05, 0.05), p=1
            ),
        ],
        bbox_params=A.BboxParams(format="pascal_voc", label_fields=["labels"]),
        seed=0,
    )

    def run(path, bbox, index):
        img = cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)
        boxes = np.array(bbox, np.float32)[:, [1, 0, 3, 2]]
        img = compose(image=img, bboxes=boxes, labels=[0] * len(bbox))["image"]
        return np.ascontiguousarray(img.transpose(2, 0, 1), dtype=np.float32)

    return run


def torchvision_pipeline(*, tensor):
    import torch
    from PIL import Image
    from torchvision import io, tv_tensors
    from torchvision.transforms import v2

    torch.set_num_threads(1)
    compose = v2.Compose(
        [
            v2.RandomZoomOut(fill=FILL, side_range=(1.0, 4.0), p=0.5),
            v2.RandomIoUCrop(),
            v2.Resize((SIZE, SIZE), antialias=True),
            v2.RandomHorizontalFlip(),
            v2.ColorJitter(**JITTER),
            v2.ToImage(),
            v2.ToDtype(torch.float32),
            v2.SanitizeBoundingBoxes(),
        ]
    )

    def run(path, bbox, index):
        if tensor:
            img = tv_tensors.Image(io.decode_jpeg(io.read_file(path), mode=io.ImageReadMode.RGB))
            size = img.shape[1:]
        else:
            img = Image.open(path).convert("RGB")
            size = img.size[::-1]
        boxes = tv_tensors.BoundingBoxes(torch.tensor(bbox)[:, [1, 0, 3, 2]], format="XYXY", canvas_size=tuple(size))
        out = compose({"img": img, "boxes": boxes, "labels": torch.zeros(len(bbox), dtype=torch.int64)})
        return out["img"].contiguous()

    return run


PIPELINES = {
    "cvzoo": lambda: cvzoo_pipeline(backend="pillow"),
    "cvzoo-float": lambda: cvzoo_pipeline(backend="pillow", dtype="float32"),
    "cvzoo-opencv": lambda: cvzoo_pipeline(backend="opencv"),
    "albumentations": albumentations_pipeline,
    "torchvision-pil": lambda: torchvision_pipeline(tensor=False),
    "torchvision-tensor": lambda: torchvision_pipeline(tensor=True),
}


def photos(folder):
    """Paths and boxes of the images, N_PHOTO in all."""
    from PIL import Image

    rng = random.Random(0)
    found = []
    paths = sorted(pathlib.Path(folder).glob("*.jpg"))
    if not paths:
        sys.exit(f"{folder} has no .jpg")
    for index in range(N_PHOTO):
        path = str(paths[index % len(paths)])
        width, height = Image.open(path).size
        bbox = []
        for _ in range(rng.randint(1, 5)):
            h, w = (rng.uniform(0.1, 0.6) * side for side in (height, width))
            y, x = rng.uniform(0, height - h), rng.uniform(0, width - w)
            bbox.append((y, x, y + h, x + w))
        found.append((path, bbox))
    return found


def serve_pipeline(name, folder):
    from side_by_side import serve

    run, examples, epoch = PIPELINES[name](), photos(folder), 0

    def all_photos():
        nonlocal epoch
        for index, (path, bbox) in enumerate(examples):
            out = run(path, bbox, epoch * N_PHOTO + index)
            assert tuple(out.shape) == (3, SIZE, SIZE), out.shape
        epoch += 1

    serve({f"{N_PHOTO} photos": all_photos})


def versions_of(python):
    """Names and versions of what an interpreter has that matters here."""
    code = (
        "import importlib.metadata as m\n"
        "for n in ('numpy', 'pillow', 'opencv-python-headless', 'albumentations', 'torch', 'torchvision'):\n"
        "    try: print(n, m.version(n))\n"
        "    except m.PackageNotFoundError: pass"
    )
    lines = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split() for line in lines]


def shrink(folder, out):
    from PIL import Image

    for path in sorted(pathlib.Path(folder).glob("*.jpg")):
        img = Image.open(path).convert("RGB")
        img.thumbnail((500, 500))
        img.save(pathlib.Path(out) / path.name, quality=90)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("photos", help="a folder of .jpg")
    for other in ("opencv", "albumentations", "torchvision"):
        parser.add_argument(f"--{other}", metavar="PYTHON", help=f"an interpreter that has {other}")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--out", metavar="FILE")
    parser.add_argument("--serve", choices=sorted(PIPELINES), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve_pipeline(options.serve, options.photos)
    from side_by_side import Worker, compare, write_results

    pythons = {"cvzoo": sys.executable, "cvzoo-float": sys.executable, "cvzoo-opencv": options.opencv}
    pythons |= {"albumentations": options.albumentations}
    pythons |= {"torchvision-pil": options.torchvision, "torchvision-tensor": options.torchvision}
    root = str(pathlib.Path(__file__).resolve().parents[1])
    environment = {**THREADS, "PYTHONPATH": root, "NO_ALBUMENTATIONS_UPDATE": "1"}
    with tempfile.TemporaryDirectory() as folder:
        shrink(options.photos, folder)
        workers = [
            Worker(name, [python, __file__, folder, "--serve", name], environment)
            for name, python in pythons.items()
            if python
        ]
        row = compare(workers, f"{N_PHOTO} photos", runs=options.runs)
        for worker in workers:
            worker.close()
    for name in pythons:
        if name in row:
            print(f"{name:20s} {N_PHOTO / row[name]['median_ms'] * 1e3:7.0f} photos a second")
    if options.out:
        versions = {name: found for python in set(pythons.values()) if python for name, found in versions_of(python)}
        write_results(
            options.out, title="SSD's training pipeline, one core", rows=[row], versions=versions, notes=NOTES
        )


if __name__ == "__main__":
    main()
