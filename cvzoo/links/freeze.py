"""Freezing of parts of a network: their parameters and their batch normalization."""

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.link import Link


def freeze(link: Link, *stages: str, norm_only: bool = False) -> int:
    """Freezes a link or stages of it: parameters are not updated, batch normalization uses its running statistics.

    stages: paths of links below, such as "extractor/conv1", "extractor/res2"; none: the whole link
    norm_only: freeze batch normalization only, its gamma and beta included, and leave the other parameters

    Gradients of frozen parameters are not computed. Like `disable_update`, it is not in a snapshot: a resumed run
    freezes again. For the first updates only, see `optimizers.Freeze`; `unfreeze` reverses it.
    Returns the number of frozen parameters.
    Raises ValueRangeError if there is no stage of that name.
    """
    return _set(link, stages, frozen=True, norm_only=norm_only)


def unfreeze(link: Link, *stages: str) -> int:
    """Reverses `freeze`: parameters are updated again, batch normalization uses the batch's statistics in training.

    Returns the number of parameters. Raises ValueRangeError if there is no stage of that name.
    """
    return _set(link, stages, frozen=False, norm_only=False)


def _set(link: Link, stages: tuple[str, ...], *, frozen: bool, norm_only: bool) -> int:
    known = {path.strip("/"): each for path, each in link.namedlinks()}
    missing = [stage for stage in stages if stage.strip("/") not in known]
    if missing:
        top = sorted(path for path in known if path and "/" not in path)
        raise ValueRangeError(
            f"{type(link).__name__} has no part {', '.join(missing)}", expected=f"{', '.join(top)}, or a path below"
        )
    changed: set[int] = set()
    for part in [known[stage.strip("/")] for stage in stages] or [link]:
        for each in part.links():
            if isinstance(each, BatchNormalization):
                each.frozen = frozen
        for each in part.links() if norm_only else [part]:
            if norm_only and not isinstance(each, BatchNormalization):
                continue
            if frozen:
                each.disable_update()
            else:
                each.enable_update()
            changed.update(map(id, each.params()))
    return len(changed)
