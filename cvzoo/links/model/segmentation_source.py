"""Where a segmenter's numbers and classes come from."""

import os
from collections.abc import Callable, Mapping, Sequence

from cvzoo.links.model.class_source import Arrays, ClassSource, ClassWeights, class_source
from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.weights.record import Weights


def segmentation_source(
    pretrained_model: str | os.PathLike | None,
    records: Mapping[str, Weights],
    *,
    own_names: Callable[[Arrays], Arrays],
    head_bias: str,
    n_class: int | None,
    label_names: Sequence[str] | None,
    usual_names: Sequence[Sequence[str]],
) -> ClassSource:
    """What a segmenter is to be built as, as `class_source` says it of classifiers; its `preparation` says nothing.

    usual_names: names of the classes that published files of this network have, one or several lists of different
        lengths; without a file and without `n_class` and `label_names` there are as many classes as in the first
    """
    if pretrained_model is None and n_class is None and label_names is None:
        n_class = len(usual_names[0])
    source = class_source(
        pretrained_model,
        {name: ClassWeights(record, PhotoPreparation()) for name, record in records.items()},
        own_names=own_names,
        head_bias=head_bias,
        n_class=n_class,
        label_names=label_names,
        default=PhotoPreparation(),
    )
    if source.arrays is None or label_names is not None or len(source.arrays[head_bias]) != source.n_class:
        return source
    if isinstance(pretrained_model, str) and pretrained_model in records:
        names = records[pretrained_model].label_names or None
    else:
        names = source.label_names
    if names is None:
        names = next((tuple(each) for each in usual_names if len(each) == source.n_class), None)
    return source._replace(label_names=names)
