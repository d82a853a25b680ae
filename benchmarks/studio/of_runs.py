"""The rows about the server and runs: start, memory, lists, streams, curves, a long time."""

import argparse
import asyncio
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from load import Served, cpu_seconds, memory_mb, repeated, times
from of_data import sample_version, set_of
from table import Rows, row, timed

from cvzoo.studio.jobs.job_log import log_tail


def start(args: argparse.Namespace) -> Rows:
    """Start, and memory of a server that has shown a page, of a home with nothing in it."""
    seconds, memory = [], []
    for _ in range(6):
        with Served(args.home.with_name("empty")) as served:
            seconds.append(served.seconds)
            asyncio.run(_some_pages(served))
            memory.append(memory_mb([served.pid]))
    found = sorted(seconds[1:])
    return [
        row("command to first page", found[-1], median_s=round(found[2], 2), with_new_database_s=round(seconds[0], 2)),
        row("memory of the idle server", max(memory)),
    ]


async def _some_pages(served: Served) -> None:
    client = served.client()
    for path in ("/", "/jobs", "/data", "/models"):
        assert (await client.ask(path)).status == 200, path
    client.close()


def runs(args: argparse.Namespace) -> Rows:
    """The list of runs: the first one, whose logs are read, and later ones."""
    first = []
    for _ in range(3):
        with Served(args.home.with_name("empty"), args.sets / "runs") as served:
            first.append(asyncio.run(_first_list(served)))
    with Served(args.home.with_name("empty"), args.sets / "runs") as served:
        return [row("first list of runs", max(first) * 1e3), *asyncio.run(_runs(served, args.n))]


async def _first_list(served: Served) -> float:
    client = served.client()
    answer = await client.ask("/jobs")
    client.close()
    assert answer.status == 200
    return answer.seconds


async def _runs(served: Served, n: int) -> Rows:
    client = served.client()
    total = (await client.ask("/api/v1/jobs?limit=200")).json()["total"]
    page = await repeated(served, client, lambda i: f"/jobs?after={i % 5 * 100}", n)
    whole = []
    for i in range(-1, n):
        seconds, after = 0.0, 0
        while after is not None:
            answer = await client.ask(f"/api/v1/jobs?limit=1000&after={after}")
            if answer.status == 422:
                answer = await client.ask(f"/api/v1/jobs?limit=200&after={after}")
            seconds, after = seconds + answer.seconds, answer.json()["next"]
        if i >= 0:
            whole.append(seconds)
    apart = []
    for i in range(8):  # as a person opens it, long after the one before
        await asyncio.sleep(2.5)
        apart.append((await client.ask(f"/jobs?after={i % 5 * 100}")).seconds)
    client.close()
    return [
        timed("page of 100 runs", page, n_run=total, apart=times(apart)),
        timed("JSON of all runs", whole, n_run=total, bytes=len(answer.body)),
    ]


def streams(args: argparse.Namespace) -> Rows:
    """50 streams of one run, to whose log ten rows a second are appended, while the set and 1,000 runs are shown."""
    with Served(args.home, args.sets / "runs") as served:
        return asyncio.run(_streams(served, args.seconds))


async def _streams(served: Served, duration: float, n_stream: int = 50, per_second: float = 10) -> Rows:
    dataset, client = await set_of(served), served.client()
    for path in ("/", "/jobs", f"/data/{dataset['id']}", f"/data/{dataset['id']}/images", "/data"):
        assert (await client.ask(path)).status == 200, path
    run = (await client.ask("/api/v1/jobs?limit=1")).json()["items"][0]
    log = pathlib.Path(run["folder"]) / "live.jsonl"
    log.unlink(missing_ok=True)
    metrics = (await client.ask(f"/api/v1/jobs/{run['id']}/metrics")).json()
    sent: dict[int, float] = {}
    delays: list[float] = []

    async def listen() -> None:
        client = served.client()  # closed when nothing refers to it
        lines = await client.lines(f"/api/v1/jobs/{run['id']}/events?offsets={metrics['offsets']}")
        while line := await lines.readline():
            if line.startswith(b"data: ") and b"live.jsonl" in line:
                now = time.perf_counter()
                for each in json.loads(line[6:])["live.jsonl"]:
                    delays.append(now - sent[each["iteration"]])

    listeners = [asyncio.create_task(listen()) for _ in range(n_stream)]
    await asyncio.sleep(2)
    used, begin = cpu_seconds(served.pid), time.perf_counter()
    with open(log, "a", encoding="utf-8") as file:
        for i in range(int(duration * per_second)):
            sent[i] = time.perf_counter()
            file.write(json.dumps({"iteration": i, "epoch": 0.1, "elapsed_time": i * 0.1, "main/loss": 1.5}) + "\n")
            file.flush()
            await asyncio.sleep(max(begin + (i + 1) / per_second - time.perf_counter(), 0))
    await asyncio.sleep(1.5)
    share = 100 * (cpu_seconds(served.pid) - used) / (time.perf_counter() - begin)
    memory = memory_mb([served.pid])
    for each in listeners:
        each.cancel()
    log.unlink()
    expected = n_stream * int(duration * per_second)
    assert len(delays) == expected, (len(delays), expected)
    return [
        timed("50 streams, 10 events a second: delay", delays),
        row("50 streams, 10 events a second: CPU", share),
        row("memory with the large set, 1,000 runs and 50 streams", memory, n_image=dataset["n_image"]),
    ]


def curves(args: argparse.Namespace) -> Rows:
    """The curves of a run with a log of 10^6 rows, and the end of a log of 10^5 lines."""
    with Served(args.home.with_name("empty"), args.sets / "long") as served:
        return asyncio.run(_curves(served, args.n))


