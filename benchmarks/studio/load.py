"""A server of the studio in a process of its own, and a client that tells how long answers take."""

import asyncio
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

HOST = "127.0.0.1"


@dataclasses.dataclass
class Answer:
    """An answer. seconds: from the first byte sent to the last one received"""

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float

    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """One connection that is kept open. headers: of each request"""

    def __init__(self, port: int, headers: dict[str, str] | None = None):
        self.port, self.headers = port, headers or {}
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def ask(self, path: str, method: str = "GET", body: object = None) -> Answer:
        """The answer to a request, whose body is sent as JSON if there is one; after a wait if there were too many."""
        while (answer := await self._asked(path, method, body)).status == 429 and "retry-after" in answer.headers:
            await asyncio.sleep(int(answer.headers["retry-after"]))
        return answer

    async def _asked(self, path: str, method: str, body: object) -> Answer:
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection(HOST, self.port, limit=1 << 22)
        assert self.reader is not None
        data = b"" if body is None else json.dumps(body).encode()
        head = {"Host": f"{HOST}:{self.port}", **self.headers, "Content-Length": str(len(data))}
        if data:
            head["Content-Type"] = "application/json"
        text = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{key}: {value}\r\n" for key, value in head.items())
        start = time.perf_counter()
        self.writer.write(text.encode() + b"\r\n" + data)
        status, headers = await self._head()
        content = await self._body(headers, has_body=method != "HEAD" and status not in (204, 304))
        seconds = time.perf_counter() - start
        if headers.get("connection") == "close":
            self.close()
        return Answer(status, headers, content, seconds)

    async def lines(self, path: str) -> asyncio.StreamReader:
        """The lines of a stream of events."""
        self.reader, self.writer = await asyncio.open_connection(HOST, self.port, limit=1 << 22)
        head = {"Host": f"{HOST}:{self.port}", **self.headers}
        text = f"GET {path} HTTP/1.1\r\n" + "".join(f"{key}: {value}\r\n" for key, value in head.items())
        self.writer.write(text.encode() + b"\r\n")
        status, _ = await self._head()
        if status != 200:
            raise RuntimeError(f"{path}: {status}")
        return self.reader

    async def _head(self) -> tuple[int, dict[str, str]]:
        assert self.reader is not None
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines[1:] if line)
        return int(lines[0].split()[1]), {key.lower(): value.strip() for key, _, value in pairs}

    async def _body(self, headers: dict[str, str], *, has_body: bool) -> bytes:
        assert self.reader is not None
        if not has_body:
            return b""
        if "content-length" in headers:
            return await self.reader.readexactly(int(headers["content-length"]))
        if headers.get("transfer-encoding") != "chunked":
            return await self.reader.read()
        parts = []
        while size := int((await self.reader.readline()).split(b";")[0], 16):
            parts.append(await self.reader.readexactly(size))
            await self.reader.readline()
        await self.reader.readline()
        return b"".join(parts)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
            self.reader = self.writer = None


class Served:
    """`cvzoo studio` of a home and a watched folder. token: of an administrator, for programs"""

    def __init__(self, home: pathlib.Path, watch: pathlib.Path | None = None):
        self.home, self.watch = home, watch
        self.process: subprocess.Popen[str] | None = None
        self.port = 0
        self.seconds = 0.0  # from the command to the first page
        self.token = ""

    def command(self, *words: str) -> list[str]:
        program = "import sys; from cvzoo.cli.main import main; sys.exit(main())"
        return [sys.executable, "-c", program, "studio", "--home", str(self.home), *words]

    def __enter__(self) -> "Served":
        watch = [] if self.watch is None else ["--watch", str(self.watch)]
        start = time.perf_counter()
        # an installed cvzoo has its bytecode: a server that may not keep it compiles 190 files at each start
        env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        words = [*self.command(), "--no-browser", *watch]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=env)
        try:
            self._open(start)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _open(self, start: float) -> None:
        assert self.process is not None
        assert self.process.stdout is not None
        link = self.process.stdout.readline().split()[-1]
        self.port = int(link.split(":")[2].split("/")[0])
        answer = asyncio.run(self._first("/open?ticket=" + link.partition("ticket=")[2]))
        self.seconds = time.perf_counter() - start
        assert answer.status == 200, answer.status
        words = self.command("token", "benchmark", "--scope", "write")
        self.token = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[-1]

    def __exit__(self, *_: object) -> None:
        assert self.process is not None
        self.process.terminate()
        self.process.wait(20)

    async def _first(self, path: str) -> Answer:
        client = self.client(anonymous=True)
        try:
            return await client.ask(path)
        finally:
            client.close()

    def client(self, *, anonymous: bool = False) -> Client:
        return Client(self.port, {} if anonymous else {"Authorization": f"Bearer {self.token}"})

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid


def tree_of(pid: int) -> list[int]:
    """The process and its descendants."""
    found = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += tree_of(int(child))
    return found


def memory_mb(pids: Iterable[int], key: str = "VmRSS:", file: str = "status") -> float:
    """Resident memory of processes, MB (10^6 bytes); as "Pss:" of "smaps_rollup" shared pages count in part."""
    total = 0
    for pid in pids:
        try:
            text = pathlib.Path(f"/proc/{pid}/{file}").read_text()
        except OSError:
            continue
        total += next((int(line.split()[1]) for line in text.splitlines() if line.startswith(key)), 0)
    return total * 1024 / 1e6


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def quantile(values: Iterable[float], q: float) -> float:
    """The smallest value that the fraction q of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(int(q * len(ordered)), len(ordered) - 1)]


def times(seconds: Iterable[float]) -> dict[str, float]:
    """p50, p95 and the largest, in ms, and how many."""
    found = [each * 1e3 for each in seconds]
    cpu = getattr(seconds, "cpu_ms", None)
    return ({} if cpu is None else {"server_cpu_ms": cpu}) | {
        "n": len(found),
        "p50_ms": round(statistics.median(found), 2),
        "p95_ms": round(quantile(found, 0.95), 2),
        "max_ms": round(max(found), 2),
    }


class Seconds(list[float]):
    """Seconds of requests. cpu_ms: CPU time of the server per request"""

    cpu_ms: float | None = None


async def repeated(served: Served, client: Client, path: Callable[[int], str], n: int, warmup: int = 2) -> Seconds:
    """Seconds of n requests, one after the other. path: of each"""
    found, before = Seconds(), 0.0
    for i in range(-warmup, n):
        if i == 0:
            before = cpu_seconds(served.pid)
        answer = await client.ask(path(i))
        if answer.status != 200:
            raise RuntimeError(f"{path(i)}: {answer.status} {answer.body[:200]!r}")
        if i >= 0:
            found.append(answer.seconds)
    found.cpu_ms = round(1e3 * (cpu_seconds(served.pid) - before) / n, 2)
    return found
