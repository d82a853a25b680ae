"""Sums over ranks and training steps: cvzoo over MPI, and PyTorch's DistributedDataParallel with gloo, in turn.

    python benchmarks/distributed/beside_ddp.py --torch-python ENV/bin/python [--ranks 1,2,3] [--out FILE.json]

ENV is an environment with the CPU build of torch; this one needs `pip install "cvzoo[mpi]"`. Every rank has one thread.
A step is forward, softmax cross entropy, backward with overlapped communication, and an update by SGD with momentum, of
a network of three convolutions with batch normalization and two linear layers (8.5 MB of gradients), on 8 images per
rank. Times are those of rank 0, between barriers. Ranks that wait for their turn sleep.
"""

import argparse
import itertools
import os
import pathlib
import socket
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from side_by_side import Worker, compare, machine, serve, write_results

SIZES = {"4 KB": 1_000, "1 MB": 250_000, "25 MB": 6_250_000, "100 MB": 25_000_000}  # elements of float32
BATCH, SIDE, CLASSES = 8, 64, 100
CHANNELS, HIDDEN = (3, 32, 64, 128), 256
LR, MOMENTUM = 0.01, 0.9


def batch(rank: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(rank)
    x = random.standard_normal((BATCH, 3, SIDE, SIDE), "float32")
    return x, random.integers(0, CLASSES, BATCH).astype("int32")


def serve_cvzoo() -> None:
    from mpi4py import MPI

    import cvzoo.functions as F
    from cvzoo import Sequential
    from cvzoo.distributed import create_communicator, create_multi_node_optimizer
    from cvzoo.links.connection.conv_2d_bn_activ import Conv2DBNActiv
    from cvzoo.links.connection.linear import Linear
    from cvzoo.optimizers import MomentumSGD

    comm = create_communicator("mpi")
    model = Sequential()
    for before, after in itertools.pairwise(CHANNELS):
        model.append(Conv2DBNActiv(before, after, 3, 2, 1))
    model.append(Linear(CHANNELS[-1] * (SIDE // 8) ** 2, HIDDEN))
    model.append(Linear(HIDDEN, CLASSES))
    optimizer = create_multi_node_optimizer(MomentumSGD(lr=LR, momentum=MOMENTUM), comm).setup(model)
    x, t = batch(comm.rank)

    def step() -> None:
        optimizer.update(lambda x, t: F.softmax_cross_entropy(model(x), t), x, t)

    arrays = {name: np.zeros(n, np.float32) for name, n in SIZES.items()}
    work = {f"allreduce {name}": lambda x=x: comm.allreduce(x) for name, x in arrays.items()} | {"step": step}
    names = list(work)

    def told() -> str:
        while not MPI.COMM_WORLD.Iprobe(0, 0):  # MPI's own waiting would keep a CPU core busy
            time.sleep(0.001)
        number = np.empty(1, np.int64)
        MPI.COMM_WORLD.Recv(number, 0, 0)
        return names[number[0]] if number[0] >= 0 else ""

    def tell(name: str) -> None:
        for rank in range(1, comm.size):
            MPI.COMM_WORLD.Send(np.array([names.index(name) if name else -1]), rank, 0)

    serve_ranks(comm.rank, work, tell, told, comm.barrier)


def serve_torch(n: int) -> None:
    """Rank 0 starts the others."""
    import torch
    import torch.distributed as dist

    rank = int(os.environ.get("RANK", "0"))
    if rank == 0:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(n), "RANK": "0"}
        for other in range(1, n):
            subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, "RANK": str(other)})
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    layers: list[torch.nn.Module] = []
    for before, after in itertools.pairwise(CHANNELS):
        conv = torch.nn.Conv2d(before, after, 3, 2, 1, bias=False)
        layers += [conv, torch.nn.BatchNorm2d(after), torch.nn.ReLU()]
    linear = [torch.nn.Linear(CHANNELS[-1] * (SIDE // 8) ** 2, HIDDEN), torch.nn.Linear(HIDDEN, CLASSES)]
    model = torch.nn.Sequential(*layers, torch.nn.Flatten(), *linear).to(memory_format=torch.channels_last)
    model = torch.nn.parallel.DistributedDataParallel(model) if n > 1 else model
    optimizer = torch.optim.SGD(model.parameters(), lr=LR, momentum=MOMENTUM)
    x, t = map(torch.from_numpy, batch(rank))
    x, t = x.contiguous(memory_format=torch.channels_last), t.long()

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(model(x), t).backward()
        optimizer.step()

    arrays = {name: torch.zeros(size) for name, size in SIZES.items()}
    work = {f"allreduce {name}": lambda x=x: dist.all_reduce(x) for name, x in arrays.items()} | {"step": step}
    names = list(work)

    def tell(name: str) -> None:
        dist.broadcast(torch.tensor([names.index(name) if name else -1]), 0)

    def told() -> str:
        number = torch.empty(1, dtype=torch.int64)
        dist.broadcast(number, 0)
        return names[number[0]] if number[0] >= 0 else ""

    serve_ranks(rank, work, tell, told, dist.barrier)
    dist.destroy_process_group()


def serve_ranks(rank, work, tell, told, barrier) -> None:
    """Rank 0 serves the driver, the others do what it tells. A case gives the seconds of one repetition."""

    def timed(name: str) -> float:
        rounds = {"allreduce 4 KB": 200, "allreduce 1 MB": 20}.get(name, 2)
        barrier()
        begun = time.perf_counter()
        for _ in range(rounds):
            work[name]()
        barrier()
        return (time.perf_counter() - begun) / rounds

    def lead(name: str) -> float:
        tell(name)
        return timed(name)

    if rank == 0:
        serve({name: lambda name=name: lead(name) for name in work})
        tell("")
    else:
        while name := told():
            timed(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torch-python", help="Python with torch; without it cvzoo alone")
    parser.add_argument("--ranks", default="1,2,3", help="numbers of ranks")
    parser.add_argument("--runs", type=int, default=15, help="measured turns of a case")
    parser.add_argument("--out", help="JSON file")
    parser.add_argument("--serve", choices=("cvzoo", "torch"), help=argparse.SUPPRESS)
    parser.add_argument("--n", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        return serve_cvzoo() if args.serve == "cvzoo" else serve_torch(args.n)
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "CVZOO_NUM_THREADS"), "1")
    mpiexec = str(pathlib.Path(sys.executable).with_name("mpiexec"))
    rows = []
    for n in map(int, args.ranks.split(",")):
        words = [__file__, "--n", str(n), "--serve"]
        commands = {"cvzoo": [mpiexec, "-n", str(n), sys.executable, "-m", "mpi4py", *words, "cvzoo"]}
        if args.torch_python:
            commands["torch"] = [args.torch_python, *words, "torch"]
        workers = [Worker(name, command, one_thread) for name, command in commands.items()]
        print(f"{n} ranks")
        for case in workers[0].cases:
            if n > 1 or case == "step":
                rows.append({"n_rank": n, **compare(workers, case, runs=args.runs)})
        for worker in workers:
            worker.close()
    if args.out:
        load = f"load average at the end {os.getloadavg()[0]:.1f} on {machine()['cores']} cores"
        versions = {"numpy": np.__version__}
        write_results(args.out, title="ranks beside DDP with gloo", rows=rows, versions=versions, notes=load)


if __name__ == "__main__":
    main()
