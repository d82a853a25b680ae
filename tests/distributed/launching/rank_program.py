"""What the ranks of the tests do, by the first argument; started by the launcher, and no test itself."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

RANK = int(os.environ["CVZOO_LAUNCH_RANK"])
SIZE = int(os.environ.get("PMI_SIZE") or os.environ["OMPI_COMM_WORLD_SIZE"])  # MPICH's or Open MPI's
FIRST = os.environ["CVZOO_LAUNCH_ATTEMPT"] == "0"
WORDS = sys.argv[2:]


def wait():
    """Longer than any test; a signal ends it."""
    time.sleep(600)


def waits_aside():
    print("rank", RANK, "waits", file=sys.stderr)
    wait()


def names_of_ray():
    """The environment variables of Ray's configuration."""
    print([name for name in os.environ if name.startswith("RAY_")])


def gpus():
    print(os.environ.get("CUDA_VISIBLE_DEVICES"))


def waits():
    print("waits")
    wait()


def done():
    print("rank", RANK, "of", SIZE, *WORDS)
    print("an aside", file=sys.stderr)


def raised():
    from mpi4py import MPI

    if RANK == 1:
        raise ValueError("boom")
    MPI.COMM_WORLD.Barrier()


def exited():
    if RANK == 1:
        sys.exit(3)
    wait()


def exited_with_mpi():
    from mpi4py import MPI

    if RANK == 1:
        sys.exit(3)
    MPI.COMM_WORLD.Barrier()


def killed():
    if FIRST and RANK == 1:
        print("the last words")
        os.kill(os.getpid(), signal.SIGKILL)
    if FIRST:
        wait()
    done()


def killed_with_mpi():
    from mpi4py import MPI

    if RANK == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    MPI.COMM_WORLD.Barrier()


def machines_come_and_go():
    """Says how many ranks there are; waits in the first attempt, and in the second for a file, to be killed then."""
    from cvzoo.distributed.launching.accumulation import accumulation_steps

    attempt = int(os.environ["CVZOO_LAUNCH_ATTEMPT"])
    print(f"attempt {attempt}: {accumulation_steps(RANK, SIZE)} batches of rank {RANK}", file=sys.stderr)
    if attempt == 0:
        wait()
    if attempt == 1:
        while not pathlib.Path(WORDS[0]).exists():
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGKILL)


def killed_at_a_step():
    """Each attempt is killed: after as many updates as before, or after one more."""
    from cvzoo.reporting import sign_of_life

    sign_of_life(3 + (WORDS[0] == "further") * int(os.environ["CVZOO_LAUNCH_ATTEMPT"]))
    os.kill(os.getpid(), signal.SIGKILL)


def segfault():
    if RANK == 0:
        os.kill(os.getpid(), signal.SIGSEGV)
    wait()


def stopped():
    if FIRST and RANK == 1:
        os.kill(os.getpid(), signal.SIGSTOP)
    if FIRST:
        wait()


def deadlock():
    from mpi4py import MPI

    if RANK == 0:
        MPI.COMM_WORLD.recv(source=1)
    waits_for_rank_0()


def waits_for_rank_0():
    wait()


def silent_but_alive():
    from cvzoo.iterators import SerialIterator

    iterator = SerialIterator([0, 1], 1)
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        next(iterator)
        time.sleep(0.05)


def out_of_memory():
    if FIRST and RANK == 1:
        raise MemoryError
    if FIRST:
        wait()
    done()


def spoke_until_the_disk_was_full():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print("x" * 200_000)
    wait()


def interrupts_the_launcher():
    """Rank 0 sends the signal to the launcher, its argument, and all ranks save when it arrives."""
    number = signal.Signals[WORDS[0]]

    def save(*_):
        print("saved")
        sys.exit(0)

    signal.signal(number, save)
    with open(pathlib.Path(WORDS[2], f"ready-{RANK}"), "w"):
        pass
    while len(list(pathlib.Path(WORDS[2]).glob("ready-*"))) < SIZE:
        time.sleep(0.01)
    if RANK == 0:
        os.kill(int(WORDS[1]), number)
    wait()


def ignores_signals():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if RANK == 0:
        os.kill(int(WORDS[0]), signal.SIGINT)
    wait()


