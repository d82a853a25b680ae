"""Unions and intersections of run-length encoded masks."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.rle import RLEs
from cvzoo.typing.aliases import Array, ArrayLike


def merge_rles(rles: RLEs, *, group: ArrayLike | None = None, intersect: bool = False) -> RLEs:
    """The union (or the intersection) of the masks of each group.

    rles: R masks; those of a group have the same size
    group: (R,) int, ascending, the group of each mask; None puts all masks into one group
    intersect: the intersection instead of the union
    Returns RLEs, one mask per group, in the order of the groups; none if there are no masks.
    Raises ShapeError if group does not match rles, descends, or has masks of different sizes in one group.
    """
    n = len(rles)
    group = np.zeros(n, np.int64) if group is None else np.asarray(group)
    if group.shape != (n,) or (np.diff(group) < 0).any():
        raise ShapeError("group must have one integer per mask, ascending", expected=(n,), got=group.shape)
    if n == 0:
        return rles
    head = np.flatnonzero(np.diff(group, prepend=group[0] - 1))
    member = np.repeat(np.arange(len(head)), np.diff(np.append(head, n)))  # (R,), the index of each mask's group
    if (rles.sizes != rles.sizes[head][member]).any():
        r = int(np.flatnonzero((rles.sizes != rles.sizes[head][member]).any(axis=1))[0])
        raise ShapeError(
            f"mask {r} has a different size from the first mask of its group",
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


def _merged(rles: RLEs, head: Array, member: Array, least: Array) -> RLEs:
    """Masks of the pixels that at least `least` masks of each group have.

    head: (G,) int, the first mask of each group; member: (R,) int, the group of each mask; least: (G,) int
    """
    sizes = rles.sizes[head]
    pixels = sizes[:, 0].astype(np.int64) * sizes[:, 1]
    base = np.cumsum(pixels + 1) - pixels - 1  # raises each group above the one before; the +1 keeps their ends apart
    run, length = rles.run_indices(), np.diff(rles.offsets)
    # foreground begins where a background run ends, except after the last run
    ends = np.flatnonzero(run < np.repeat(length // 2 * 2, length))
    position = rles.run_ends()[ends] + np.repeat(base[member], length // 2 * 2)
    return _cover(position, 1 - 2 * (run[ends] % 2), base, sizes, least)


def changes_to_rles(position: Array, owner: Array, sizes: ArrayLike) -> RLEs:
    """Masks that change between background and foreground at the given positions.

    position: (N,) int, x * H + y of the first pixel after each change, in any order; two changes at one position cancel
        out, and one at H * W or above is ignored
    owner: (N,) int, the index of the mask of each change
    sizes: (R, 2) int, (H, W)
    """
    sizes = np.asarray(sizes, np.int64).reshape(-1, 2)
    pixels = sizes[:, 0] * sizes[:, 1]
    base = np.cumsum(pixels + 1) - pixels - 1
    inside = position < pixels[owner]
    if len(base) and base[-1] + pixels[-1] <= np.iinfo(np.int32).max:  # int32 is sorted in half the time
        position, base = position.astype(np.int32, copy=False), base.astype(np.int32)
    key = np.sort(position[inside] + base[owner[inside]])
    return _rles_of(_odd(key), base, sizes)


def _odd(key: Array) -> Array:
    """The values that occur an odd number of times in a sorted array."""
    if len(key) == 0:
        return key
    head = np.flatnonzero(np.diff(key, prepend=key[0] - 1))
    return key[head[np.diff(np.append(head, len(key))) % 2 == 1]]


def _cover(position: Array, step: Array, base: Array, sizes: Array, least: Array) -> RLEs:
    """Masks of the pixels where the sum of the steps up to them is at least `least`, which has one value per mask."""
    order = np.argsort(position, kind="stable")
    position, depth = position[order], np.cumsum(step[order])
    # of several steps at one position only the sum after the last one counts
    final = np.flatnonzero(np.diff(position, append=-1))
    position, depth = position[final], depth[final]
    owner = np.searchsorted(base, position, side="right") - 1
    covered = depth >= least[owner]
    changes = np.diff(covered, prepend=False)
    changes &= position - base[owner] < sizes[owner, 0].astype(np.int64) * sizes[owner, 1]
    return _rles_of(position[changes], base, sizes)


def _rles_of(key: Array, base: Array, sizes: Array) -> RLEs:
    """Masks from the positions of their changes, sorted and unique, each raised by the base of its mask."""
    pixels = sizes[:, 0].astype(np.int64) * sizes[:, 1]
    # each mask's runs end at its changes and at its last pixel
    ends = np.sort(np.concatenate([key, base + pixels]))
    offsets = np.concatenate([[0], np.searchsorted(ends, base + pixels, side="right")])
    counts = np.diff(ends, prepend=0)
    counts[offsets[:-1]] = ends[offsets[:-1]] - base
    return RLEs(counts, offsets, sizes)
