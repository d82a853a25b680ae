"""The findings of the data set doctor."""

import dataclasses
from typing import Any

from cvzoo.datasets.doctor.fault import Fault, Severity


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """One occurrence of a fault, with its location and a message.

    kind: the fault, with its severity and fix
    message: the details, with the values
    image: the name of the image, None for a fault of the whole data set
    annotation: the 0-based index of the object in its file; for YOLO and SROIE of the line
    others: the names of other images concerned, such as duplicates
    """

    kind: Fault
    message: str
    image: str | None = None
    annotation: int | None = None
    others: tuple[str, ...] = ()

    @property
    def photo(self) -> str | None:
        """The former name of `image`; `to_record` keeps it as a key, since scripts read those files."""
        return self.image

    @property
    def severity(self) -> Severity:
        return self.kind.severity

    @property
    def where(self) -> str:
        """The location as text, such as "dog.jpg, object 3"."""
        if self.image is None:
            return "the data set"
        return self.image if self.annotation is None else f"{self.image}, object {self.annotation}"

    def to_record(self) -> dict[str, Any]:
        """The finding as a dictionary for JSON."""
        return {
            "kind": self.kind.slug,
            "severity": self.severity.value,
            "photo": self.image,
            "annotation": self.annotation,
            "others": list(self.others),
            "message": self.message,
            "fix": self.kind.fix,
        }
