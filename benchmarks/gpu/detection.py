"""`predict()` of detectors on a GPU, end to end from images of 8 bits on the host to boxes there, against torchvision.

    python benchmarks/gpu/detection.py --out result.json [--models retinanet_resnet50_fpn ...] [--batches 1 8]

Ours is `model.compile()` and `model.predict(images)`, in 16 bits (--dtype); "ours float32" the same in true float32.
torchvision is run as its documentation shows, images going to the GPU as they are and becoming float32 there, eager:
"torchvision" under autocast in the same 16 bits, weights channels-last; "torchvision TF32" without autocast. Both have
the same numbers, seeded by torchvision's names of the tensors, and its thresholds; both wait for their boxes on the
host. The clock is the host's. YOLO has no counterpart there and is measured alone.

`parity`: the share of torchvision's boxes in float32, of each image's best hundred, of which ours in float32 has one
with an IoU over 0.95 and a score within 0.1. Ours leaves out the eleven classes that COCO has numbers for and no names,
which random weights give their share of a softmax; and such weights make many boxes that score alike, of which rounding
may choose others: it need not be 1.
"""

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
from bench import begin, gpu, in_turn, optional, parser, scratch, seeded_file, torch_device, wall_milliseconds

import cvzoo
import cvzoo.links as L
from cvzoo.config.switches import using_config
from cvzoo.geometry.bbox_iou import bbox_iou
from cvzoo.links.model.raw_outputs import seeded_photo
from cvzoo.links.model.retinanet.config import RetinaNetSettings

SIZE = (480, 640)
MODELS: dict[str, Callable[..., Any]] = {
    "retinanet_resnet50_fpn": L.retinanet_resnet50_fpn,
    "fasterrcnn_resnet50_fpn": L.FasterRCNNFPNResNet50,
    "ssd300_vgg16": L.SSD300,
    "yolov3": L.YOLOv3,
}
ALONE = ("yolov3",)
NAMELESS = (12, 26, 29, 30, 45, 66, 68, 69, 71, 83, 91)  # torchvision's labels of classes that no photo has


def our_model(name: str, file: pathlib.Path | None, quick: bool) -> Any:
    """On the GPU, by the file's numbers or, without one, by random ones, which find little."""
    cvzoo.set_seed(0)
    if quick and file is None:
        narrow = RetinaNetSettings(n_layer=10, base_channels=16, channels=16, head_depth=1, min_size=64, max_size=96)
        model = L.RetinaNet(4, settings=narrow)
        model.score_thresh, model.limit = 0.002, 50
        return model.to_device("gpu:0")
    model = MODELS[name](n_fg_class=20) if file is None else MODELS[name](pretrained_model=file)
    if isinstance(model, L.AbstractThresholds):
        model.use_preset("evaluate")
    return model.to_device("gpu:0")


class Rival:
    """torchvision's detector."""

    def __init__(self, name: str, folder: pathlib.Path, torchvision: Any):
        import torch
        from torchvision.models import detection

        self.torch = torch
        torch.backends.cudnn.benchmark = True
        self.model = vars(detection)[name](weights=None, weights_backbone=None).eval()
        self.file = seeded_file(folder, name, self.model)
        if name != "ssd300_vgg16":
            detection._utils.overwrite_eps(self.model, 0.0)
        self.model.to(torch_device(), memory_format=torch.channels_last)

    def predict(self, imgs: list[np.ndarray], mode: str) -> list[dict[str, np.ndarray]]:
        """Boxes of each image (3, H, W) uint8, on the host."""
        torch = self.torch
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = mode != "float32"
        kind = {"mixed_bf16": torch.bfloat16, "mixed_fp16": torch.float16}.get(mode)
        with torch.inference_mode(), torch.autocast(torch_device(), kind or torch.bfloat16, enabled=kind is not None):
            photos = [torch.from_numpy(img).to(torch_device(), non_blocking=True).float() / 255 for img in imgs]
            found = self.model(photos)
        return [{key: value.float().cpu().numpy() for key, value in each.items()} for each in found]


