"""Trains for ever with worker processes, and says each iteration; a test sends it signals.

python signalled_run.py OUT
"""

import signal
import sys

import numpy as np

import cvzoo.links as L
from cvzoo.iterators import MultiprocessIterator
from cvzoo.optimizers import SGD
from cvzoo.training import StandardUpdater, Trainer, extensions


def main(out):
    # whoever runs this in the background may have had signals ignored, which programs inherit
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    data = [(np.full(4, i, np.float32), np.int32(i % 3)) for i in range(40)]
    iterator = MultiprocessIterator(data, 4, n_processes=2, seed=0)
    updater = StandardUpdater(iterator, SGD(lr=0.01).setup(L.Classifier(L.Linear(4, 3))))
    trainer = Trainer(updater, (1_000_000, "epoch"), out=out)
    pids = []

    def tell(trainer):
        if not pids:
            pids.extend(process.pid for process in iterator._pool._processes)
            print("workers", *pids, flush=True)
        if sys.stdout.isatty():
            print("iteration", trainer.updater.iteration, flush=True)  # a terminal that is gone takes no line

    trainer.extend(tell)
    trainer.extend(extensions.ProgressBar())
    trainer.extend(extensions.snapshot(), trigger=(1_000_000, "epoch"))
    trainer.run()


if __name__ == "__main__":
    main(sys.argv[1])
