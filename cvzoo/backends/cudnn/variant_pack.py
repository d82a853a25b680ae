"""A plan bound to arrays: what is executed."""

from collections import OrderedDict
from typing import Any

from cvzoo.backends.cudnn.descriptor import Descriptor
from cvzoo.backends.cudnn.library import check, library
from cvzoo.backends.cudnn.names import Attribute, Kind, Type
from cvzoo.backends.cudnn.planner import Plan
from cvzoo.backends.cudnn.session import Session

_KEPT = 32  # packs a plan; arrays come from a pool, so that the same few addresses come again


class BoundPlan:
    """A thread's use of a plan: called with pointers, it runs.

    Making a pack costs some ten times what a call does, and a finished one cannot be given other pointers: the last
    ones are cached by their pointers.
    """

    __slots__ = ("_execute", "_packs", "plan")

    def __init__(self, plan: Plan):
        self.plan = plan
        self._packs: OrderedDict[tuple[int, ...], Descriptor] = OrderedDict()
        self._execute: Any = library().calls.cudnnBackendExecute

    def __call__(self, session: Session, pointers: tuple[int, ...]) -> None:
        """Run on the session's stream. pointers: addresses in the order of the plan's uids."""
        workspace = session.workspace(self.plan.workspace)
        key = (workspace, *pointers)
        pack = self._packs.get(key)
        if pack is None:
            pack = self._packs[key] = variant_pack(self.plan, pointers, workspace)
            if len(self._packs) > _KEPT:
                self._packs.popitem(last=False)
        else:
            self._packs.move_to_end(key)
        status = self._execute(session.handle, self.plan.descriptor.address, pack.address)
        if status:
            check(status)


def variant_pack(plan: Plan, pointers: tuple[int, ...], workspace: int) -> Descriptor:
    """The finalized pack of a plan's pointers; workspace: an address, or 0."""
    made = Descriptor(Kind.VARIANT_PACK)
    made.set(Attribute.PACK_UIDS, Type.INT64, *plan.uids)
    made.set(Attribute.PACK_POINTERS, Type.POINTER, *pointers)
    return made.set(Attribute.PACK_WORKSPACE, Type.POINTER, workspace).finalize()


def run_once(plan: Plan, session: Session, pointers: tuple[int, ...]) -> None:
    """Run a plan that will not be run again with these pointers."""
    pack = variant_pack(plan, pointers, session.workspace(plan.workspace))
    check(library().calls.cudnnBackendExecute(session.handle, plan.descriptor.address, pack.address))
