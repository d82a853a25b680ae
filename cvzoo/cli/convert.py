"""`cvzoo convert FILE --to OUT.safetensors`: somebody else's weights into a model file, with a certificate."""

import argparse
import pathlib

from cvzoo.cli.foreign_model import darknet_file, darknet_model, foreign_model
from cvzoo.cli.json_records import write_json
from cvzoo.cli.result_table import printable
from cvzoo.errors.exceptions import ConfigError
from cvzoo.serializers.convert_weights import convert_weights


def run(args: argparse.Namespace) -> int:
    """0. Raises ConfigError if it is not clear what the file is, WeightsMismatchError if it does not fit."""
    to = pathlib.Path(args.to)
    if to.suffix.lower() != ".safetensors":
        raise ConfigError("--to must end in .safetensors, by which other commands know a model file", got=args.to)
    beside = pathlib.Path(args.certificate) if args.certificate else to.with_suffix(".certificate.json")
    darknet = darknet_file(args, args.file)
    source = args.file if darknet is None else darknet
    if darknet is not None and args.model is not None:
        raise ConfigError("--cfg and --model are two ways to say which model it is", hint="one of them")
    _keep_apart(pathlib.Path(source), to, beside)
    foreign = foreign_model(source, args.model) if darknet is None else darknet_model(args)
    certificate = convert_weights(source, to, foreign.load, why=foreign.why, half=args.half)
    write_json(certificate, beside)
    _print(certificate, to, beside)
    return 0


def _keep_apart(source: pathlib.Path, to: pathlib.Path, beside: pathlib.Path) -> None:
    """ConfigError if one of the three files would take another's place, or the certificate has no folder to go to."""
    for option, path, others in (("--to", to, (source,)), ("--certificate", beside, (source, to))):
        if path.resolve() in [other.resolve() for other in others]:
            raise ConfigError(f"{option} {path} would take the place of another of the files", hint="another name")
    if not beside.parent.is_dir():
        raise ConfigError(f"--certificate {beside}: there is no such folder")


def _print(certificate: dict, to: pathlib.Path, beside: pathlib.Path) -> None:
    model, outputs = certificate["model"], certificate["outputs"]
    kinds = ", ".join(f"{n} {kind}" for kind, n in certificate["counts"].items())
    eps = ", ".join(f"{value:g}" for value in model["normalization_eps"])
    lines = [
        ("source", f"{printable(certificate['source']['file'])}, sha256 {certificate['source']['sha256'][:16]}..."),
        ("model", f"{model['class']}, {model['n_parameter']:,} parameters; the file {model['why']}"),
        ("arrays", kinds + (f"; {len(certificate['dropped'])} counters dropped" if certificate["dropped"] else "")),
        ("normalization", f"eps {eps}" if eps else "no batch normalization"),
        ("numbers", f"differ by at most {certificate['greatest_difference']:.3g}"),
        ("outputs", f"on one photo differ by at most {outputs['greatest_difference']:.3g}"),
        ("written", f"{printable(str(to))}, {certificate['result']['size'] / 1e6:.1f} MB"),
        ("certificate", printable(str(beside))),
    ]
    for name, value in lines:
        print(f"{name:<13}  {value}")
