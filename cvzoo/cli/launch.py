"""`cvzoo launch`: runs a script or a verb on several processes, watches them, and restarts them."""

import argparse
import pathlib
import shlex
import sys

from cvzoo.cli.check_target import check_target
from cvzoo.cli.json_records import write_json
from cvzoo.cli.result_table import printable
from cvzoo.cli.verbs import summaries
from cvzoo.distributed.launching.job import AttemptReport, Job, Nodes, run_job
from cvzoo.errors.exceptions import ConfigError

_REPORT = "report.json"


def run(args: argparse.Namespace) -> int:
    """The job's status, see the verb's help. Raises ConfigError without a program, MissingExtraError without MPI."""
    words = args.program[1:] if args.program[:1] == ["--"] else args.program
    _check(words)
    check_target(args.timeline)
    least, n, nodes = _size(args)
    job = Job(
        tuple(words),
        n,
        least,
        nodes,
        restarts=args.restarts,
        restart_words=_restart_words(args.restart_with, words),
        logs=None if args.logs is None else pathlib.Path(args.logs),
        patience=args.patience,
        grace=args.grace,
        timeline=None if args.timeline is None else pathlib.Path(args.timeline),
    )
    reports = run_job(job, _say)
    last = reports[-1]
    if last.outcome.is_by_user and words[0] == "train":
        size = ["-n", str(n)]
        if nodes is not None:
            size = ["--engine", "ray", "--nodes", f"{nodes.least}:{nodes.most}", "--per-node", str(nodes.per_node)]
        _say(f"resume with: {shlex.join(['cvzoo', 'launch', *size, '--', *words, *job.restart_words])}")
    if args.logs is not None or last.outcome.status:
        _write_report(last.logs.parent / _REPORT, reports)
    return last.outcome.status


def _check(words: list[str]) -> None:
    if not words:
        raise ConfigError(
            "no program was given to launch", hint="cvzoo launch -n 2 SCRIPT.py, or cvzoo launch -n 2 -- train ..."
        )
    if words[0].endswith(".py"):
        if not pathlib.Path(words[0]).is_file():
            raise ConfigError(f"there is no script {words[0]}")
    elif not pathlib.Path(words[0]).is_file() and words[0] not in summaries():
        raise ConfigError(f"{words[0]} is neither a script nor a verb of cvzoo", hint="cvzoo --help lists the verbs")
    if words[0] == "launch":
        raise ConfigError("cvzoo launch cannot launch itself")


def _size(args: argparse.Namespace) -> tuple[int, int, Nodes | None]:
    """(least number of ranks, number of ranks, machines of a cluster)."""
    of_cluster = {"--nodes": args.nodes, "--per-node": args.per_node, "--node-timeout": args.node_timeout}
    if args.engine == "local":
        given = [name for name, value in of_cluster.items() if value is not None]
        if given:
            raise ConfigError(f"{given[0]} is an option of --engine ray", hint="-n N is the number of ranks here")
        if args.ranks is None:
            raise ConfigError("the number of ranks is missing", hint="-n 2, or --engine ray --nodes 1:4")
        return *args.ranks, None
    if args.nodes is None or args.ranks is not None:
        raise ConfigError("--engine ray needs --nodes, and no -n", hint="--nodes 1:4 --per-node 8")
    if args.timeline is not None and args.logs is None:
        raise ConfigError("--timeline with --engine ray needs --logs, a folder that all machines share")
    least, most = args.nodes
    nodes = Nodes(
        least, most, args.per_node or 1, **({} if args.node_timeout is None else {"timeout": args.node_timeout})
    )
    return nodes.per_node, most * nodes.per_node, nodes


def _restart_words(given: str | None, words: list[str]) -> tuple[str, ...]:
    """The words added by a restart. Raises ConfigError for a quotation without its end."""
    if given is not None:
        try:
            return tuple(shlex.split(given))
        except ValueError as error:
            raise ConfigError(f"--restart-with cannot be split into words: {error}", got=given) from error
    return ("--resume",) if words[0] == "train" and "--resume" not in words else ()


def _say(text: str) -> None:
    for line in text.splitlines():
        print(f"cvzoo launch: {printable(line)}", file=sys.stderr, flush=True)


def _write_report(path: pathlib.Path, reports: list[AttemptReport]) -> None:
    try:
        write_json([each.record() for each in reports], path)
    except OSError as error:  # such as a full disk, which may be why the job failed
        _say(f"{path} could not be written: {error.strerror}")
    else:
        _say(f"logs and report: {path.parent}")
