"""Checkpoints of a link's parameters during training."""

import pathlib
from typing import TYPE_CHECKING

from cvzoo.errors.exceptions import DtypeError
from cvzoo.links.link import Link
from cvzoo.serializers.npz import save_npz
from cvzoo.serializers.safetensors import save_safetensors
from cvzoo.training.extension import PRIORITY_SNAPSHOT, AbstractExtension
from cvzoo.training.extensions.numbered_names import numbered, with_plain_places
from cvzoo.training.output_folder import write_or_warn

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


class SnapshotObject(AbstractExtension):
    """Saves the link's parameters; see `snapshot_object` for the arguments."""

    trigger = (1, "epoch")
    priority = PRIORITY_SNAPSHOT + 1  # before the trainer's own snapshot
    default_name = "snapshot_object"

    def __init__(self, target: Link, filename: str):
        if not isinstance(target, Link):
            raise DtypeError("snapshot_object needs a link", got=type(target).__name__)
        self.target = target
        self.filename = with_plain_places(filename)

    def __call__(self, trainer: "Trainer") -> None:
        path = pathlib.Path(trainer.out) / numbered(self.filename, trainer)
        save = save_safetensors if path.suffix == ".safetensors" else save_npz
        write_or_warn(path, lambda: save(path, self.target))


def snapshot_object(target: Link, filename: str) -> SnapshotObject:
    """An extension that saves a link's parameters, by default after every epoch.

    target: the link, often without the Classifier around it
    filename: in the trainer's folder; {iteration} and {epoch} are filled in, as are Chainer's {.updater.iteration} and
        {.updater.epoch}; `.safetensors`, else `.npz`

    >>> best = triggers.MaxValueTrigger("validation/main/map")
    >>> trainer.extend(extensions.snapshot_object(model, "best.npz"), trigger=best)
    """
    return SnapshotObject(target, filename)
