"""Images per second through the iterators, beside torch's DataLoader on the same data set.

    python benchmarks/iterators.py FOLDER [--torch PYTHON] [--runs 7] [--photos 96] [--out FILE]

Read a JPEG whose long side is 640, flip it, resize it to 640 x 640, as float32 (4.9 MB an example), in batches of 16:
one thread, then 1, 2 and 4 threads and processes, each in a program of its own, in turn. A pass begins with nothing
read ahead and ends with the last batch; workers were started before. "tiny" is the same with examples of 3 kB that cost
nothing: what a worker's answer costs. PYTHON is an interpreter that has torch and what cvzoo needs: its DataLoader
reads the very same data set, given as tensors, once as lists of images and once stacked in the workers (its default);
cvzoo-stacked stacks in the program itself.
"""

import argparse
import itertools
import os
import pathlib
import random
import sys
import tempfile

BATCH = 16
SIZE = 640
COUNTS = (1, 2, 4)
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "CVZOO_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
NOTES = (
    "batches of 16; photos: 640 on the long side to (3, 640, 640) float32, read with Pillow, flipped, resized; tiny: "
    "(3, 16, 16) float32 made of nothing. The DataLoader has persistent workers and its default prefetch_factor of 2; "
    "MultiprocessIterator its default n_prefetch."
)


class Photos:
    """Example i: an image of the folder, flipped or not, (3, 640, 640) float32."""

    def __init__(self, folder, n):
        import cvzoo.transforms as T

        paths = sorted(pathlib.Path(folder).glob("*.jpg"))
        self._paths = [str(paths[i % len(paths)]) for i in range(n)]
        self._compose = T.Compose([T.RandomFlip(x_random=True), T.Resize((SIZE, SIZE))])

    def __len__(self):
        return len(self._paths)

    def __getitem__(self, index):
        import cvzoo.transforms as T
        from cvzoo.images import read_image

        return self._compose(T.Sample(img=read_image(self._paths[index]))).img


class Tiny:
    """Example i: (3, 16, 16) float32."""

    def __init__(self, n):
        self._n = n

    def __len__(self):
        return self._n

    def __getitem__(self, index):
        import numpy as np

        return np.full((3, 16, 16), index, np.float32)


class Tensors:
    """A data set's examples as torch's tensors."""

    def __init__(self, dataset):
        self._dataset = dataset

    def __len__(self):
        return len(self._dataset)

    def __getitem__(self, index):
        import torch

        return torch.from_numpy(self._dataset[index])


def datasets(folder, n):
    return {"photos": Photos(folder, n), "tiny": Tiny(40 * n)}


def passes(iterator, n, *, stack):
    import numpy as np

    def run():
        iterator.reset()
        count = 0
        for batch in iterator:
            count += len(np.stack(batch)) if stack else len(batch)
        assert count == n, count

    return run


def serve_cvzoo(folder, n, *, stack):
    from side_by_side import serve

    from cvzoo.iterators import MultiprocessIterator, MultithreadIterator, SerialIterator

    cases = {}
    for name, dataset in datasets(folder, n).items():
        made = {"serial": SerialIterator(dataset, BATCH, repeat=False, shuffle=False)}
        for count in COUNTS:
            made[f"{count} threads"] = MultithreadIterator(dataset, BATCH, False, False, n_threads=count)
            made[f"{count} processes"] = MultiprocessIterator(dataset, BATCH, False, False, n_processes=count)
        cases |= {f"{name}, {how}": passes(it, len(dataset), stack=stack) for how, it in made.items()}
    serve(cases)


def as_list(batch):
    return batch


def serve_torch(folder, n, *, stack):
    import torch
    from side_by_side import serve
    from torch.utils.data import DataLoader

    torch.set_num_threads(1)
    cases = {}
    for name, dataset in datasets(folder, n).items():
        for count in (0, *COUNTS):
            how = "serial" if count == 0 else f"{count} processes"
            extra = {"persistent_workers": True} if count else {}
            collate = None if stack else as_list
            loader = DataLoader(Tensors(dataset), BATCH, num_workers=count, collate_fn=collate, **extra)
            cases[f"{name}, {how}"] = pass_of(loader, len(dataset))
    serve(cases)


def pass_of(loader, n):
    def run():
        count = sum(len(batch) for batch in loader)
        assert count == n, count

    return run


SERVERS = {
    "cvzoo": lambda folder, n: serve_cvzoo(folder, n, stack=False),
    "torch": lambda folder, n: serve_torch(folder, n, stack=False),
    "cvzoo-stacked": lambda folder, n: serve_cvzoo(folder, n, stack=True),
    "torch-stacked": lambda folder, n: serve_torch(folder, n, stack=True),
}


def shrink(folder, out):
    from PIL import Image

    rng = random.Random(0)
    for path in itertools.islice(sorted(pathlib.Path(folder).rglob("*.jpg"), key=lambda _: rng.random()), 32):
        img = Image.open(path).convert("RGB")
        scale = SIZE / max(img.size)
        img = img.resize([round(side * scale) for side in img.size])
        img.save(pathlib.Path(out) / f"{path.stem}.jpg", quality=90)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", metavar="PHOTOS", help="a folder of .jpg, or of such folders")
    parser.add_argument("--torch", metavar="PYTHON", help="an interpreter that has torch")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--photos", type=int, default=96, help="examples of a pass (default: 96)")
    parser.add_argument("--out", metavar="FILE")
    parser.add_argument("--serve", choices=sorted(SERVERS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return SERVERS[options.serve](options.folder, options.photos)
    from side_by_side import Worker, compare, write_results
    from transforms import versions_of

    root = str(pathlib.Path(__file__).resolve().parents[1])
    environment = {**THREADS, "PYTHONPATH": root}
    pythons = dict.fromkeys(SERVERS, sys.executable)
    pythons |= dict.fromkeys(("torch", "torch-stacked"), options.torch)
    rows = []
    load = os.getloadavg()
    with tempfile.TemporaryDirectory() as folder:
        shrink(options.folder, folder)
        workers = [
            Worker(name, [python, __file__, folder, "--serve", name, "--photos", str(options.photos)], environment)
            for name, python in pythons.items()
            if python
        ]
        for case in workers[0].cases:
            able = [worker for worker in workers if case in worker.cases]
            row = compare(able, case, runs=options.runs, warmup=1)
            n = options.photos * (40 if case.startswith("tiny") else 1)
            for worker in able:
                row[worker.name]["examples_a_second"] = round(n / row[worker.name]["median_ms"] * 1e3, 1)
            rows.append(row)
        for worker in workers:
            worker.close()
    for row in rows:
        rates = (f"{name} {row[name]['examples_a_second']:8.0f}" for name in SERVERS if name in row)
        print(f"{row['case']:22s}", *rates)
    if options.out:
        versions = {name: found for python in set(pythons.values()) if python for name, found in versions_of(python)}
        notes = f"{NOTES} Load of the machine before (1, 5, 15 minutes): {load[0]:.1f} {load[1]:.1f} {load[2]:.1f}."
        write_results(options.out, title="iterators and DataLoader", rows=rows, versions=versions, notes=notes)


if __name__ == "__main__":
    main()
