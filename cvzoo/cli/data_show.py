"""`cvzoo data show`: draws images of a data set with their annotations in a grid."""

import argparse
import random
import sys
from collections.abc import Iterator, Sequence

import numpy as np

from cvzoo.cli.check_target import check_target
from cvzoo.cli.data_spec_argument import spec_of
from cvzoo.cli.main import in_words
from cvzoo.cli.progress import Progress
from cvzoo.cli.result_table import printable
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, Box
from cvzoo.datasets.layouts.decimals import finite
from cvzoo.datasets.layouts.read import read_annotated_set
from cvzoo.errors.exceptions import ConfigError, CvzooError
from cvzoo.geometry.polygons_to_rle import polygons_to_rle
from cvzoo.geometry.rle import RLEs
from cvzoo.images.read_image import read_image
from cvzoo.images.write_image import image_format, write_image
from cvzoo.reporting.counted import counted
from cvzoo.transforms.resize import resize
from cvzoo.transforms.scale import scaled_size
from cvzoo.typing.aliases import Image, Mask, Size
from cvzoo.visualizations.contact_sheet import contact_sheet
from cvzoo.visualizations.draw_bbox import draw_bbox
from cvzoo.visualizations.draw_mask import draw_mask
from cvzoo.visualizations.draw_point import draw_point


def run(args: argparse.Namespace) -> int:
    """Returns 0, or 1 if images could not be read. Raises CvzooError or OSError if there is nothing to draw."""
    check_target(args.out)
    image_format(args.out)
    annotated = read_annotated_set(spec_of(args))
    absent = [image.name for image in annotated.images if image.path is None]
    if absent:
        words = f"{counted(len(absent), 'image is', 'images are')} missing or outside of the data set"
        print(f"cvzoo data show: {words}: {printable(absent[0])}{' ...' if len(absent) > 1 else ''}", file=sys.stderr)
    chosen = _chosen(annotated.images, args)
    names = annotated.used_names()
    progress = Progress(None if args.quiet else sys.stderr, total=len(chosen))
    imgs, captions, n_bad = [], [], 0
    try:
        for image in chosen:
            try:
                imgs.append(_drawn(image, names, args))
                captions.append(f"{image.name} ({len(image.objects)})")
            except (CvzooError, OSError) as error:
                n_bad += 1
                progress.clear()
                print(f"cvzoo data show: {printable(image.name)}: {in_words(error).splitlines()[0]}", file=sys.stderr)
            progress.step()
    finally:
        progress.clear()
    if not imgs:
        raise ConfigError(f"{args.spec} contains no image to draw", hint="cvzoo data check")
    write_image(contact_sheet(imgs, captions, columns=args.columns, side=args.side), args.out)
    print(f"{printable(args.out)}: {len(imgs)} of {counted(len(annotated.images), 'image')}")
    return 1 if n_bad else 0


def _chosen(images: Sequence[AnnotatedImage], args: argparse.Namespace) -> list[AnnotatedImage]:
    chosen = [image for image in images if image.path is not None]
    if args.names:
        chosen = [image for image in chosen if image.name in args.names]
    if args.classes:
        classes = set(args.classes)
        known = {each.name for image in images for each in image.objects}
        if classes - known:
            raise ConfigError(f"the data set has no object of class {', '.join(sorted(classes - known))}")
        chosen = [image for image in chosen if any(each.name in classes for each in image.objects)]
    if args.first or len(chosen) <= args.n:
        return chosen[: args.n]
    picked = set(random.Random(args.seed).sample(range(len(chosen)), args.n))
    return [image for i, image in enumerate(chosen) if i in picked]


def _drawn(image: AnnotatedImage, names: tuple[str, ...], args: argparse.Namespace) -> Image:
    """The downscaled image with its annotations, which are drawn after scaling, since lines would become thinner."""
    if image.path is None:
        raise ConfigError(f"{image.name}: the image does not exist")
    img = read_image(image.path)
    size = img.shape[1], img.shape[2]
    small = min(scaled_size(size, long=args.side), size)
    scale = small[0] / size[0], small[1] / size[1]
    if not args.no_masks:
        masked = [(mask, each) for each in image.objects for mask in _masks(each, size)]
        if masked:
            labels = np.array([_label(each, names) for _, each in masked])
            img = draw_mask(img, np.stack([mask for mask, _ in masked]), labels)
    img = resize(img, small)
    boxed = [(each, each.bbox) for each in image.objects if each.bbox is not None and finite(each.bbox)]
    if boxed and not args.no_boxes:
        bbox = np.array([_ordered(box) for _, box in boxed], np.float32) * np.array([*scale, *scale], np.float32)
        label = np.array([_label(each, names) for each, _ in boxed])
        img = draw_bbox(img, bbox, label, label_names=(*names, "?"))
    if not args.no_points:
        for each in image.objects:
            if each.points and finite(each.points):
                xyv = np.array(each.points, np.float32).reshape(1, -1, 3)
                img = draw_point(img, xyv[:, :, [1, 0]] * np.array(scale, np.float32), xyv[:, :, 2] > 0)
    return img


def _masks(each: AnnotatedObject, size: Size) -> Iterator[Mask]:
    try:
        if each.rle is not None:
            mask = RLEs.from_coco([each.rle]).to_masks()[0]
            if mask.shape == size:
                yield mask
        elif each.polygons and "text" not in each.extra:
            yield polygons_to_rle([[list(polygon) for polygon in each.polygons]], size).to_masks()[0]
    except CvzooError:
        return  # `cvzoo data check` reports it


def _label(each: AnnotatedObject, names: tuple[str, ...]) -> int:
    return names.index(each.name) if each.name is not None else len(names)


def _ordered(bbox: Box) -> Box:
    y_min, x_min, y_max, x_max = bbox
    return min(y_min, y_max), min(x_min, x_max), max(y_min, y_max), max(x_min, x_max)
