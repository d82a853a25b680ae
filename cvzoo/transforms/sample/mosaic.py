"""Four photos in one."""

import dataclasses

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.sample.join import instances_of_all
from cvzoo.transforms.sample.moves import crop_sample
from cvzoo.transforms.sample.sample import settle


def mosaic(samples, size, *, center_range=(0.25, 0.75), fill=0, return_param=False, rng=None):
    """Four samples around one point of a new photo, each cut where it meets the others or the edge.

    samples: four, of photos with as many channels and the same dtype: top left, top right, bottom left, bottom right.
        Resize them before to the scale in which they shall appear
    size: (H, W) of the new photo, at least (2, 2)
    center_range: where the point lies, in parts of height and width
    fill: what shows where a photo is smaller than its quarter, one number or one a channel
    rng: where to draw from; None is this thread's generator
    Returns a Sample with the instances of all four, and of each field only if all four know it; with return_param also
    a dictionary of center, (y, x).
    Raises ShapeError if there are not four samples or the new photo is too small.

    Source: Bochkovskiy et al., "YOLOv4: Optimal Speed and Accuracy of Object Detection", 2020, section 3.3.
    """
    size = as_size(size)
    if len(samples) != 4 or min(size) < 2:
        raise ShapeError("a mosaic is of four samples, at least (2, 2)", got=f"{len(samples)} samples, {size}")
    rng = as_rng(rng)
    center = tuple(min(max(int(side * rng.uniform(*center_range)), 1), side - 1) for side in size)
    parts, quarters = [], []
    for index, sample in enumerate(samples):
        lower_right = divmod(index, 2)
        edges = zip(lower_right, center, size)
        quarter = [slice(point, side) if far else slice(0, point) for far, point, side in edges]
        lengths = [each.stop - each.start for each in quarter]
        # the corner of the sample that is nearest to the point lies on it
        starts = [0 if far else own - length for far, own, length in zip(lower_right, sample.size, lengths)]
        cut = _seen(sample, starts, lengths, fill)
        parts.append(_seen(cut, [-each.start for each in quarter], size, fill))
        quarters.append(tuple(quarter))
    img = parts[0].img.copy()
    has_map = all(part.label_map is not None for part in parts)
    label_map = parts[0].label_map.copy() if has_map else None
    for part, (rows, columns) in zip(parts, quarters):
        img[:, rows, columns] = part.img[:, rows, columns]
        if has_map:
            label_map[rows, columns] = part.label_map[rows, columns]
    joined = dataclasses.replace(parts[0], img=img, label_map=label_map, **instances_of_all(parts))
    return (joined, {"center": center}) if return_param else joined


def _seen(sample, starts, lengths, fill):
    y_slice, x_slice = (slice(start, start + length) for start, length in zip(starts, lengths))
    return settle(crop_sample(sample, y_slice=y_slice, x_slice=x_slice, fill=fill))
