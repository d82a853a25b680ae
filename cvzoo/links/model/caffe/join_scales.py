"""Caffe writes batch normalization as two layers; here they become one kernel again."""

from collections.abc import Sequence

from cvzoo.links.chain import Chain
from cvzoo.links.model.caffe.normalization import BatchNorm, ChannelScale
from cvzoo.links.model.caffe.plan import PlannedStep


def join_scales(planned: Sequence[PlannedStep], chain: Chain) -> list[PlannedStep]:
    """The steps, a scale over the channels joined to the batch normalization before it where only it reads that."""
    joined: list[PlannedStep] = []
    for step in planned:
        before = joined[-1] if joined else None
        if before is not None and before.scale is None and _fit(before, step, chain):
            joined[-1] = PlannedStep(
                before.label,
                before.child,
                before.bottoms,
                step.tops,
                # the blob between the two is never stored
                tuple(blob for blob in (*before.done, *step.done) if blob in (*before.bottoms, *step.tops)),
                step.child,
            )
        else:
            joined.append(step)
    return joined


def _fit(norm: PlannedStep, scale: PlannedStep, chain: Chain) -> bool:
    link = chain[scale.child]
    return (
        isinstance(chain[norm.child], BatchNorm)
        and isinstance(link, ChannelScale)
        and link.axis == 1
        and scale.bottoms == norm.tops
        and (scale.tops == scale.bottoms or norm.tops[0] in scale.done)
        and norm.tops[0] not in norm.done
    )
