"""Deleted jobs: their folders stay where they are, so that models of them have their paths when they are restored."""

from cvzoo.studio.jobs.job import Job, Jobs
from cvzoo.studio.place import Place
from cvzoo.studio.trash import AbstractBin, Trashed

_KINDS = {
    "train": "training",
    "evaluate": "evaluation",
    "export": "export",
    "predict": "predictions",
    "propose": "proposals",
}


class JobBin(AbstractBin):
    """The deleted jobs of a studio."""

    def __init__(self, jobs: Jobs, place: Place):
        self._jobs, self._place = jobs, place

    def items(self) -> list[Trashed]:
        return [
            Trashed(job.id, _KINDS[job.spec.kind], job.name, job.created_by, job.trashed_at or 0)
            for job in self._jobs.trashed()
        ]

    def restore(self, thing: str) -> bool:
        job = self._job(thing)
        if job is None or not self._place.run(thing).is_dir():  # its deletion for good has begun
            return False
        return self._jobs.restore(job) is not None

    def purge(self, thing: str) -> None:
        job = self._job(thing)
        if job is not None:
            self._jobs.purge(job)

    def _job(self, thing: str) -> Job | None:
        return next((each for each in self._jobs.trashed() if each.id == thing), None)
