"""Trains a small network with everything that has a state, and is killed again and again.

    python killed_run.py OUT SEED KILLS [--processes]

Each life is a forked process that goes on from the newest snapshot; all but the last are killed with SIGKILL at a
moment drawn from SEED. The last one writes OUT/final.npz, all that there is to compare.
"""

import os
import pathlib
import random
import signal
import sys
import time
import traceback

import numpy as np

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import training
from cvzoo.iterators import MultiprocessIterator, SerialIterator
from cvzoo.optimizers import Adam, ExponentialMovingAverage, GradientClipping, WeightDecay
from cvzoo.serializers.state_file import write_state
from cvzoo.training import extensions, triggers
from cvzoo.training.extensions.csv_report import CSVReport
from cvzoo.training.extensions.json_lines_report import JSONLinesReport

N_TRAIN, BATCH, EPOCHS = 60, 7, 24


class Net(cvzoo.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(None, 8, 3, pad=1)
            self.bn = L.BatchNormalization(8)
            self.conv2 = L.Convolution2D(8, 4, 3, pad=1)
            self.fc = L.Linear(None, 3)

    def forward(self, x):
        x = x + np.float32(np.random.normal() * 0.01 + random.random() * 0.01)  # NumPy's and Python's own generators
        h = F.relu(self.bn(self.conv1(x)))
        return self.fc(F.dropout(F.relu(self.conv2(h)), 0.3))


class Noisy:
    """Small images with noise from cvzoo's generator, as random transforms have it."""

    def __init__(self, n):
        rng = np.random.default_rng(n)
        self.t = rng.integers(0, 3, n).astype(np.int32)
        self.x = (rng.normal(0, 1, (n, 2, 3, 3)) + np.eye(3)[self.t, None, :, None]).astype(np.float32)

    def __len__(self):
        return len(self.t)

    def __getitem__(self, i):
        noise = cvzoo.config.random_generator().normal(0, 0.1, (2, 3, 3)).astype(np.float32)
        return self.x[i] + noise, self.t[i]


def train(out, processes, tell):
    cvzoo.set_seed(3)
    np.random.seed(4)
    random.seed(5)
    model = L.Classifier(Net())
    optimizer = Adam(alpha=0.01).setup(model).accumulate(2)
    optimizer.add_hook(GradientClipping(1.0))
    optimizer.add_hook(WeightDecay(1e-3))
    optimizer.add_hook(ExponentialMovingAverage(0.9))
    if processes:
        iterator = MultiprocessIterator(Noisy(N_TRAIN), BATCH, n_processes=1, seed=1, start_method="fork")
    else:
        iterator = SerialIterator(Noisy(N_TRAIN), BATCH, seed=1)
    stop = triggers.EarlyStoppingTrigger(monitor="validation/main/loss", patience=99, max_trigger=(EPOCHS, "epoch"))
    trainer = training.Trainer(training.StandardUpdater(iterator, optimizer), stop, out=out)
    test = SerialIterator(Noisy(10), 4, repeat=False, shuffle=False, seed=2)
    trainer.extend(extensions.Evaluator(test, model))
    trainer.extend(extensions.observe_lr())
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.LogReport(trigger=(3, "iteration"), filename="often"))
    trainer.extend(JSONLinesReport(trigger=(3, "iteration")))
    trainer.extend(CSVReport())
    trainer.extend(extensions.WarmupShift("alpha", 0.001, 20, then=extensions.CosineShift("alpha", 200)))
    best = triggers.MaxValueTrigger("validation/main/accuracy")
    trainer.extend(extensions.snapshot_object(model, "best.npz"), trigger=best)
    trainer.extend(lambda trainer: os.write(tell, b"."), priority=1000)  # in the midst of an iteration
    trainer.extend(
        extensions.snapshot(autoload=True, keep_best="validation/main/loss", best_is="smallest"),
        trigger=(4, "iteration"),
    )
    trainer.run()
    state = trainer.state()
    for log in ("LogReport", "LogReport_1"):
        for line in state["extensions"][log]["state"]["log"]:
            del line["elapsed_time"]
    del state["elapsed_time"]
    write_state(pathlib.Path(out) / "final.npz", state)


def main(out, seed, kills, processes):
    rng = random.Random(seed)
    out.mkdir(exist_ok=True)
    for life in range(kills + 1):
        heard, tell = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            with open(out / "said", "a", buffering=1) as sys.stderr:
                try:
                    train(out, processes, tell)
                    status = 0
                except Exception:
                    traceback.print_exc()
            os._exit(status)
        os.close(tell)
        if life < kills:
            for _ in range(rng.randrange(14)):  # iterations that it may begin
                os.read(heard, 1)
            time.sleep(rng.uniform(0, 0.004))
            os.kill(child, signal.SIGKILL)
        else:
            while os.read(heard, 4096):
                pass
        _, status = os.waitpid(child, 0)
        os.close(heard)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status):
            sys.exit(f"life {life} failed: {(out / 'said').read_text()}")
        if os.WIFEXITED(status) and life < kills:
            sys.exit(f"life {life} was over before it was killed: make training longer")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), "--processes" in sys.argv)
