"""`cvzoo data show rendered:N`: a contact sheet of rendered documents, which lie in no folder."""

import argparse
import random

import numpy as np

from cvzoo.datasets.rendered.rendered_documents import RenderedDocuments
from cvzoo.errors.exceptions import ConfigError
from cvzoo.images.write_image import write_image
from cvzoo.transforms.resize import resize
from cvzoo.transforms.scale import scaled_size
from cvzoo.visualizations.contact_sheet import contact_sheet
from cvzoo.visualizations.draw_bbox import draw_bbox


def show_rendered(spec: str, args: argparse.Namespace) -> int:
    """0. Draws of the documents that `spec` names, rendered:N or rendered:N,seed=S, what `cvzoo data show` was told.

    Raises ConfigError for another spec or for a choice of classes or names, OSError.
    """
    dataset = _rendered(spec)
    if args.classes or args.names:
        raise ConfigError(
            f"{spec}: rendered documents have one class and no files", hint="leave --classes, --names out"
        )
    n = min(args.n, len(dataset))
    chosen = range(n) if args.first else sorted(random.Random(args.seed).sample(range(len(dataset)), n))
    imgs, captions = [], []
    for i in chosen:
        img, bbox, _, name = dataset[i]
        size = img.shape[1:]
        small = min(scaled_size(size, long=args.side), size)
        img = resize(img, small)
        if not args.no_boxes and len(bbox):
            scale = np.array([small[0] / size[0], small[1] / size[1]] * 2, np.float32)
            img = draw_bbox(img, bbox * scale)  # one class: its name would only hide the text
        imgs.append(img)
        captions.append(f"{name} ({len(bbox)})")
    write_image(contact_sheet(imgs, captions, columns=args.columns, side=args.side), args.out)
    print(f"{args.out}: {len(imgs)} of {len(dataset)} photos")
    return 0


def _rendered(spec: str) -> RenderedDocuments:
    n, comma, option = spec.removeprefix("rendered:").partition(",")
    key, _, seed = option.partition("=")
    if not n.isdecimal() or int(n) < 1 or (comma and (key != "seed" or not seed.isdecimal())):
        raise ConfigError(f"{spec}: how many documents?", expected="rendered:N or rendered:N,seed=S", got=spec)
    return RenderedDocuments(int(n), seed=int(seed or 0))
