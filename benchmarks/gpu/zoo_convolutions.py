"""Write down every convolution of every network of the zoo: `zoo_convolutions.py OUT.json`.

Each network is built with random weights and predicts one image, while convolutions and matrix products only say what
they were asked: nothing is computed, nothing is fetched, the whole zoo takes some minutes on one core. Sizes are those
of an image of 480 x 640 pixels as the network's own preparation makes it.
"""

import argparse
import json
import sys
import time
import warnings

import numpy as np

from cvzoo.backends.numpy.windows import out_size
from cvzoo.backends.onednn import backend as onednn_backend
from cvzoo.config.switches import no_backprop_mode
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.families import zoo_members

seen: dict[tuple, set[str]] = {}
now = ""


def _zeros(b, c, size):
    return np.zeros((b, *size, c), np.float32).transpose(0, 3, 1, 2)


def conv_2d(x, w, b, *, stride, pad, dilate, groups, **rest):
    """Zeros, written down."""
    key = ("forward", x.shape, w.shape, tuple(x.shape[2:]), stride, pad, dilate, groups, b is not None)
    seen.setdefault(key, set()).add(now)
    return _zeros(x.shape[0], w.shape[0], out_size(x.shape[2:], w.shape[2:], stride, pad, dilate))


def conv_2d_input_grad(gy, w, x_size, *, stride, pad, dilate, groups, add=None):
    """Zeros, written down."""
    key = ("input_grad", gy.shape, w.shape, tuple(x_size), stride, pad, dilate, groups, False)
    seen.setdefault(key, set()).add(now)
    return _zeros(gy.shape[0], w.shape[1] * groups, x_size)


def linear(x, w, b, *, pack=None):
    """Zeros."""
    return np.zeros((x.shape[0], w.shape[0]), np.float32)


def untrained(member, plans):
    """The member's network without its weights. plans: {name: a Darknet plan's file} of those that are built by one."""
    make = member.make
    if member.name in plans:
        return DarknetDetector(plans[member.name])
    if not member.files:  # it ships with the package
        return make()
    settings = {**make.keywords, "pretrained_model": None} if make.keywords else {}
    arguments = make.args if make.keywords else (None, *make.args[1:])
    classes = len(member.weights.label_names or ()) or 20
    for more in ({}, {"n_class": classes}, {"n_fg_class": classes}):
        try:
            return make.func(*arguments, **{**settings, **more})
        except Exception as error:
            last = error
    raise last


def main():
    """Walk through the zoo."""
    global now
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--only", default="", help="members with this in their names")
    parser.add_argument("--cfg", action="append", default=[], metavar="MEMBER=FILE", help="a Darknet plan")
    arguments = parser.parse_args()
    plans = dict(each.split("=", 1) for each in arguments.cfg)
    warnings.simplefilter("ignore")
    onednn_backend.conv_2d = conv_2d
    onednn_backend.conv_2d_input_grad = conv_2d_input_grad
    onednn_backend.linear = linear
    img = np.random.default_rng(0).integers(0, 255, (3, 480, 640)).astype(np.float32)
    built, failed = {}, {}
    for member in zoo_members():
        if arguments.only not in member.name:
            continue
        make = member.make
        what = repr((getattr(make, "func", make), getattr(make, "args", ()), {
            key: value for key, value in getattr(make, "keywords", {}).items() if key != "pretrained_model"
        }))  # fmt: skip
        if what in built:
            for names in seen.values():
                if built[what] in names:
                    names.add(member.name)
            continue
        now = built[what] = member.name
        start = time.perf_counter()
        try:
            model = untrained(member, plans)
            with no_backprop_mode():
                model.predict([img])
        except Exception as error:
            failed[member.name] = f"{type(error).__name__}: {error}"
        print(f"{member.name:50s} {time.perf_counter() - start:5.1f} s  {len(seen)}", file=sys.stderr, flush=True)
    members = sorted({name for names in seen.values() for name in names})
    lines = [json.dumps([*key, len(names)], separators=(",", ":")) for key, names in seen.items()]
    with open(arguments.out, "w", encoding="utf-8") as file:
        file.write('{"columns": ["kind", "x", "w", "size", "stride", "pad", "dilate", "groups", "bias", "members"],\n')
        file.write(f'"members": {json.dumps(members)},\n"rows": [\n')
        file.write(",\n".join(lines) + "\n]}\n")
    print(f"{len(lines)} convolutions of {len(built)} networks, {len(failed)} failed: {failed}")


if __name__ == "__main__":
    main()
