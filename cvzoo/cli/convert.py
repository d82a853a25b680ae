"""`cvzoo convert FILE --to OUT.safetensors`: converts a checkpoint of another library, with a certificate."""

import argparse
import pathlib

from cvzoo.cli.foreign_model import darknet_file, darknet_model, foreign_model
from cvzoo.cli.json_records import write_json
from cvzoo.cli.result_table import printable
from cvzoo.errors.exceptions import ConfigError
from cvzoo.reporting.counted import counted
from cvzoo.serializers.convert_weights import convert_weights


def run(args: argparse.Namespace) -> int:
    """Returns 0. Raises ConfigError if the file is not recognized, WeightsMismatchError if it does not fit."""
    to = pathlib.Path(args.to)
    if to.suffix.lower() != ".safetensors":
        raise ConfigError("--to must end in .safetensors, the extension of model files", got=args.to)
    beside = pathlib.Path(args.certificate) if args.certificate else to.with_suffix(".certificate.json")
    darknet = darknet_file(args, args.file)
    source = args.file if darknet is None else darknet
    if darknet is not None and args.model is not None:
        raise ConfigError("--cfg and --model exclude each other", hint="one of them")
    _keep_apart(pathlib.Path(source), to, beside)
    foreign = foreign_model(source, args.model) if darknet is None else darknet_model(args)
    certificate = convert_weights(source, to, foreign.load, why=foreign.why, half=args.half)
    write_json(certificate, beside)
    _print(certificate, to, beside)
    return 0


def _keep_apart(source: pathlib.Path, to: pathlib.Path, beside: pathlib.Path) -> None:
    """Raises ConfigError if one of the three files would overwrite another, or the certificate's folder is missing."""
    for option, path, others in (("--to", to, (source,)), ("--certificate", beside, (source, to))):
        if path.resolve() in [other.resolve() for other in others]:
            raise ConfigError(f"{option} {path} would overwrite another of the files", hint="another name")
    if not beside.parent.is_dir():
        raise ConfigError(f"--certificate {beside}: the folder does not exist")


def _print(certificate: dict, to: pathlib.Path, beside: pathlib.Path) -> None:
    model, outputs = certificate["model"], certificate["outputs"]
    kinds = ", ".join(f"{n} {kind}" for kind, n in certificate["counts"].items())
    eps = ", ".join(f"{value:g}" for value in model["normalization_eps"])
    lines = [
        ("source", f"{printable(certificate['source']['file'])}, sha256 {certificate['source']['sha256'][:16]}..."),
        ("model", f"{model['class']}, {counted(model['n_parameter'], 'parameter', spec=',')}; the file {model['why']}"),
        (
            "arrays",
            kinds + (f"; {counted(len(certificate['dropped']), 'counter')} dropped" if certificate["dropped"] else ""),
        ),
        ("normalization", f"eps {eps}" if eps else "no batch normalization"),
        ("numbers", f"differ by at most {certificate['greatest_difference']:.3g}"),
        ("outputs", f"on one image differ by at most {outputs['greatest_difference']:.3g}"),
        ("written", f"{printable(str(to))}, {certificate['result']['size'] / 1e6:.1f} MB"),
        ("certificate", printable(str(beside))),
    ]
    for name, value in lines:
        print(f"{name:<13}  {value}")