async def _curves(served: Served, n: int) -> Rows:
    client = served.client()
    run = (await client.ask("/api/v1/jobs")).json()["items"][0]
    path = f"/api/v1/jobs/{run['id']}/metrics?points=1500"
    first = await client.ask(path)
    with open(pathlib.Path(run["folder"]) / "iterations.jsonl", "rb") as file:
        n_row = sum(1 for _ in file)
    series = next(each for each in first.json()["series"] if each["key"] == "main/loss")
    seconds = await repeated(served, client, lambda i: path, max(n // 20, 3))
    client.close()
    lines = [f"2026-11-27 10:00:00 iteration {i}: main/loss 1.234567\n" for i in range(100_000)]
    folder = pathlib.Path(run["folder"]) / "attempts" / "1"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "log.txt").write_text("".join(lines))
    tails = []
    for _ in range(n):
        begin = time.perf_counter()
        assert log_tail(pathlib.Path(run["folder"]), 1).endswith("iteration 99999: main/loss 1.234567\n")
        tails.append(time.perf_counter() - begin)
    more = {"n_row": n_row, "first_ms": round(first.seconds * 1e3), "n_point": len(series["value"])}
    more |= {"from_iteration": series["iteration"][0], "server_mb": round(memory_mb([served.pid]), 1)}
    return [
        timed("curves of 10^6 rows", seconds, **more),
        timed("tail of a log of 10^5 lines", tails, note="the function, without a request"),
    ]


def queue(args: argparse.Namespace) -> Rows:
    """A training from the request to the first row of its log, next to one from the command, in turn."""
    with Served(args.home.with_name("empty")) as served:
        data = asyncio.run(sample_version(served))
        ours, plain = [], []
        for _ in range(6):
            ours.append(asyncio.run(_by_request(served, data)))
            plain.append(_by_command(data))
    more = {"request_s": round(statistics.median(ours[1:]), 2), "command_s": round(statistics.median(plain[1:]), 2)}
    return [row("queue to first iteration, more than the command", more["request_s"] - more["command_s"], **more)]


_TRAINING = {"recipe": "retinanet_resnet18_small", "settings": {"processes": "0"}}


async def _by_request(served: Served, data: str) -> float:
    client, begin = served.client(), time.perf_counter()
    answer = await client.ask("/api/v1/jobs", "POST", {"name": "queued", "data": data, **_TRAINING})
    assert answer.status == 201, answer.body
    job = answer.json()
    log = pathlib.Path(job["folder"]) / "iterations.jsonl"
    while not log.is_file() or not log.stat().st_size:
        await asyncio.sleep(0.01)
    seconds = time.perf_counter() - begin
    await client.ask(f"/api/v1/jobs/{job['id']}:kill", "POST")
    while (await client.ask(f"/api/v1/jobs/{job['id']}")).json()["state"] not in ("killed", "stopped", "failed"):
        await asyncio.sleep(0.2)
    client.close()
    return seconds


def _by_command(data: str) -> float:
    with tempfile.TemporaryDirectory() as place:
        out, begin = pathlib.Path(place) / "run", time.perf_counter()
        settings = [f"{name}={value}" for name, value in _TRAINING["settings"].items()]
        words = ["train", "--recipe", _TRAINING["recipe"], f"--data={data}", "--out", str(out), *settings]
        process = subprocess.Popen(
            [sys.executable, "-m", "cvzoo", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while not (out / "iterations.jsonl").is_file() or not (out / "iterations.jsonl").stat().st_size:
            assert process.poll() is None
            time.sleep(0.01)
        seconds = time.perf_counter() - begin
        process.kill()
        process.wait()
    return seconds


def soak(args: argparse.Namespace) -> Rows:
    """--rate events a second to ten streams, and as many pages, for --seconds; growth after the first tenth."""
    with Served(args.home, args.sets / "runs") as served:
        return asyncio.run(_soak(served, args.seconds, args.rate))


async def _soak(served: Served, duration: float, rate: float) -> Rows:
    dataset, client = await set_of(served), served.client()
    run = (await client.ask("/api/v1/jobs?limit=1")).json()["items"][0]
    log = pathlib.Path(run["folder"]) / "live.jsonl"
    received = 0

    async def listen() -> None:
        nonlocal received
        client = served.client()  # closed when nothing refers to it
        lines = await client.lines(f"/api/v1/jobs/{run['id']}/events")
        while await lines.readline():
            received += 1

    listeners = [asyncio.create_task(listen()) for _ in range(10)]
    pages = ["/", "/jobs", f"/data/{dataset['id']}/images", f"/data/{dataset['id']}", f"/jobs/{run['id']}"]
    found, begin, i = [], time.perf_counter(), 0
    while time.perf_counter() - begin < duration:
        with open(log, "a", encoding="utf-8") as file:
            file.write(json.dumps({"iteration": i, "epoch": 0.1, "elapsed_time": float(i), "main/loss": 1.5}) + "\n")
        assert (await client.ask(pages[i % len(pages)])).status == 200
        if i % rate < 1:
            found.append(memory_mb([served.pid]))
        i += 1
        await asyncio.sleep(max(begin + i / rate - time.perf_counter(), 0))
    for each in listeners:
        each.cancel()
    log.unlink()
    tenth = max(len(found) // 10, 1)
    before, after = max(found[: 2 * tenth]), max(found[-tenth:])
    more = {"seconds": round(duration), "n_event": i, "first_mb": round(found[0], 1), "last_mb": round(found[-1], 1)}
    return [row("memory growth of the server", after - before, **more, lines_received=received)]
