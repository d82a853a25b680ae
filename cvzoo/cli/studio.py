"""`cvzoo studio`: serves the web application, prints links to it and tokens."""

import argparse
import gc
import importlib
import importlib.util
import pathlib
from collections.abc import Callable
from typing import Any

from cvzoo.errors.exceptions import ConfigError, MissingExtraError
from cvzoo.files.home import cvzoo_home
from cvzoo.reporting.counted import counted

_NEEDED = ("fastapi", "uvicorn", "httptools", "jinja2", "sqlalchemy", "alembic", "psutil", "python_multipart")
_PORTS = range(1, 65536)
_ASKED = ("pause", "resume", "stop", "kill", "retry", "dump")
_OF_CLIENT = ("list", "show", "log", "pull", "pull-data", "submit", "import", "version", *_ASKED)


def run(args: argparse.Namespace) -> int:
    """0 after the server was ended. Raises MissingExtraError without the extra, ConfigError for unsafe options."""
    home = pathlib.Path(args.home).expanduser() if args.home else cvzoo_home() / "studio"
    if args.action in _OF_CLIENT:  # which needs no extra
        return _ask(args, home)
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"cvzoo studio needs packages that are not installed: {', '.join(missing)}",
            hint='pip install "cvzoo[studio]"',
        )
    if args.action == "migrate":
        return _migrate(args, home)
    if args.action == "verify":
        return _verify(home)
    actions: dict[str | None, Callable[[argparse.Namespace, pathlib.Path], None]] = {
        None: _serve,
        "open": _open,
        "token": _token,
        "user": _user,
        "backup": _backup,
        "restore": _restore,
        "reindex": _reindex,
        "collect": _collect,
    }
    actions[args.action](args, home)
    return 0


def _ask(args: argparse.Namespace, home: pathlib.Path) -> int:
    verbs = importlib.import_module("cvzoo.studio.client.verbs")
    server = importlib.import_module("cvzoo.studio.client.server").named_server(home)
    if args.action == "log":
        verbs.follow_log(server, args.job, lambda text: print(text, end="", flush=True), follow=args.follow)
        return 0
    lines: list[str]
    if args.action == "list":
        lines = verbs.list_jobs(server, state=args.state, text=args.text)
    elif args.action == "show":
        lines = verbs.show_job(server, args.job)
    elif args.action == "pull":
        lines = verbs.pull(server, args.job, pathlib.Path(args.folder))
    elif args.action == "import":
        lines = [verbs.import_data(server, args.spec, args.name)]
    elif args.action == "version":
        lines = [verbs.make_version(server, args.dataset, args.name)]
    elif args.action == "pull-data":
        module = importlib.import_module("cvzoo.studio.client.pull_data")
        lines = [module.pull_data(server, args.version, pathlib.Path(args.folder))]
    elif args.action == "submit":
        lines = [_submit(args, verbs, server)]
    else:
        lines = [verbs.ask(server, args.job, args.action)]
    print("\n".join(lines))
    return 0


def _submit(args: argparse.Namespace, verbs: Any, server: Any) -> str:
    """The identifier of the job of the words, or of a file."""
    words = list(args.settings)
    if args.recipe is None and args.data is None and len(words) == 1 and words[0].endswith(".json"):
        return str(verbs.submit_file(server, pathlib.Path(words[0]), name=args.name, start=not args.draft))
    if args.recipe is None or args.data is None:
        raise ConfigError(
            "no job is named", expected="--recipe and --data, with settings KEY=VALUE, or one FILE.json of a job"
        )
    settings = dict(_setting(word) for word in words)
    return str(verbs.submit(server, args.recipe, args.data, settings, name=args.name, start=not args.draft))


