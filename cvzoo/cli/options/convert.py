"""`cvzoo convert`: turn somebody else's weights into a model file, with a certificate."""

import argparse

from cvzoo.cli.model_options import add_darknet_arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Reads a file of weights of torchvision, timm, gluon-cv, detectron2, ChainerCV or darknet that fits a model of "
        "the zoo, and writes one file that says what it is. Beside it lies a certificate: what became of each array, "
        "how exactly, and what both files make of the same photo."
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="the weights; read without running anything in them")
    parser.add_argument("--to", required=True, metavar="OUT.safetensors", help="the file to write")
    parser.add_argument("--model", metavar="NAME", help="one that `cvzoo models` lists; without it, FILE is recognised")
    parser.add_argument("--half", action="store_true", help="store filters and matrices in float16: half the size")
    parser.add_argument("--certificate", metavar="FILE", help="where the certificate goes (OUT.certificate.json)")
    add_darknet_arguments(parser.add_argument_group("a network of darknet's files"))
