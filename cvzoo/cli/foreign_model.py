"""Detects the model of a checkpoint of another library."""

import argparse
import functools
from collections.abc import Callable
from typing import NamedTuple

from cvzoo.cli.load_predictor import darknet_detector, refuse_darknet_options
from cvzoo.cli.zoo_member import zoo_member
from cvzoo.errors.exceptions import ConfigError, CvzooError, FileError, UnsupportedError
from cvzoo.links.chain import Chain
from cvzoo.links.model.families import zoo_members
from cvzoo.links.model.recognition import Candidate, loader, recognise
from cvzoo.links.model.zoo_member import ZooMember
from cvzoo.serializers.convert_weights import load_strictly, source_arrays
from cvzoo.serializers.model_file import load_model
from cvzoo.weights.model_header import read_model_header
from cvzoo.weights.sniff import DARKNET, sniff

MAX_TRIED = 5  # that are named where none fits


class ForeignModel(NamedTuple):
    """load: from the path of a file, the model with its numbers; why: how it is known which, in words.

    member: of the zoo, where the file is one of its own or was said to belong to it
    """

    load: Callable[[str], Chain]
    why: str
    member: ZooMember | None = None


def darknet_file(args: argparse.Namespace, file: str | None) -> str | None:
    """Darknet's .weights where the options say `--cfg`, and `args.weights` is that file then; None without them.

    file: what the command line has without an option; it may be the .weights
    Raises ConfigError if they do not go together.
    """
    if args.cfg is None:
        refuse_darknet_options(args, "a model without --cfg" if file is None else file)
        if file is None:
            raise ConfigError("no model was given", hint="a file or a name, or --cfg FILE --weights FILE")
        return None
    if file is not None and args.weights is not None:
        raise ConfigError("two files of weights were given", got=f"{file} and --weights {args.weights}")
    if args.weights is None:
        args.weights = file
    if args.weights is None:
        raise ConfigError("--cfg needs the weights of the network", hint="--weights FILE")
    return args.weights


def darknet_model(args: argparse.Namespace) -> ForeignModel:
    """The network of `--cfg`, as a loader."""

    def load(path: str) -> Chain:
        return darknet_detector(argparse.Namespace(**{**vars(args), "weights": path}))

    return ForeignModel(load, f"belongs to {args.cfg}")


def foreign_model(path: str, name: str | None, architecture: type[Chain] | None = None) -> ForeignModel:
    """The loader of the file.

    name: of the member of the zoo that it belongs to; None: it is recognized
    architecture: the class of the user's own that a model file holds, or None
    Raises ConfigError if it fits several models, FileError if it fits none, and what reading it raises.
    """
    if name is not None:
        member = zoo_member(name)
        load = loader(member)
        if load is None:
            hint = "--cfg FILE, and --names FILE" if sniff(path) == DARKNET else "convert another kind of model"
            raise UnsupportedError(f"{name} is not made from one file", hint=hint)
        return ForeignModel(load, f"was said to be {name}", member)
    if read_model_header(path) is not None:
        return ForeignModel(functools.partial(load_model, architecture=architecture), "says so itself")
    candidates = recognise(path, source_arrays(path), zoo_members())
    fitting: list[Candidate] = []
    failures: dict[str, str] = {}
    for each in candidates:
        try:
            load_strictly(each.load, path)
        except (CvzooError, LookupError, TypeError, ValueError) as error:
            failures[each.member.name] = str(error).split("\n", 1)[0].removeprefix(f"{path}: ")
        else:
            fitting.append(each)
    if len(fitting) > 1:
        names = " or ".join(each.member.name for each in fitting)
        raise ConfigError(f"{path} fits several models", expected=names, hint="--model NAME")
    if not fitting:
        tried = [f"\n  not {name}: {why[:200]}" for name, why in failures.items()]
        raise FileError(
            f"{path} fits no model of the zoo; {len(tried)} were tried" + "".join(tried[:MAX_TRIED]),
            hint="--cfg FILE, which describes the network of darknet's weights"
            if sniff(path) == DARKNET
            else "`cvzoo models` lists what there is; --model NAME says why one does not fit",
        )
    (match,) = fitting
    return ForeignModel(match.load, match.why, match.member if match.is_published else None)