def _setting(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals or not name:
        raise ConfigError(f"{word[:80]} is no setting", expected="KEY=VALUE")
    return name, value


def _serve(args: argparse.Namespace, home: pathlib.Path) -> None:
    host, port = _address(args.listen)
    settings = importlib.import_module("cvzoo.studio.settings").Settings(
        home=home,
        host=host,
        port=port,
        watch=tuple(pathlib.Path(each).expanduser().absolute() for each in args.watch),
        tls_cert=None if args.tls_cert is None else pathlib.Path(args.tls_cert),
        tls_key=None if args.tls_key is None else pathlib.Path(args.tls_key),
        behind_proxy=args.behind_proxy,
        hostnames=tuple(args.hostname),
        open_browser=not args.no_browser,
    )
    gc.disable()  # to look for garbage among what is imported takes a tenth of that time, and there is none
    serve = importlib.import_module("cvzoo.studio.serve").serve
    gc.freeze()
    gc.enable()
    serve(settings)


def _open(args: argparse.Namespace, home: pathlib.Path) -> None:
    place = importlib.import_module("cvzoo.studio.place").Place(home)
    print(importlib.import_module("cvzoo.studio.serve").new_link(place))


def _token(args: argparse.Namespace, home: pathlib.Path) -> None:
    place = importlib.import_module("cvzoo.studio.place").Place(home)
    if not place.database.is_file():
        raise ConfigError(f"no server has run in {home}", hint="run cvzoo studio once")
    tokens = importlib.import_module("cvzoo.studio.access.tokens")
    clock = importlib.import_module("cvzoo.studio.clock").now_ms
    engine = importlib.import_module("cvzoo.studio.database.migrate").ready_database(place)
    if args.revoke:
        print(f"{tokens.revoke_tokens(engine, args.name, clock)} revoked")
    else:
        print(tokens.new_token(engine, args.name, args.scope, args.days, clock))
    engine.dispose()


def _user(args: argparse.Namespace, home: pathlib.Path) -> None:
    module, place, clock = _care("access.users", home)
    if not place.database.is_file():
        raise ConfigError(f"no server has run in {home}", hint="run cvzoo studio once")
    engine = importlib.import_module("cvzoo.studio.database.migrate").ready_database(place)
    try:
        if args.change == "list":
            for each in module.all_users(engine):
                print(each.name, each.role, "active" if each.is_active else "disabled")
            return
        added = module.add_user(engine, args.name, args.role, clock) if args.change == "add" else None
        user = added or module.find_user(engine, args.name)
        if user is None:
            raise ConfigError(f"there is no user {args.name}", hint="cvzoo studio user list")
        if args.change in ("disable", "activate"):
            module.change_user(engine, user.id, is_active=args.change == "activate")
        elif args.change == "role":
            module.change_user(engine, user.id, role=args.role)
        else:
            if args.change == "link":
                module.forget_password(engine, user.id)
            print(importlib.import_module("cvzoo.studio.serve").new_link(place, user.id))
    finally:
        engine.dispose()


def _backup(args: argparse.Namespace, home: pathlib.Path) -> None:
    module, place, clock = _care("backup", home)
    found = module.make_backup(place, pathlib.Path(args.file), clock, is_incomplete_allowed=args.incomplete)
    print(f"{args.file}: {_contents(found)}; read back and compared")
    for name in found.missing:
        print(f"missing: {name}")


def _restore(args: argparse.Namespace, home: pathlib.Path) -> None:
    module, place, _ = _care("restore", home)
    found = module.restore_backup(place, pathlib.Path(args.file))
    print(f"{home}: {_contents(found)}")
    for name in found.missing:
        print(f"missing: {name}")


def _reindex(args: argparse.Namespace, home: pathlib.Path) -> None:
    if not home.is_dir():
        raise ConfigError(f"no server has run in {home}", hint="--home DIR, the studio's own folder")
    module, place, clock = _care("reindex", home)
    with importlib.import_module("cvzoo.studio.serve").one_server(place):
        found = module.reindex(place, clock)
    print(f"{counted(found.n_job, 'job')} and {counted(len(found.datasets), 'data set')} added")
    if found.n_audit:
        print(f"audit: {counted(found.n_audit, 'entry', 'entries')} added")
    for name in found.datasets:
        print(f"{name}: as in its newest version; later edits, history and waived findings are in backups only")
    for name, why in found.failed:
        print(f"{name}: {why}")


def _verify(home: pathlib.Path) -> int:
    module, place, clock = _care("verify", home)
    found = module.verify(place, clock)
    numbers = (
        (found.n_dataset, "data set"),
        (found.n_image, "image"),
        (found.n_version, "version"),
        (found.n_model, "uploaded model"),
        (found.n_upload, "upload"),
        (found.n_job, "job"),
    )
    for name, why in found.faults:
        print(f"{name}: {why}")
    words = counted(len(found.faults), "fault") if found.faults else "all as the database says"
    print(f"{', '.join(counted(n, each) for n, each in numbers)}: {words}")
    return int(bool(found.faults))


def _collect(args: argparse.Namespace, home: pathlib.Path) -> None:
    module, place, clock = _care("collect", home)
    found = module.collect_in(place, clock, is_dry=args.dry)
    for each in found.items:
        print(f"{each.what}: {each.n}, {each.n_byte / 1e6:.1f} MB")
    if found.kept:
        print(found.kept)
    print(f"{found.n_byte / 1e6:.1f} MB {'would be freed' if args.dry else 'freed'}")


def _migrate(args: argparse.Namespace, home: pathlib.Path) -> int:
    module, place, _ = _care("database.migrate", home)
    if not place.database.is_file():
        raise ConfigError(f"no server has run in {home}", hint="--home DIR, the studio's own folder")
    before, newest = module.schema_of(place), module.HEAD
    if args.check:
        print(f"schema {before}, this version has {newest}")
        return int(before != newest)
    with importlib.import_module("cvzoo.studio.serve").one_server(place):
        module.ready_database(place).dispose()
    print(f"schema {newest}" if before == newest else f"schema {newest}, {before} before; a copy is in {place.backups}")
    return 0


def _care(name: str, home: pathlib.Path) -> tuple[Any, Any, Any]:
    """(the module of an action, the studio's paths, the clock)."""
    place = importlib.import_module("cvzoo.studio.place").Place(home)
    return importlib.import_module(f"cvzoo.studio.{name}"), place, importlib.import_module("cvzoo.studio.clock").now_ms


def _contents(found: Any) -> str:
    numbers = (
        (found.n_dataset, "data set"),
        (found.n_image, "image"),
        (found.n_version, "version"),
        (found.n_job, "job"),
    )
    words = ", ".join(counted(n, name) for n, name in numbers)
    return f"{words}; {counted(found.n_file, 'file')}, {found.n_byte / 1e6:.1f} MB"


def _address(text: str | None) -> tuple[str, int | None]:
    """The host and port of "HOST:PORT", "PORT" or "HOST"."""
    if text is None:
        return "127.0.0.1", None
    host, colon, port = text.rpartition(":")
    is_ipv6 = text.startswith("[") or text.count(":") > 1
    if (not colon and not text.isdigit()) or (is_ipv6 and not host.endswith("]")):
        return f"[{text.strip('[]')}]" if is_ipv6 else text, None
    if not port.isdigit() or int(port) not in _PORTS:
        raise ConfigError(f"--listen has no valid port: {text}", expected="HOST:PORT, such as 127.0.0.1:8700")
    return host or "127.0.0.1", int(port)
