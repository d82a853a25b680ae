"""Measures what others offer for the same work, on the same sets as `measure.py`.

    MLFLOW/bin/python benchmarks/studio/peers.py fill mlflow SETS/mlflow --runs SETS/runs
    TENSORBOARD/bin/python benchmarks/studio/peers.py fill tensorboard SETS/tensorboard --runs SETS/runs
    python benchmarks/studio/peers.py measure mlflow SETS/mlflow --venv MLFLOW --out results/FILE.json

and likewise for tensorboard; label-studio is filled while it is measured, over REST, with the objects of SETS/images.
Each of the three lives in a virtual environment of its own (`pip install mlflow`), FILE is that of `measure.py`. Memory
is of all processes of a server; a page is what its own page asks of its server.
"""

import argparse
import asyncio
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from load import Client, memory_mb, times, tree_of
from side_by_side import machine

PEERS = ("mlflow", "tensorboard", "label-studio")
_TOKEN = "benchmark-token-of-loopback-only"
_PART = 1_000  # tasks of a request


def rows_of(run: pathlib.Path, name: str) -> list[dict]:
    """The rows of a log of a run folder."""
    return [json.loads(line) for line in (run / name).read_text().splitlines()]


def fill_mlflow(out: pathlib.Path, runs: list[pathlib.Path]) -> None:
    """The settings, and the values of each validation, of each run."""
    import mlflow
    from mlflow.entities import Metric, Param

    client = mlflow.MlflowClient(f"sqlite:///{out}/mlflow.db")
    experiment = client.create_experiment("runs", artifact_location=str(out / "artifacts"))
    for run in runs:
        made = client.create_run(experiment, run_name=run.name)
        recipe = json.loads((run / "config.json").read_text())["recipe"]
        metrics = [
            Metric(key.replace(" ", "_"), float(value), 0, row["iteration"])
            for row in rows_of(run, "metrics.jsonl")
            for key, value in row.items()
            if key not in ("iteration", "epoch")
        ]
        for begin in range(0, len(metrics), _PART):
            client.log_batch(made.info.run_id, metrics=metrics[begin : begin + _PART])
        client.log_batch(made.info.run_id, params=[Param(key, str(value)) for key, value in recipe.items()])
        client.set_terminated(made.info.run_id)


def fill_tensorboard(out: pathlib.Path, runs: list[pathlib.Path]) -> None:
    """The scalars of both logs of each run."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    for run in runs:
        writer = EventFileWriter(str(out / run.name))
        for name in ("metrics.jsonl", "iterations.jsonl"):
            for row in rows_of(run, name):
                values = [
                    Summary.Value(tag=key, simple_value=value) for key, value in row.items() if key != "iteration"
                ]
                writer.add_event(Event(step=row["iteration"], wall_time=1.7e9, summary=Summary(value=values)))
        writer.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def _server(words: list[str], port: int, path: str, env: dict[str, str]) -> Iterator[tuple[int, float]]:
    """A server's process and the seconds from its command to the first answer."""
    begin = time.perf_counter()
    with open(os.devnull, "w") as nowhere:
        process = subprocess.Popen(
            words, stdout=nowhere, stderr=nowhere, env={**os.environ, **env}, start_new_session=True
        )
    try:
        while True:
            assert process.poll() is None, f"{words[0]} ended: {process.returncode}"
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                if asyncio.run(_ask(port, path)) < 400:
                    break
            time.sleep(0.02)
        yield process.pid, time.perf_counter() - begin
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


async def _ask(port: int, path: str) -> int:
    client = Client(port)
    try:
        return (await client.ask(path)).status
    finally:
        client.close()


async def _repeated(port: int, n: int, method: str, path: str, bodies: object, headers: dict[str, str]) -> dict:
    """Times of n requests, one after the other. bodies: None, or the body by a request's number"""
    client, found, size = Client(port, headers), [], 0
    for i in range(-2, n):
        body = bodies(i) if callable(bodies) else None
        answer = await client.ask(path, method, body)
        assert answer.status < 300, (path, answer.status, answer.body[:300])
        size = len(answer.body)
        if i >= 0:
            found.append(answer.seconds)
    client.close()
    return {"unit": "p95 ms", "value": times(found)["p95_ms"], **times(found), "bytes": size}


