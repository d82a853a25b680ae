"""`cvzoo predict`: run inference on images or videos: objects, masks, keypoints, label maps, classes."""

import argparse

from cvzoo.cli.model_options import add_inference_arguments, add_model_arguments
from cvzoo.cli.option_values import color_words, frame_range, positive, words

FORMATS = ("coco", "voc", "yolo", "labelme", "csv")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Runs inference on images: image classification, object detection, instance segmentation, keypoint detection "
        "or semantic segmentation. Prints a table, and with --out writes images or videos with the predictions drawn, "
        "and JSON."
    )
    parser.epilog = (
        "exit status: 0 all images done; 1 some could not be read (they are listed at the end); 2 cannot run; "
        "130 interrupted (143: by SIGTERM), with complete results for finished images and frames"
    )
    parser.add_argument(
        "photos",
        nargs="+",
        metavar="IMAGE",
        help="a file, a folder with those below, a glob in quotes ('photos/**/*.jpg'), an http(s) URL, a video, the "
        "number of a camera or a stream (rtsp://...) until Ctrl-C, or - for a list of them on standard input",
    )
    parser.add_argument(
        "--frames",
        type=frame_range,
        metavar="A:B:STEP",
        help="frames of videos: from A to before B, every STEP-th, each optional (default: all)",
    )
    parser.add_argument("--frame-step", type=positive, metavar="N", help="every Nth frame of videos: --frames ::N")
    add_model_arguments(parser)
    group = parser.add_argument_group("output")
    group.add_argument(
        "--out",
        metavar="DIR",
        help="write a .json and an image with the predictions per image, an .mp4 per video, and results.jsonl",
    )
    group.add_argument(
        "--save-format",
        choices=FORMATS,
        help="write the images with the predictions as annotations, a data set, to DIR/FORMAT; csv: DIR/results.csv",
    )
    group.add_argument("--save-frames", action="store_true", help="write frames of videos as images, not as a video")
    group.add_argument(
        "--crop", action="store_true", help="write the image of each detected object to DIR/crops/CLASS/NAME_NUMBER.jpg"
    )
    group.add_argument(
        "--crop-masks", action="store_true", help="the same as .png, transparent outside of the object's mask"
    )
    group.add_argument(
        "--classes", type=words, metavar="NAMES", help="only objects (or pixels) of these classes, comma-separated"
    )
    group.add_argument("--no-draw", action="store_true", help="write only JSON, no images")
    group.add_argument(
        "--json-lines", metavar="FILE", help="write all results to this file, one line per image; - for standard output"
    )
    group.add_argument("--batch-size", type=positive, default=1, metavar="N", help="images per batch (default: 1)")
    add_inference_arguments(group)
    group.add_argument("--quiet", action="store_true", help="print errors only, no table and no progress")
    group = parser.add_argument_group("drawing")
    group.add_argument("--line-width", type=positive, metavar="N", help="pixels (default: scaled with the image)")
    group.add_argument(
        "--colors",
        type=color_words,
        metavar="COLORS",
        help="by class (person=red,car=#ff8800), or in order of the classes (red,lime,#0000ff); voc: VOC's colors",
    )
    group.add_argument("--no-labels", action="store_true", help="draw no class names")
    group.add_argument("--no-scores", action="store_true", help="draw no scores")
