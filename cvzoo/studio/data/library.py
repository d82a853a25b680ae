"""All that has to do with data sets, connected."""

import threading

from sqlalchemy import Engine

from cvzoo.studio.clock import Clock
from cvzoo.studio.data.datasets import Datasets
from cvzoo.studio.data.edit import Edits
from cvzoo.studio.data.findings import Findings
from cvzoo.studio.data.items import Items
from cvzoo.studio.data.suggestions import Suggestions
from cvzoo.studio.data.tasks import Tasks
from cvzoo.studio.data.versions import Versions
from cvzoo.studio.photos.store import ImageStore
from cvzoo.studio.place import Place
from cvzoo.studio.uploads.upload import Uploads


class DataLibrary:
    """The data sets of a studio, and what they are made of. engine, place, clock: of the studio"""

    def __init__(self, engine: Engine, place: Place, clock: Clock):
        self.engine = engine
        self.uploads = Uploads(engine, place, clock)
        self.store = ImageStore(place.images)
        self.datasets = Datasets(engine, clock)
        self.items = Items(engine)
        self.edits = Edits(engine, clock)
        self.findings = Findings(engine, clock)
        self.suggestions = Suggestions(engine, clock)
        self.versions = Versions(engine, clock)
        self.tasks = Tasks(engine, place, clock)
        self.fixing = threading.Lock()  # one fix at a time, which has a process and may be of all images

    def clean(self) -> None:
        """Removes what a server that was killed left, and expired uploads."""
        self.tasks.clean()
        self.uploads.expire()
