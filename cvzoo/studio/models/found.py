"""The models that there are: those of runs, of exports, with thresholds that evaluations found, and the zoo's."""

import dataclasses
import functools
import os
import pathlib
from typing import Any, Literal, TypeAlias

from cvzoo.errors.exceptions import CvzooError
from cvzoo.files import file_hash
from cvzoo.studio.ids import is_id
from cvzoo.studio.jobs.all_runs import AllRuns
from cvzoo.studio.jobs.files import run_file
from cvzoo.studio.jobs.job import Job, Jobs
from cvzoo.studio.jobs.run_record import RunRecord
from cvzoo.studio.jobs.spec import DEPLOYED, MADE, EvaluateSpec, ExportSpec
from cvzoo.studio.models.register import FILE as UPLOADED
from cvzoo.studio.models.register import Register, Uploaded
from cvzoo.studio.models.zoo import NAME, Zoo
from cvzoo.studio.place import Place
from cvzoo.weights.model_header import ModelHeader, read_model_header

Origin: TypeAlias = Literal["run", "export", "thresholds", "upload", "zoo"]
ZOO = "zoo:"
ALIAS = "@"  # in front of an alias, which names a model as a key does
_BEST = "best.safetensors"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Model:
    """A model.

    key: of its page: the identifier of its run or job, or "zoo:NAME"
    name: for people; origin: where it is from
    path: the file; None of the zoo's
    run: whose best model it is, or was made of; None of the zoo's
    member: as `cvzoo models --json` writes it; None of others
    job: that made it; None of a run's best and the zoo's
    n_byte, changed_at: of the file; milliseconds since 1970
    """

    key: str
    name: str
    origin: Origin
    path: pathlib.Path | None = None
    run: RunRecord | None = None
    member: dict[str, Any] | None = None
    job: Job | None = None
    n_byte: int = 0
    changed_at: int = 0

    @property
    def word(self) -> str:
        """What `cvzoo evaluate --model` and other verbs take."""
        return self.key.removeprefix(ZOO) if self.path is None else str(self.path)

    @property
    def is_loadable(self) -> bool:
        """Whether cvzoo predicts with it here: ONNX is for other programs, and members may not be downloaded."""
        if self.member is not None:
            return bool(self.member["here"])
        return self.path is not None and self.path.suffix == ".safetensors"


class Models:
    """The models of a studio. runs, jobs, place, zoo, register: of the studio"""

    def __init__(self, runs: AllRuns, jobs: Jobs, place: Place, zoo: Zoo, register: Register):
        self._runs, self._jobs, self._place, self.zoo, self.register = runs, jobs, place, zoo, register

    def of_runs(self) -> list[Model]:
        """The best models of runs, in the order of the list of runs."""
        found = (self._best_of(record) for record in self._runs.records())
        return [each for each in found if each is not None]

    def made(self) -> list[Model]:
        """What jobs made of models, the newest first."""
        found = (self._made_by(job) for job in self._jobs.all())
        return [each for each in found if each is not None]

    def uploaded(self) -> list[Model]:
        """The models that users brought, the newest first."""
        found = (self._of_upload(each) for each in self.register.uploaded())
        return [each for each in found if each is not None]

    def own(self) -> list[Model]:
        """All but the zoo's."""
        return [*self.of_runs(), *self.made(), *self.uploaded()]

    def find(self, key: str) -> Model | None:
        """The model of a key, or of "@" and an alias; None if there is none.

        Raises ConfigError if the zoo cannot be listed.
        """
        if key.startswith(ALIAS):
            key = self.register.aliases().get(key.removeprefix(ALIAS), "")
        if is_id(key, "md"):
            return next((each for each in self.uploaded() if each.key == key), None)
        if key.startswith(ZOO):
            name = key.removeprefix(ZOO)
            member = self.zoo.member(name) if NAME.fullmatch(name) else None
            return None if member is None else Model(key=key, name=name, origin="zoo", member=member)
        if is_id(key, "jb"):
            job = self._jobs.get(key)
            if job is None:
                return None
            if isinstance(job.spec, EvaluateSpec | ExportSpec):
                return self._made_by(job)
        elif not is_id(key, "wr"):
            return None
        record = self._runs.record(key)
        return None if record is None else self._best_of(record)

    def _of_upload(self, each: Uploaded) -> Model | None:
        path = self._place.model(each.id) / UPLOADED
        return _of_file(path, key=each.id, name=each.name, origin="upload", run=None)

    def _best_of(self, record: RunRecord) -> Model | None:
        return _of_file(run_file(record.folder, _BEST), key=record.id, name=record.name, origin="run", run=record)

    def _made_by(self, job: Job) -> Model | None:
        if not isinstance(job.spec, EvaluateSpec | ExportSpec):
            return None
        is_export = isinstance(job.spec, ExportSpec)
        name = MADE[job.spec.form] if isinstance(job.spec, ExportSpec) else DEPLOYED
        source = job.spec.source
        run = self._runs.record(source) if is_id(source, "wr") or is_id(source, "jb") else None
        origin: Origin = "export" if is_export else "thresholds"
        path = run_file(self._place.run(job.id), name)
        return _of_file(path, key=job.id, name=job.name, origin=origin, run=run, job=job)


def _of_file(
    path: pathlib.Path | None,
    *,
    key: str,
    name: str,
    origin: Origin,
    run: RunRecord | None,
    job: Job | None = None,
) -> Model | None:
    if path is None:
        return None
    try:
        found = path.stat()
    except OSError:
        return None
    return Model(
        key=key,
        name=name,
        origin=origin,
        path=path,
        run=run,
        job=job,
        n_byte=found.st_size,
        changed_at=found.st_mtime_ns // 1_000_000,
    )


def header_of(path: pathlib.Path) -> ModelHeader | str | None:
    """What the file says about its model; None of another kind of file, the error's text if it is damaged."""
    try:
        return read_model_header(path)
    except (CvzooError, OSError) as error:
        return str(error)


def sha256_of(path: pathlib.Path) -> str:
    """The hash of the file; read again only if its time or size has changed. Raises OSError."""
    found = os.stat(path)
    return _sha256(str(path), found.st_mtime_ns, found.st_size, found.st_ino)


@functools.lru_cache(maxsize=256)
def _sha256(path: str, changed: int, size: int, inode: int) -> str:
    return file_hash.sha256_of(path)