def starts_others():
    """A process in a session of its own, as a daemon."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    print("started", child.pid)
    if RANK == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    wait()


def environment():
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "CVZOO_LAUNCH_RANKS"):
        print(name, os.environ.get(name))


def train():
    """Least squares by gradient descent; rank 1 of the first attempt runs out of memory after the third step."""
    import numpy as np
    from mpi4py import MPI

    from cvzoo.distributed.launching.accumulation import accumulation_steps, planned_ranks

    comm, path = MPI.COMM_WORLD, pathlib.Path(WORDS[0])
    planned = planned_ranks(SIZE)
    first = sum(accumulation_steps(r, SIZE) for r in range(RANK))
    mine = range(first, first + accumulation_steps(RANK, SIZE))
    step, w = 0, np.zeros(2)
    if "--resume" in WORDS:
        state = np.load(path)
        step, w = int(state["step"]), state["w"]
    while step < 6:
        gradient = np.zeros(2)
        for batch in mine:
            x = np.random.default_rng([step, batch]).standard_normal((5, 2))
            gradient += 2 / 5 * x.T @ (x @ (w - [1.0, 2.0]))
        comm.Allreduce(MPI.IN_PLACE, gradient)
        w, step = w - 0.1 * gradient / planned, step + 1
        if RANK == 0:
            np.savez(path, step=step, w=w)
        comm.Barrier()
        if FIRST and step == 3:
            if RANK == 1:
                raise MemoryError
            comm.Barrier()


def train_with_optimizer():
    """A few updates of a small network by the mean gradients of all ranks."""
    import numpy as np

    import cvzoo.functions as F
    import cvzoo.links as L
    from cvzoo.distributed import create_communicator, create_multi_node_optimizer
    from cvzoo.optimizers import SGD

    model = L.Linear(8, 3)
    optimizer = create_multi_node_optimizer(SGD(lr=0.1), create_communicator(), bucket_mb=1e-5).setup(model)
    x = np.random.default_rng(RANK).standard_normal((4, 8)).astype(np.float32)
    for _ in range(3):
        optimizer.update(lambda x: F.sum(model(x) ** 2), x)


def trainer_interrupted():
    """Rank 0 needs a while to save; the launcher, whose id is an argument, gets Ctrl-C from it."""
    import numpy as np

    import cvzoo.functions as F
    import cvzoo.links as L
    from cvzoo.distributed import create_communicator
    from cvzoo.iterators import SerialIterator
    from cvzoo.optimizers import SGD
    from cvzoo.training import AbstractExtension, Trainer
    from cvzoo.training.updaters import StandardUpdater

    class SlowToSave(AbstractExtension):
        trigger = (1, "iteration")

        def __call__(self, trainer):
            if RANK == 0 and trainer.updater.iteration == 2:
                os.kill(int(WORDS[0]), signal.SIGINT)

        def on_interrupt(self, trainer):
            time.sleep(1)
            return "saved"

    model = L.Linear(2, 1)
    iterator = SerialIterator([(np.ones(2, np.float32),)], 1, shuffle=False)
    optimizer = SGD(lr=0.1).setup(model)
    updater = StandardUpdater(iterator, optimizer, loss_func=lambda x: F.sum(model(x)))
    Trainer(
        updater, (1_000_000, "iteration"), out=WORDS[1], extensions=[SlowToSave()], comm=create_communicator()
    ).run()


def filler_beside(folder):
    return pathlib.Path(folder).parent / "filler"


def fill_the_disk(path):
    """Until nothing more can be written there."""
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 16, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"x" * size)


def cvzoo_train():
    """`cvzoo train` with a fault of rank 1 after five updates of the first attempt.

    disk: is full from the third update on, when the snapshot of the fourth is written, until rank 1 is killed
    """
    import numpy as np

    from cvzoo.cli.main import main
    from cvzoo.training.updaters.standard_updater import StandardUpdater

    fault, launcher, *words = WORDS
    update = StandardUpdater.update

    def faulty(updater):
        update(updater)
        if FIRST and RANK == 0 and fault == "disk" and updater.iteration == 3:
            fill_the_disk(filler_beside(words[words.index("--out") + 1]))
        if FIRST and RANK == 0 and fault == "cut" and updater.iteration == 5:
            print("pull the cable", file=sys.stderr)
        if FIRST and RANK == 1 and updater.iteration == 5:
            if fault == "disk":
                filler_beside(words[words.index("--out") + 1]).unlink()
            if fault in ("kill", "disk"):
                os.kill(os.getpid(), signal.SIGKILL)
            if fault == "memory":
                np.empty(1 << 50)
            if fault == "stop":
                os.kill(os.getpid(), signal.SIGSTOP)
            if fault == "cut":
                wait()
            if fault == "interrupt":
                os.kill(int(launcher), signal.SIGINT)

    StandardUpdater.update = faulty
    sys.exit(main(["train", *words]))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
