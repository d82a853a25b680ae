"""The main function of the command line: parses the arguments, runs the verb, and reports errors."""

import argparse
import contextlib
import importlib
import os
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from cvzoo.cli.did_you_mean import did_you_mean
from cvzoo.cli.result_table import printable
from cvzoo.cli.verbs import summaries
from cvzoo.errors.exceptions import CvzooError

# exit statuses besides 0; `predict` returns 1 if some images could not be read
CANNOT_RUN = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells count
BROKEN_PIPE = 141  # 128 + SIGPIPE


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"cvzoo {importlib.import_module('cvzoo').__version__}")
        parser.exit()


class _Completion(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        module = importlib.import_module("cvzoo.cli.completion")
        verbs = {}
        for name in summaries():
            verbs[name] = argparse.ArgumentParser(prog=f"cvzoo {name}")
            importlib.import_module(f"cvzoo.cli.options.{name}").add_arguments(verbs[name])
        print(module.bash_completion(verbs), end="")
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """A parser that suggests corrections of misspelled words, and whose errors begin with what is wrong, not the usage.

    Words of the command line are quoted without control characters.
    """

    def parse_known_args(  # type: ignore[override]  # its overloads say no more
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        # argparse would report unknown arguments of a verb by the main parser, with the wrong usage and options
        namespace, unknown = super().parse_known_args(args, namespace)
        if "settings" in vars(namespace):
            # argparse takes words KEY=VALUE from one place only, not from between several options
            namespace.settings += [word for word in unknown if not word.startswith("-")]
            unknown = [_with_value(word, args or ()) for word in unknown if word.startswith("-")]
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return namespace, unknown

    def error(self, message: str) -> NoReturn:
        options = re.findall(r"--[a-z][a-z0-9-]*", self.format_usage())
        takes_settings = any(action.dest == "settings" for action in self._actions)
        settings = importlib.import_module("cvzoo.cli.options.train").RECIPE_OPTIONS if takes_settings else ()
        text = _printable_lines(did_you_mean(message, options, settings))
        self.exit(CANNOT_RUN, f"{self.prog}: error: {text}\n  try:      {self.prog} --help\n")


def _with_value(option: str, words: Sequence[str]) -> str:
    """--option=VALUE for an option that is followed by a value among the words, otherwise the option itself."""
    after = words[words.index(option) + 1 :][:1] if option in words and "=" not in option else ()
    return "=".join((option, *(word for word in after if not word.startswith("-") and "=" not in word)))


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status: 0 done, 1 done except some images, 2 error, 130 interrupted.

    argv: the arguments after `cvzoo`; None: those of this process
    Raises SystemExit as argparse does: 0 after `--help`, 2 for invalid arguments.
    """
    argv = list(sys.argv[1:] if argv is None else argv)
    if not argv or argv[0] == "help":
        argv = [*argv[1:2], "--help"]
    prog = "cvzoo"
    try:
        verb = next((word for word in argv if not word.startswith("-")), None)
        known = summaries()
        prog = f"cvzoo {verb}" if verb in known else prog
        args = _parser(verb, known).parse_args(argv)
        args.words = argv  # for the metadata of reports
        with warnings.catch_warnings():
            # without the source line, which does not help users of the command line
            warnings.showwarning = lambda message, *_: print(f"{prog}: {in_one_line(message)}", file=sys.stderr)
            with _device_of(verb, args):
                status = importlib.import_module(f"cvzoo.cli.{verb}").run(args)
        sys.stdout.flush()  # raises BrokenPipeError for a closed pipe here instead of at the interpreter's exit
        return status
    except KeyboardInterrupt:
        print(f"{prog}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # the reader closed the pipe; buffered output is discarded
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (CvzooError, OSError) as error:
        print(f"{prog}: error: {in_words(error)}", file=sys.stderr)
        return CANNOT_RUN
    except MemoryError as error:
        words = f"out of memory{f', {error}' * bool(str(error))}\n  try:      smaller batches, images or numbers"
        print(f"{prog}: error: {words}", file=sys.stderr)
        return CANNOT_RUN


def _device_of(verb: str | None, args: argparse.Namespace) -> contextlib.AbstractContextManager[None]:
    if verb == "studio":  # other processes compute for it; NumPy alone is 12 MB of a server that runs for weeks
        return contextlib.nullcontext()
    found: contextlib.AbstractContextManager[None] = importlib.import_module("cvzoo.cli.on_device").on_device(args)
    return found


def _parser(verb: str | None, known: Mapping[str, str]) -> argparse.ArgumentParser:
    """The parser, with the options of this verb only. known: the help line of each verb"""
    parser = _Parser(
        prog="cvzoo",
        description="Computer vision model zoo: inference, training, evaluation, data sets, export, quantization.",
        epilog="`cvzoo help VERB` or `cvzoo VERB --help` shows the options of a verb.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    parser.add_argument(
        "--completion",
        action=_Completion,
        nargs=0,
        help='print a completion script for bash and exit: eval "$(cvzoo --completion)"',
    )
    verbs = parser.add_subparsers(metavar="VERB", title="verbs", required=True)
    for name, summary in known.items():
        one = verbs.add_parser(name, help=summary, allow_abbrev=False)
        if name == verb:
            importlib.import_module(f"cvzoo.cli.options.{name}").add_arguments(one)
    return parser


def in_one_line(message: object) -> str:
    """The message without line breaks and control characters."""
    return printable(" ".join(str(message).split()))


def in_words(error: BaseException) -> str:
    """The message of an error, of an OSError without its number; control characters are escaped."""
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    else:
        text = str(error) or type(error).__name__
    return _printable_lines(text)


def _printable_lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))
