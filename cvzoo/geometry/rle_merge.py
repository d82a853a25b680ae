"""Unions and intersections of run-length encoded masks."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.rle import RLEs


def merge_rles(rles, *, group=None, intersect=False):
    """The union (or the intersection) of the masks of each group.

    rles: R masks; those of a group are of one size
    group: (R,) int that does not fall, the group of each mask; None puts all into one
    intersect: pixels that all masks of the group have, instead of those that any has
    Returns RLEs, one mask a group, in the order of the groups; none if there are no masks.
    Raises ShapeError if group does not match rles, falls, or joins masks of different sizes.
    """
    n = len(rles)
    group = np.zeros(n, np.int64) if group is None else np.asarray(group)
    if group.shape != (n,) or (np.diff(group) < 0).any():
        raise ShapeError("group must hold one integer a mask that does not fall", expected=(n,), got=group.shape)
    if n == 0:
        return rles
    head = np.flatnonzero(np.diff(group, prepend=group[0] - 1))
    member = np.repeat(np.arange(len(head)), np.diff(np.append(head, n)))  # (R,), the place of the mask's group
    if (rles.sizes != rles.sizes[head][member]).any():
        r = int(np.flatnonzero((rles.sizes != rles.sizes[head][member]).any(axis=1))[0])
        raise ShapeError(
            f"mask {r} is not as large as its group's first",
            expected=tuple(rles.sizes[head[member[r]]].tolist()),
            got=tuple(rles.sizes[r].tolist()),
        )
    n_mask = np.diff(np.append(head, n))
    alone = n_mask == 1
    if not alone.any():
        return _merged(rles, head, member, n_mask if intersect else np.ones(len(head), np.int64))
    several = np.flatnonzero(~alone[member])
    if len(several) == 0:
        return rles
    together = merge_rles(rles[several], group=group[several], intersect=intersect)
    order = np.argsort(np.concatenate([np.flatnonzero(alone), np.flatnonzero(~alone)]))
    return RLEs.concatenate([rles[head[alone]], together])[order]


def _merged(rles, head, member, least):
    """The pixels that `least` masks of each group have; a group begins at each head, member (R,) is each mask's."""
    sizes = rles.sizes[head]
    pixels = sizes[:, 0].astype(np.int64) * sizes[:, 1]
    base = np.cumsum(pixels + 1) - pixels - 1  # lifts each group above the one before; the +1 keeps ends apart
    run, length = rles.run_indices(), np.diff(rles.offsets)
    # foreground begins where a run of background ends, except behind the last run
    ends = np.flatnonzero(run < np.repeat(length // 2 * 2, length))
    place = rles.run_ends()[ends] + np.repeat(base[member], length // 2 * 2)
    return _cover(place, 1 - 2 * (run[ends] % 2), base, sizes, least)


def turns_to_rles(place, owner, sizes):
    """Masks whose pixels change between background and foreground at given places.

    place: (N,) int, x * H + y of the first pixel behind each change, in any order; two at one place undo each other,
        and one at or behind H * W does nothing
    owner: (N,) int, the mask that each belongs to
    sizes: (R, 2) int, (H, W)
    """
    sizes = np.asarray(sizes, np.int64).reshape(-1, 2)
    pixels = sizes[:, 0] * sizes[:, 1]
    base = np.cumsum(pixels + 1) - pixels - 1
    inside = place < pixels[owner]
    if len(base) and base[-1] + pixels[-1] <= np.iinfo(np.int32).max:  # sorted in half the time
        place, base = place.astype(np.int32, copy=False), base.astype(np.int32)
    key = np.sort(place[inside] + base[owner[inside]])
    return _rles_of(_odd(key), base, sizes)


def _odd(key):
    """The values that occur an odd number of times in what is sorted."""
    if len(key) == 0:
        return key
    head = np.flatnonzero(np.diff(key, prepend=key[0] - 1))
    return key[head[np.diff(np.append(head, len(key))) % 2 == 1]]


def _cover(place, step, base, sizes, least):
    """Masks of the pixels where the sum of the steps at and before them is no less than `least`, a number a mask."""
    order = np.argsort(place, kind="stable")
    place, depth = place[order], np.cumsum(step[order])
    # only what is true behind the last of several steps at one place counts
    final = np.flatnonzero(np.diff(place, append=-1))
    place, depth = place[final], depth[final]
    owner = np.searchsorted(base, place, side="right") - 1
    covered = depth >= least[owner]
    turn = np.diff(covered, prepend=False)
    turn &= place - base[owner] < sizes[owner, 0].astype(np.int64) * sizes[owner, 1]
    return _rles_of(place[turn], base, sizes)


def _rles_of(key, base, sizes):
    """Masks from the places of their changes, sorted and without doubles, each raised by its mask's base."""
    pixels = sizes[:, 0].astype(np.int64) * sizes[:, 1]
    # each mask's runs end at its changes and at its last pixel
    ends = np.sort(np.concatenate([key, base + pixels]))
    offsets = np.concatenate([[0], np.searchsorted(ends, base + pixels, side="right")])
    counts = np.diff(ends, prepend=0)
    counts[offsets[:-1]] = ends[offsets[:-1]] - base
    return RLEs(counts, offsets, sizes)
