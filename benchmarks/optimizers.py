"""One step of an optimizer, on ResNet-50's parameters and on those of small networks, in turn with others.

    python benchmarks/optimizers.py --torch-python ENV/bin/python [--threads 1 4] [--out benchmarks/results/FILE.json]

cvzoo against a plain loop over the parameters with NumPy (some ten small operations each), and torch.s optimizers
(foreach and fused). Gradients are there already. A case of small networks is 50 steps, one of ResNet-50 a single one.
"""

import argparse
import os
import sys

import numpy as np
from side_by_side import Worker, compare, machine, serve, write_results

NAMES = ("SGD", "MomentumSGD", "Adam")
OTHERS = ("loop", "foreach", "fused")
STEPS_OF_SMALL = 50


def resnet50() -> list[tuple[int, ...]]:
    """The shapes of its 161 parameters, 25.6 M values."""
    shapes: list[tuple[int, ...]] = [(64, 3, 7, 7), (64,), (64,)]
    channels = 64
    for mid, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            shapes += [(mid, channels, 1, 1), (mid,), (mid,), (mid, mid, 3, 3), (mid,), (mid,)]
            shapes += [(4 * mid, mid, 1, 1), (4 * mid,), (4 * mid,)]
            if block == 0:
                shapes += [(4 * mid, channels, 1, 1), (4 * mid,), (4 * mid,)]
            channels = 4 * mid
    return [*shapes, (1000, 2048), (1000,)]


NETWORKS = {
    "ResNet-50": resnet50(),
    "MLP 784-1000-1000-10": [(1000, 784), (1000,), (1000, 1000), (1000,), (10, 1000), (10,)],
    "MLP 784-100-10": [(100, 784), (100,), (10, 100), (10,)],
}


def arrays(shapes: list[tuple[int, ...]]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    rng = np.random.default_rng(0)
    return tuple([rng.standard_normal(shape, "float32") for shape in shapes] for _ in range(2))


def repeated(network: str, step) -> object:
    count = 1 if network == "ResNet-50" else STEPS_OF_SMALL

    def case():
        for _ in range(count):
            step()

    return case


def cases_of(make_step) -> dict:
    return {
        f"{network} {name}": repeated(network, make_step(name, *arrays(shapes)))
        for network, shapes in NETWORKS.items()
        for name in NAMES
    }


def cvzoo_step(name, values, grads):
    import cvzoo

    links = cvzoo.ChainList()
    for value, grad in zip(values, grads):
        link = cvzoo.Link()
        with link.init_scope():
            link.W = cvzoo.Parameter(value)
        link.W.grad = grad
        links.append(link)
    return getattr(cvzoo.optimizers, name)().setup(links).update


def loop_step(name, values, grads):
    memory = [[np.zeros_like(value) for value in values] for _ in range(2)]
    t = 0

    def step():
        nonlocal t
        t += 1
        for p, g, m, v in zip(values, grads, *memory):
            if name == "SGD":
                p -= 0.01 * g
            elif name == "MomentumSGD":
                m *= 0.9
                m += g
                p -= 0.01 * m
            else:
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                p -= 0.001 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)

    return step


def torch_step(kind):
    import torch

    torch.set_num_threads(int(os.environ["CVZOO_NUM_THREADS"]))

    def make(name, values, grads):
        params = [torch.nn.Parameter(torch.from_numpy(value)) for value in values]
        for param, grad in zip(params, grads):
            param.grad = torch.from_numpy(grad)
        if name == "Adam":
            return torch.optim.Adam(params, lr=0.001, foreach=kind == "foreach", fused=kind == "fused").step
        momentum = 0.9 if name == "MomentumSGD" else 0
        return torch.optim.SGD(
            params, lr=0.01, momentum=momentum, foreach=kind == "foreach", fused=kind == "fused"
        ).step

    return make


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch-python", help="the python of an environment with torch")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, len(os.sched_getaffinity(0))])
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--out", help="write a JSON file of results")
    parser.add_argument("--serve", choices=("cvzoo", *OTHERS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        makers = {"cvzoo": lambda: cvzoo_step, "loop": lambda: loop_step}
        maker = makers[arguments.serve]() if arguments.serve in makers else torch_step(arguments.serve)
        return serve(cases_of(maker))
    rows = []
    print(machine())
    for threads in arguments.threads:
        environment = {"CVZOO_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
        pythons = {"cvzoo": sys.executable, "loop": sys.executable}
        if arguments.torch_python:
            pythons |= {"foreach": arguments.torch_python, "fused": arguments.torch_python}
        workers = [Worker(name, [python, __file__, "--serve", name], environment) for name, python in pythons.items()]
        load = round(os.getloadavg()[0], 1)  # of other programs: who measures on a busy machine says so
        print(f"threads {threads}, load {load}")
        for case in workers[0].cases:
            rows.append({"threads": threads, "load": load, **compare(workers, case, runs=arguments.runs)})
        for worker in workers:
            worker.close()
    if arguments.out:
        import cvzoo

        versions = {"cvzoo": cvzoo.__version__, "numpy": np.__version__}
        write_results(arguments.out, title="A step of an optimizer", rows=rows, versions=versions, notes=__doc__)


if __name__ == "__main__":
    main()
