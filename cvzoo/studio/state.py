"""What all requests share."""

import asyncio
import dataclasses

from fastapi import Request
from sqlalchemy import Engine

from cvzoo.studio.access.answers import Answers
from cvzoo.studio.access.attempts import Attempts
from cvzoo.studio.access.identities import Identities
from cvzoo.studio.backups import Backups
from cvzoo.studio.clock import Clock
from cvzoo.studio.data.dataset_bin import DatasetBin
from cvzoo.studio.data.library import DataLibrary
from cvzoo.studio.events.follow import Follows
from cvzoo.studio.inference.pool import Pool
from cvzoo.studio.jobs.all_runs import AllRuns
from cvzoo.studio.jobs.conductor import Conductor
from cvzoo.studio.jobs.job import Jobs
from cvzoo.studio.jobs.job_bin import JobBin
from cvzoo.studio.jobs.use import Use
from cvzoo.studio.jobs.watched import WatchedRuns
from cvzoo.studio.models.fetches import Fetches
from cvzoo.studio.models.found import Models
from cvzoo.studio.models.model_bin import ModelBin
from cvzoo.studio.models.register import Register
from cvzoo.studio.models.verified import Verifications
from cvzoo.studio.models.zoo import Zoo
from cvzoo.studio.place import Place
from cvzoo.studio.settings import Settings
from cvzoo.studio.trash import Trash


@dataclasses.dataclass(frozen=True)
class Studio:
    """The parts of a running server.

    stopping: set when the server ends, so that streams end, too
    """

    settings: Settings
    place: Place
    engine: Engine
    clock: Clock
    runs: AllRuns
    follows: Follows
    jobs: Jobs
    conductor: Conductor
    data: DataLibrary
    models: Models
    inference: Pool
    attempts: Attempts
    identities: Identities
    trash: Trash
    use: Use
    backups: Backups
    answers: Answers
    verifications: Verifications
    fetches: Fetches
    stopping: asyncio.Event

    @property
    def cookie(self) -> str:
        """The cookie's name: browsers share cookies between ports, so it has the port."""
        name = f"cvzoo_studio_{self.settings.port}"
        return f"__Host-{name}" if self.settings.is_https else name


def make_studio(settings: Settings, place: Place, engine: Engine, clock: Clock) -> Studio:
    """The parts of a server, connected."""
    jobs = Jobs(engine, place, clock)
    runs = AllRuns(WatchedRuns(settings.watch), jobs, place, clock)
    use = Use(engine, jobs, place)
    conductor, data = Conductor(jobs, place, use=use), DataLibrary(engine, place, clock)
    models, pool = Models(runs, jobs, place, Zoo(), Register(engine, place, clock)), Pool()
    attempts, identities, follows = Attempts(clock), Identities(engine, clock), Follows(runs)
    trash = Trash([JobBin(jobs, place), DatasetBin(data), ModelBin(models.register)], clock)
    parts = (runs, follows, jobs, conductor, data, models, pool, attempts, identities, trash, use)
    more = (Backups(place, clock), Answers(), Verifications(place), Fetches(place, clock, models.zoo.forget))
    return Studio(settings, place, engine, clock, *parts, *more, asyncio.Event())


def studio_of(request: Request) -> Studio:
    """The server's parts."""
    studio: Studio = request.app.state.studio
    return studio