def measure_mlflow(args: argparse.Namespace) -> dict[str, dict]:
    """Start, memory, the list of 1,000 runs."""
    port = _free_port()
    words = [str(args.venv / "bin/mlflow"), "server", "--port", str(port), "--workers", "1"]
    words += ["--backend-store-uri", f"sqlite:///{args.data}/mlflow.db"]
    found, seconds = {}, []
    # its executor of jobs did not let it start where this was written
    env = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    for _ in range(2):
        with _server(words, port, "/", env) as (_, first):
            seconds.append(first)
    with _server(words, port, "/", env) as (pid, first):
        seconds.append(first)
        time.sleep(3)
        found["memory of the idle server"] = _memory(pid)
        path = "/ajax-api/2.0/mlflow/runs/search"
        for name, n_run, n in (("page of 100 runs", 100, args.n), ("JSON of all runs", 1000, max(args.n // 10, 3))):
            body = {"experiment_ids": ["1"], "max_results": n_run}
            found[name] = asyncio.run(_repeated(port, n, "POST", path, lambda i, body=body: body, {}))
        found["memory with 1,000 runs"] = _memory(pid)
    found["command to first page"] = {"unit": "s", "value": round(max(seconds), 2)}
    return found


def measure_tensorboard(args: argparse.Namespace) -> dict[str, dict]:
    """Start, memory without runs and with 1,000, the list of their values."""
    port, found = _free_port(), {}
    words = [str(args.venv / "bin/tensorboard"), "--port", str(port), "--logdir"]
    empty = args.data.with_name("no-runs")
    empty.mkdir(exist_ok=True)
    with _server([*words, str(empty)], port, "/", {}) as (pid, _):
        time.sleep(3)
        found["memory of the idle server"] = _memory(pid)
    with _server([*words, str(args.data)], port, "/", {}) as (pid, first):
        found["command to first page"] = {"unit": "s", "value": round(first, 2)}
        before, begin = 0.0, time.perf_counter()
        while time.perf_counter() - begin < 300 and before < (before := _memory(pid)["value"]):
            time.sleep(15)  # until it has read the files
        found["memory with 1,000 runs"] = _memory(pid)
        found["JSON of all runs"] = asyncio.run(_repeated(port, args.n, "GET", "/data/plugin/scalars/tags", None, {}))
    return found


def measure_label_studio(args: argparse.Namespace) -> dict[str, dict]:
    """Start, memory, and a project with the images of the set: import of their tasks, pages, edits."""
    port, found = _free_port(), {}
    auth = {"Authorization": f"Token {_TOKEN}"}
    words = [str(args.venv / "bin/label-studio"), "start", "--no-browser", "--port", str(port)]
    words += ["--data-dir", str(args.data), "--username", "a@example.org", "--password", "benchmark-1"]
    words += ["--user-token", _TOKEN, "--enable-legacy-api-token"]
    env = {"COLLECT_ANALYTICS": "false", "LATEST_VERSION_CHECK": "false", "SENTRY_DSN": ""}
    with _server(words, port, "/user/login/", env) as (_, new):
        pass
    with _server(words, port, "/user/login/", env) as (pid, first):
        found["command to first page"] = {"unit": "s", "value": round(first, 2), "with_new_database_s": round(new, 2)}
        time.sleep(3)
        found["memory of the idle server"] = _memory(pid)
        project = asyncio.run(_fill_label_studio(port, auth, args, found))
        pages = f"/api/tasks?project={project}&page_size=100&fields=all&page="
        last = found["import"]["n_image"] // 100
        found["page of 100 images"] = asyncio.run(_pages(port, auth, pages, args.n, last))
        first_task = found["import"].pop("first_task")
        path = f"/api/tasks/{first_task}/annotations?project={project}"
        edits = _repeated(port, args.n, "POST", path, lambda i: {"result": [_box(i)]}, auth)
        found["label edit"] = asyncio.run(edits)
        found["memory with the large set"] = _memory(pid)
    return found


async def _pages(port: int, headers: dict[str, str], path: str, n: int, last: int) -> dict:
    client, found = Client(port, headers), []
    for i in range(-2, n):
        answer = await client.ask(f"{path}{i * 37 % last + 1}")
        assert answer.status == 200, (answer.status, answer.body[:300])
        if i >= 0:
            found.append(answer.seconds)
    client.close()
    return {"unit": "p95 ms", "value": times(found)["p95_ms"], **times(found), "bytes": len(answer.body)}


async def _fill_label_studio(port: int, headers: dict[str, str], args: argparse.Namespace, found: dict) -> int:
    """A project whose tasks name the images, with their objects as annotations; its number."""
    classes = "".join(f'<Label value="class {k:02d}"/>' for k in range(80))
    config = f'<View><Image name="image" value="$image"/><RectangleLabels name="label" toName="image">{classes}'
    client = Client(port, headers)
    body = {"title": "benchmark", "label_config": config + "</RectangleLabels></View>"}
    answer = await client.ask("/api/projects", "POST", body)
    assert answer.status == 201, (answer.status, answer.body[:500])
    project = answer.json()["id"]
    begin, n = time.perf_counter(), 0
    for split in ("train", "val"):
        file = json.loads((args.sets / f"images/annotations/instances_{split}.json").read_text())
        objects: dict[int, list[dict]] = {}
        for each in file["annotations"]:
            objects.setdefault(each["image_id"], []).append(each)
        images = file["images"][: args.n_image - n]
        for first in range(0, len(images), _PART):
            tasks = [
                {
                    "data": {"image": f"/data/local-files/?d={each['file_name']}"},
                    "annotations": [{"result": [_box(i, a) for i, a in enumerate(objects.get(each["id"], []))]}],
                }
                for each in images[first : first + _PART]
            ]
            answer = await client.ask(f"/api/projects/{project}/import", "POST", tasks)
            assert answer.status == 201, (answer.status, answer.body[:500])
            n += len(tasks)
    client.close()
    found["import"] = {"unit": "s", "value": round(time.perf_counter() - begin, 1), "n_image": n}
    found["import"]["of"] = "tasks and objects; the image files are not read"
    answer = await (client := Client(port, headers)).ask(f"/api/tasks?project={project}&page_size=1&page=1")
    client.close()
    found["import"]["first_task"] = answer.json()["tasks"][0]["id"]
    return int(project)


def _box(number: int, annotation: dict | None = None) -> dict:
    x, y, width, height = annotation["bbox"] if annotation else (10, 10, 40 + number % 50, 50)
    value = {"x": x / 6, "y": y / 4.5, "width": width / 6, "height": height / 4.5, "rotation": 0}
    category = annotation["category_id"] - 1 if annotation else 0
    value["rectanglelabels"] = [f"class {category:02d}"]
    return {"id": f"b{number}", "type": "rectanglelabels", "from_name": "label", "to_name": "image", "value": value}


def _memory(pid: int) -> dict:
    """Resident memory of a server with its children; shared pages count once for each, in `proportional` once."""
    pids = tree_of(pid)
    proportional = 0
    for each in pids:
        with contextlib.suppress(OSError):
            text = pathlib.Path(f"/proc/{each}/smaps_rollup").read_text()
            proportional += next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    more = {"processes": len(pids), "proportional_mb": round(proportional * 1024 / 1e6, 1)}
    return {"unit": "MB", "value": round(memory_mb(pids), 1), **more}


def main() -> None:
    """Fills a peer with runs, or measures it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("fill", "measure"))
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("data", type=pathlib.Path, help="what the peer keeps")
    parser.add_argument("--runs", type=pathlib.Path, help="run folders of make_sets.py")
    parser.add_argument("--sets", type=pathlib.Path, help="folder of images")
    parser.add_argument("--venv", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--n", type=int, default=100, help="requests of a row")
    parser.add_argument("--n-image", type=int, default=100_000)
    args = parser.parse_args()
    args.data.mkdir(parents=True, exist_ok=True)
    if args.what == "fill":
        runs = sorted(each.parent for each in args.runs.glob("*/*/config.json"))
        {"mlflow": fill_mlflow, "tensorboard": fill_tensorboard}[args.peer](args.data, runs)
        return
    measures = {"mlflow": measure_mlflow, "tensorboard": measure_tensorboard, "label-studio": measure_label_studio}
    busy = os.getloadavg()[0]
    found = measures[args.peer](args)
    words = [str(args.venv / "bin/pip"), "list", "--format", "json"]
    installed = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    version = next(each["version"] for each in installed if each["name"].replace("_", "-") == args.peer)
    known = json.loads(args.out.read_text())
    known.setdefault("peers", {})[args.peer] = {"version": version, "load_before": round(busy, 1), "rows": found}
    known["machine"] = machine()
    args.out.write_text(json.dumps(known, indent=1) + "\n")
    for name, each in found.items():
        print(f"{args.peer:14s} {name:30s} {each['value']:>9g} {each['unit']}")


if __name__ == "__main__":
    main()
