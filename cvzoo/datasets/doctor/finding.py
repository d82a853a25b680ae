"""What the doctor says: one finding, one fault."""

import dataclasses
from typing import Any

from cvzoo.datasets.doctor.fault import Fault, Severity


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """A fault, where it is, and in words.

    kind: which fault; its severity and remedy are the kind's
    message: what exactly, with the numbers
    photo: the photo's name as in the data set, None where the fault is the whole set's
    annotation: the object's number in its file, from 0; for YOLO and SROIE the line's
    others: the names of photos that are the fault's other half, as of duplicates
    """

    kind: Fault
    message: str
    photo: str | None = None
    annotation: int | None = None
    others: tuple[str, ...] = ()

    @property
    def severity(self) -> Severity:
        return self.kind.severity

    @property
    def where(self) -> str:
        """As "dog.jpg, object 3"."""
        if self.photo is None:
            return "the data set"
        return self.photo if self.annotation is None else f"{self.photo}, object {self.annotation}"

    def to_record(self) -> dict[str, Any]:
        """The finding as a table ready for JSON."""
        return {
            "kind": self.kind.slug,
            "severity": self.severity.value,
            "photo": self.photo,
            "annotation": self.annotation,
            "others": list(self.others),
            "message": self.message,
            "fix": self.kind.fix,
        }
