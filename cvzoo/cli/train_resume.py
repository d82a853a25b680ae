"""`cvzoo train --resume DIR`: the options are those that the run in the folder was started with."""

import argparse
import os
import pathlib
from collections.abc import Mapping
from typing import Any

from cvzoo.datasets.layouts.data_spec import PLACES, is_option
from cvzoo.distributed.create_communicator import create_communicator
from cvzoo.errors.exceptions import ConfigError
from cvzoo.training.recipes.recipe import AbstractRecipe
from cvzoo.training.run.command import RECIPE_FILE, Command
from cvzoo.training.run.plain import plain, stored_as
from cvzoo.training.run.run import differences

_OWN = ("out", "resume", "command", "started_in")  # of the namespace, and no options that are taken over


def with_stored_options(args: argparse.Namespace) -> argparse.Namespace:
    """The options with those of the run that is resumed where none was given; the same if no folder was named.

    command, started_in: see ResumeAction; None without a folder
    Raises ConfigError for another --out or --model than the run's, FileFormatError for a folder without a run.
    """
    check_found(args)
    args = argparse.Namespace(**{"stored": None, **vars(args)}, command=None, started_in=None)
    if args.stored is None:
        return args
    folder, command, stored = args.stored
    if args.out is not None and os.path.abspath(args.out) != os.path.abspath(folder):
        raise ConfigError(f"--resume {folder}: its folder is its own", got=f"--out {args.out}", hint="leave --out away")
    given, began = args.recipe or args.model, stored.recipe or stored.model
    if given is not None and given != began:
        raise ConfigError(
            f"--resume {folder}: the run trains another network",
            expected=began,
            got=given,
            hint="a network of its own needs a folder of its own",
        )
    args.out = folder
    changed: list[str] = []
    place = _start(folder, command)
    as_it_was = pathlib.Path(folder, RECIPE_FILE)
    if args.config is None and as_it_was.is_file():
        args.config, args.recipe, args.model = os.fspath(as_it_was), None, None  # the file names its recipe
    for name, value in vars(stored).items():
        given = getattr(args, name, None)
        if name in _OWN or name == "stored":
            continue
        if name in ("config", "recipe", "model") and args.config is not None:
            continue
        if name == "settings":
            args.settings = [*value, *args.settings]
            changed += args.settings[len(value) :]
            place = None if any(word.startswith(("data=", "pretrained=")) for word in changed) else place
        elif given is None:
            setattr(args, name, value)
        elif given != value:
            option = f"--{name.replace('_', '-')}"
            changed += [option] if given is True else [option, str(given)]
            if name in ("data", "pretrained"):
                place = None  # given here and now
    args.command = Command(command.script, command.module, (*command.arguments, *changed), command.folder)
    args.started_in = place
    return args


def check_found(args: argparse.Namespace) -> None:
    """Raises the same ConfigError on all ranks if only some can read the run in the folder of `--resume DIR`."""
    if not hasattr(args, "unread"):
        return
    found = [bool(each) for each in create_communicator().allgather_obj(args.unread is None)]
    if any(found) and not all(found):
        raise ConfigError(
            "--resume: only some ranks can read the run",
            expected="a folder that all machines share, by the same path",
            got=f"no run on rank {', '.join(str(rank) for rank, is_found in enumerate(found) if not is_found)}",
        )
    if args.unread is not None:
        raise args.unread


def data_in(recipe: AbstractRecipe, folder: str | None) -> str:
    """The recipe's data as named from here; a data set of a name alone, such as cifar10, is no path."""
    is_name = ":" not in recipe.data and recipe.task in ("classification", "segmentation")
    return recipe.data if is_name else spec_in(recipe.data, folder)


def spec_in(spec: str, folder: str | None) -> str:
    """The data's name with its relative paths below the folder; as it is if that is None."""
    if folder is None:
        return spec
    kind, colon, rest = spec.partition(":")
    if not colon:
        kind, rest = "", spec
    words = [_word_in(word, folder) for word in rest.split(",")]
    return f"{kind}{colon}{','.join(words)}"


def _word_in(word: str, folder: str) -> str:
    if not is_option(word):
        return os.path.join(folder, word)
    name, _, value = word.partition("=")
    return f"{name}={os.path.join(folder, value)}" if name in PLACES else word


def _start(folder: str, command: Command) -> str | None:
    """The folder where the run was started, as seen from here; None if that is here, or is no more."""
    start = pathlib.Path(os.path.normpath(pathlib.Path(folder).resolve() / command.folder))
    return None if start == pathlib.Path.cwd() or not start.is_dir() else os.path.relpath(start)


def check_same_training(
    out: str, before: Mapping[str, Any], recipe: AbstractRecipe, data: Mapping[str, Mapping[str, Any]]
) -> None:
    """Raises ConfigError where what is resumed cannot go on: another network, other classes, other numbers of images.

    before: config and data of the run's folder; recipe, data: as they are now
    """
    then, now_recipe = stored_as(recipe, before["config"]["recipe"]), plain(recipe)
    network = [
        f"{name}: {a} is now {b}"
        for name, a, b in differences(then.get("model", {}), now_recipe["model"])
        if name not in ("min_size", "max_size")
    ]
    hint = f"a run of its own, which may begin with --pretrained {os.path.join(out, 'best.safetensors')}"
    if network:
        raise ConfigError(f"{out}: the run trains another network", got="; ".join(network), hint=hint)
    for name, now in data.items():
        stored = before["data"].get(name)
        for key, words in (("label_names", "classes"), ("n_example", "numbers of images")):
            if stored is not None and stored[key] != now[key] and (name == "train" or key == "label_names"):
                raise ConfigError(
                    f"{out}: the run began with other {words} in {name}", expected=stored[key], got=now[key], hint=hint
                )
