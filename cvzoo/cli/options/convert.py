"""`cvzoo convert`: convert a checkpoint of another library to a model file, with a certificate."""

import argparse

from cvzoo.cli.model_options import add_darknet_arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Converts a checkpoint (file of weights) of torchvision, timm, gluon-cv, detectron2, ChainerCV or darknet that "
        "fits a model of the zoo to a self-describing model file, and writes a certificate: what became of each array, "
        "with which rounding error, and how much the outputs of both files differ on the same image."
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="the checkpoint; no code in it is executed")
    parser.add_argument("--to", required=True, metavar="OUT.safetensors", help="the file to write")
    parser.add_argument("--model", metavar="NAME", help="a model of `cvzoo models`; default: detected from FILE")
    parser.add_argument("--half", action="store_true", help="store weights of layers in float16: half the size")
    parser.add_argument("--certificate", metavar="FILE", help="path of the certificate (OUT.certificate.json)")
    add_darknet_arguments(parser.add_argument_group("darknet models"))
