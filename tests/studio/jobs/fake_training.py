"""Imitates `cvzoo train` in a folder: rows until a file says how to end, or an interrupt."""

import fcntl
import json
import os
import pathlib
import signal
import sys
import time

run = pathlib.Path(sys.argv[1])
lock = os.open(run, os.O_RDONLY)
for left in reversed(range(50)):  # a server that looks at the run has a shared lock for a moment
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # two at a time would be an error
        break
    except BlockingIOError:
        if not left:
            raise
        time.sleep(0.01)
interrupted = []
signal.signal(signal.SIGINT, lambda *_: interrupted.append(1))
snapshot = run / "snapshot"
iteration = int(snapshot.read_text()) if snapshot.exists() else 0
(run / "config.json").write_text("{}")
(run / "metrics.jsonl").touch()
print("PASSWORD" in os.environ, flush=True)


def status(state):
    (run / "status.json").write_text(json.dumps({"state": state, "epoch": 1, "iteration": iteration}))


status("running")
while True:
    iteration += 1
    with open(run / "live.jsonl", "a") as file:
        file.write(json.dumps({"iteration": iteration, "elapsed_time": 1.0 * iteration, "main/loss": 1.0}) + "\n")
    if (run / "often").exists():
        (run / "snapshot.part").write_text(str(iteration))
        (run / "snapshot.part").replace(snapshot)
    if interrupted and not (run / "deaf").exists():
        snapshot.write_text(str(iteration))
        status("stopped by Ctrl-C")
        sys.exit(130)
    if (run / "finish").exists():
        (run / "best.safetensors").write_text("x")
        status("finished")
        sys.exit(0)
    if (run / "fail").exists():
        print("cvzoo train: error: the data are gone\n  try:      find them", flush=True)
        sys.exit(2)
    time.sleep(0.01)
