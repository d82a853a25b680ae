"""Serving: the database, the socket, the first link, and uvicorn."""

import asyncio
import contextlib
import ctypes
import dataclasses
import fcntl
import gc
import os
import pathlib
import socket
import sys
import traceback
import webbrowser
from collections.abc import Callable, Iterator

import uvicorn
from fastapi.concurrency import run_in_threadpool
from starlette.types import ASGIApp

from cvzoo.errors.exceptions import ConfigError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.studio.access.audit import complete_audit_file
from cvzoo.studio.access.proxy import OnlyFromProxy
from cvzoo.studio.access.tickets import new_ticket
from cvzoo.studio.app import create_app
from cvzoo.studio.clock import now_ms
from cvzoo.studio.data.tasks import INTERVAL_S as DATA_INTERVAL_S
from cvzoo.studio.database.hourly import INTERVAL_S as COPY_INTERVAL_S
from cvzoo.studio.database.hourly import HourlyCopies
from cvzoo.studio.database.migrate import ready_database
from cvzoo.studio.database.network_disk import require_local_disk
from cvzoo.studio.jobs.conductor import INTERVAL_S
from cvzoo.studio.place import Place
from cvzoo.studio.protocol import BoundedHeaders
from cvzoo.studio.settings import Settings, url_host
from cvzoo.studio.state import Studio, make_studio
from cvzoo.studio.trash import INTERVAL_S as TRASH_INTERVAL_S

PORT = 8700
REAP_S = 5.0  # how often idle models are looked for
_M_ARENA_MAX = -8  # of glibc's malloc.h


def serve(settings: Settings) -> None:
    """Serves until it is interrupted.

    Raises ConfigError if the studio is served already, the address is in use, or the folder is on a network disk.
    """
    require_local_disk(settings.home)
    place = Place(settings.home, settings.tls_key)
    place.make()
    with one_server(place), contextlib.closing(bound_socket(settings)) as listener:
        port = listener.getsockname()[1]
        settings = dataclasses.replace(settings, port=port)
        engine = ready_database(place)
        studio = make_studio(settings, place, engine, now_ms)
        complete_audit_file(engine)  # before anything is added to it
        studio.jobs.reindex()
        studio.data.clean()
        studio.models.register.clean()
        studio.backups.clean()
        address = base_address(settings)
        link = f"{address}/open?ticket={new_ticket(engine, now_ms)}"
        write_link(place, address)
        print(f"cvzoo studio: {link}", flush=True)
        print("the link works once, for ten minutes; cvzoo studio open prints another one; Ctrl-C ends the server")
        if settings.open_browser:
            webbrowser.open(link)
        sys.stdout.flush()
        config = uvicorn.Config(
            served(studio),
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,  # `served` reads them, and only the proxy's
            ssl_certfile=settings.tls_cert,
            ssl_keyfile=settings.tls_key,
            timeout_keep_alive=30,
            http=BoundedHeaders,
            timeout_graceful_shutdown=5,
            limit_concurrency=500,
        )
        share_memory()
        gc.freeze()  # what the program consists of: to look through it for garbage would hold up requests for 50 ms
        try:
            _Server(config, studio).run(sockets=[listener])
        finally:
            studio.inference.close()
            engine.dispose()


def share_memory() -> None:
    """Lets all threads allocate from the same memory, where the C library can: with arenas of their own the idle server
    takes 0.6 MB more, and what a thread frees is kept for it."""
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        library.mallopt(_M_ARENA_MAX, 1)


def served(studio: Studio) -> ASGIApp:
    """The application, behind a proxy if there is one."""
    app: ASGIApp = create_app(studio)
    return app if studio.settings.behind_proxy is None else OnlyFromProxy(app, studio.settings.behind_proxy)


class _Server(uvicorn.Server):
    """Ends streams of events before it waits for open requests."""

    def __init__(self, config: uvicorn.Config, studio: Studio):
        super().__init__(config)
        self._studio = studio

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        ticks = (
            (self._studio.conductor.tick, INTERVAL_S),
            (self._studio.data.tasks.tick, DATA_INTERVAL_S),
            (self._studio.inference.reap, REAP_S),
            (self._studio.trash.tick, TRASH_INTERVAL_S),
            (self._studio.data.uploads.expire, TRASH_INTERVAL_S),
            (HourlyCopies(self._studio.place, self._studio.clock).tick, COPY_INTERVAL_S),
        )
        self._conducting = asyncio.gather(*(conduct(self._studio, *each) for each in ticks))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._studio.stopping.set()
        self._studio.follows.wake()
        await self._conducting
        await super().shutdown(sockets)


async def conduct(studio: Studio, tick: Callable[[], object], interval: float) -> None:
    """Calls `tick` every few tenths of a second until the server ends; an error is printed once, and it tries again."""
    said = ""
    while not studio.stopping.is_set():
        try:
            await run_in_threadpool(tick)
            said = ""
        except Exception as error:
            if repr(error) != said:  # such as a full disk, which stays for hours
                said = repr(error)
                traceback.print_exc()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(studio.stopping.wait(), interval)


@contextlib.contextmanager
def one_server(place: Place) -> Iterator[None]:
    """A block in which this process is the only server of the studio's folder. Raises ConfigError if it is not."""
    descriptor = os.open(place.server_lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                f"a server of {place.home} is running", hint="cvzoo studio open prints a link to it; --home DIR"
            ) from None
        yield
    finally:
        os.close(descriptor)


def bound_socket(settings: Settings) -> socket.socket:
    """The listening socket; if no port was asked for and 8700 is in use, any free one. Raises ConfigError."""
    host = settings.host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    ports = [PORT, 0] if settings.port is None else [settings.port]
    reason: str | None = None
    for port in ports:
        # with the protocol named, as only then asyncio sends at once: else the kernel holds back the body of a small
        # answer until the client has acknowledged the headers, 40 ms later
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen()  # from here on a browser that opens the link waits until it is answered
            return listener
        except OSError as error:
            listener.close()
            reason = error.strerror
    raise ConfigError(f"{settings.host}:{ports[-1]} cannot be served: {reason}", hint="another --listen HOST:PORT")


def base_address(settings: Settings) -> str:
    """The address of the studio for browsers."""
    name = settings.hostnames[0] if settings.hostnames else url_host(settings.host)
    if settings.behind_proxy is not None and settings.hostnames:
        return f"https://{name}"
    return f"{'https' if settings.has_tls else 'http'}://{name}:{settings.port}"


def write_link(place: Place, address: str) -> None:
    """Writes the server's address, for `cvzoo studio open`; it has no secret, and is readable by the owner only."""
    with atomic_write(place.open_url) as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(f"{address}\n".encode())


def new_link(place: Place, user: str | None = None) -> str:
    """A one-time link to the server, by default for the administrator. Raises ConfigError if none ran in the folder."""
    path: pathlib.Path = place.open_url
    if not path.is_file():
        raise ConfigError(f"no server has run in {place.home}", hint="cvzoo studio")
    engine = ready_database(place)
    try:
        return f"{path.read_text().strip()}/open?ticket={new_ticket(engine, now_ms, user)}"
    finally:
        engine.dispose()