def share_found(ours: Any, theirs: list[dict[str, np.ndarray]]) -> float | None:
    """Of torchvision's best boxes, how many ours has; None if there are none."""
    hits: list[bool] = []
    for bbox, score, each in zip(ours.bboxes, ours.scores, theirs):
        named = ~np.isin(each["labels"], NAMELESS)
        wanted, scores = each["boxes"][named][:100, [1, 0, 3, 2]], each["scores"][named][:100, None]
        if not len(wanted):
            continue
        if not len(bbox):
            hits += [False] * len(wanted)
            continue
        near = np.abs(scores - score) < 0.1
        hits += ((bbox_iou(wanted, bbox) > 0.95) & near).any(1).tolist()
    return round(float(np.mean(hits)), 4) if hits else None


def measure(name: str, arguments: Any, folder: pathlib.Path, report: Any) -> None:
    """One detector."""
    size = (48, 64) if arguments.quick else SIZE
    torchvision = None if name in ALONE else optional("torchvision")
    theirs = None if torchvision is None else Rival(name, folder, torchvision)
    file = None if theirs is None else theirs.file
    ours = {mode: our_model(name, file, arguments.quick) for mode in dict.fromkeys((arguments.dtype, "float32"))}
    sets = [[seeded_photo(size, 10 * k + i).astype(np.uint8) for i in range(max(arguments.batches))] for k in range(3)]

    def predict(mode: str, photos: list[np.ndarray]) -> Any:
        with using_config("dtype", mode), using_config("autotune", not arguments.quick):
            return ours[mode].predict(photos, batch_size=len(photos))

    if theirs is not None:
        exact = [share_found(predict("float32", photos), theirs.predict(photos, "float32")) for photos in sets[:1]]
        report.add({"case": f"{name} parity", "share": exact[0], "photos": len(sets[0])})
    for batch in arguments.batches:
        row: dict[str, Any] = {"case": name, "batch": batch, "size": size, "dtype": arguments.dtype}
        few = [photos[:batch] for photos in sets]
        for mode, model in ours.items():
            model.uncompile()
            model.compile()
            for _ in range(2 if arguments.quick else 4):  # recorded when a shape comes again
                found = predict(mode, few[0])
        row["boxes"] = [len(each) for each in found.bboxes]
        rivals = {"ours": [lambda photos=photos: predict(arguments.dtype, photos) for photos in few]}
        if theirs is not None:
            rivals["torchvision"] = [lambda photos=photos: theirs.predict(photos, arguments.dtype) for photos in few]
            rivals["torchvision TF32"] = [lambda photos=photos: theirs.predict(photos, "tf32") for photos in few]
        if arguments.dtype != "float32":
            rivals["ours float32"] = [lambda photos=photos: predict("float32", photos) for photos in few]
        rounds, count = (1, 1) if arguments.quick else (7, 6)
        row["rivals"] = in_turn(rivals, rounds=rounds, count=count, clock=wall_milliseconds)
        for each in row["rivals"].values():
            each["photos/s"] = round(1e3 * batch / each["median_ms"], 1)
        report.add(row)


def main() -> None:
    """Measure and print."""
    made = parser(__doc__)
    made.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    made.add_argument("--batches", type=int, nargs="+")
    made.add_argument("--dtype", choices=("float32", "tf32", "mixed_fp16", "mixed_bf16"), default="mixed_bf16")
    arguments = made.parse_args()
    arguments.batches = arguments.batches or ([1] if arguments.quick else [1, 8])
    arguments.models = arguments.models[:1] if arguments.quick else arguments.models
    report = begin("Detectors' predict() on a GPU", arguments)
    gpu()
    with scratch() as place:
        report.try_each(arguments.models, lambda name: measure(name, arguments, pathlib.Path(place), report))


if __name__ == "__main__":
    main()
