"""`cvzoo simulate`: predicts the speed-up of training on many GPUs and machines."""

import argparse
import dataclasses
from typing import Any, NamedTuple

from cvzoo.cli.check_target import check_target
from cvzoo.cli.json_records import as_json, write_json
from cvzoo.cli.load_predictor import means_file, named_model
from cvzoo.cli.options.simulate import WIRE_DTYPES
from cvzoo.cli.result_table import printable
from cvzoo.cli.zoo_member import zoo_member
from cvzoo.distributed.simulation.allreduce import Cluster
from cvzoo.distributed.simulation.calibration import calibrate
from cvzoo.distributed.simulation.interconnect import INSIDE_A_NODE, network
from cvzoo.distributed.simulation.model_size import n_trained_parameter, training_flops, untrained_model
from cvzoo.distributed.simulation.scaling import Prediction, Workload, cluster_sizes, predict_scaling
from cvzoo.errors.exceptions import ConfigError
from cvzoo.links.chain import Chain
from cvzoo.links.model.families import zoo_members
from cvzoo.reporting.counted import counted
from cvzoo.training.recipes.listing import RECIPES

_RATE = 50e12  # operations per second: about half of an A100's in mixed precision for convolutional networks
_RECIPE_CLASSES = 20  # classes of a recipe's model: a user's own data set


class _Model(NamedTuple):
    """What is trained: its name, number of parameters, operations of an image; 0 if they are not needed."""

    name: str
    n_parameter: int
    flops: int


def run(args: argparse.Namespace) -> int:
    """Returns 0. Raises ConfigError if neither a model nor a number of parameters is given, or for a bad link."""
    check_target(args.json)
    between = network(
        args.link,
        efficiency=args.link_efficiency,
        latency=None if args.latency is None else args.latency * 1e-6,
    )
    cluster = Cluster(args.nodes, args.gpus, INSIDE_A_NODE[args.inside], between)
    model = _model(args)
    workload = _workload(args, model, cluster)
    predictions = [predict_scaling(each, workload, algorithm=args.algorithm) for each in cluster_sizes(cluster)]
    assumptions = _assumptions(args, model, workload, cluster)
    record = {
        "model": model.name,
        "n_parameter": model.n_parameter,
        "cluster": dataclasses.asdict(cluster) | {"size": cluster.size},
        "workload": dataclasses.asdict(workload),
        "assumptions": assumptions,
        "predictions": [_record(each) for each in predictions],
        "reason": predictions[-1].reason(),
    }
    if args.json is not None:
        if args.json == "-":
            print(as_json(record, indent=2).decode())
            return 0
        write_json(record, args.json)
    _print(record, predictions)
    return 0


def _model(args: argparse.Namespace) -> _Model:
    if (args.model is None) == (args.parameters is None):
        raise ConfigError("one of --model and --parameters must be given", hint="cvzoo simulate --model resnet50")
    if args.step_seconds is not None and args.flops is not None:
        raise ConfigError("--step-seconds and --flops cannot be combined")
    if args.parameters is not None:
        if args.step_seconds is None:
            raise ConfigError(
                "--parameters needs the time of a step, which cannot be estimated", hint="--step-seconds S"
            )
        return _Model(f"{args.parameters:,} parameters", args.parameters, 0)
    name, model = _named(args.model)
    flops = training_flops(model, tuple(args.size)) if args.step_seconds is None else 0
    return _Model(name, n_trained_parameter(model), flops)


def _named(name: str) -> tuple[str, Chain]:
    """The model of `--model` with its full name; of the zoo and of recipes with random weights."""
    if means_file(name):
        return name, named_model(name, None)
    members = [member for member in zoo_members() if member.name == name or member.name.startswith(f"{name}_")]
    if name in RECIPES and not members:
        recipe = dataclasses.replace(RECIPES[name], pretrained=None)
        return name, recipe.build_model([f"class {i}" for i in range(_RECIPE_CLASSES)])
    member = min(members, key=lambda each: each.name != name) if members else zoo_member(name)
    return member.name, member.make() if not member.files else untrained_model(member)


def _workload(args: argparse.Namespace, model: _Model, cluster: Cluster) -> Workload:
    rate = _RATE if args.flops is None else args.flops
    workload = Workload(
        args.step_seconds or model.flops * args.batch_size / rate,
        model.n_parameter * WIRE_DTYPES[args.wire_dtype],
        jitter=args.jitter,
        overlap=args.overlap,
        bucket_bytes=round(args.bucket_mb * (1 << 20)),
    )
    if args.measured is None:
        return workload

    def of_size(n: int) -> Cluster:
        if n > cluster.per_node and n % cluster.per_node:
            raise ConfigError(f"--measured: {n} ranks are not whole nodes of {cluster.per_node}")
        return dataclasses.replace(cluster, n_node=max(1, n // cluster.per_node), per_node=min(n, cluster.per_node))

    return calibrate(workload, args.measured, of_size, algorithm=args.algorithm)


def _assumptions(args: argparse.Namespace, model: _Model, workload: Workload, cluster: Cluster) -> list[str]:
    """What the numbers rest on, a sentence each."""
    if args.step_seconds is not None:
        step = "as given"
    else:
        rate = _RATE if args.flops is None else args.flops
        step = (
            f"estimated from {model.flops / 1e9:.3g} GFLOP per image, forward and backward, "
            f"{counted(args.batch_size, 'image')} "
            f"and {rate / 1e12:g} TFLOP/s; --step-seconds replaces it by a measured one"
        )
    when = "after the backward pass, in one message"
    if workload.overlap:
        when = (
            f"in {counted(workload.n_bucket, 'bucket')} of up to {workload.bucket_bytes / (1 << 20):g} MiB during the "
            f"last {workload.overlap:.0%} of the step, which they do not slow down"
        )
    fitted = "" if args.measured is None else "fitted to --measured: "
    links = [f"ranks of a node are connected by {cluster.inside.name}, {_gigabytes(cluster.inside.bandwidth)}"]
    if cluster.n_node > 1:
        links.append(
            f"nodes are connected by {cluster.between.name}, of which an allreduce reaches "
            f"{_gigabytes(cluster.between.bandwidth)}; {cluster.between.ring_latency * 1e6:g} us per step of a ring, "
            f"{cluster.between.tree_latency * 1e6:g} us per level of a tree"
        )
    return [
        f"a step of one rank takes {_time(workload.step_seconds)}, {step}",
        f"each rank has its own batch, so that the whole batch grows with the ranks; {model.n_parameter:,} gradients "
        f"are sent in {args.wire_dtype}, {workload.nbytes / 1e6:.1f} MB, {when}",
        *links,
        f"{fitted}step times of ranks vary by {workload.jitter:.2%} (standard deviation), and each step waits for the "
        f"slowest; {_time(workload.fixed_seconds)} of fixed costs per step",
        "reading data is not a bottleneck; switches carry the full bandwidth between all nodes",
    ]


def _record(one: Prediction) -> dict[str, Any]:
    derived = ("step", "speedup", "efficiency", "hidden")
    return {**one._asdict(), **{name: getattr(one, name) for name in derived}}


def _gigabytes(bandwidth: float) -> str:
    return f"{bandwidth / 1e9:.3g} GB/s"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.4g} ms"


def _print(record: dict[str, Any], predictions: list[Prediction]) -> None:
    last = predictions[-1]
    n_node = counted(last.n_node, "node")
    print(f"{printable(record['model'])} on {counted(last.n_rank, 'GPU')} of {n_node}")
    one_node = max((each for each in predictions if each.n_node == 1), key=lambda each: each.n_rank)
    print(f"  speed-up    {last.speedup:.5g}, efficiency {last.efficiency:.1%} of one GPU", end="")
    print(f", {last.efficiency / one_node.efficiency:.1%} of one node" if last.n_node > 1 else "")
    parts = ((last.compute, "compute"), (last.wait, "wait"), (last.exposed, "communication"), (last.fixed, "fixed"))
    words = " + ".join(f"{seconds * 1e3:.4g} {name}" for seconds, name in parts if seconds or name == "compute")
    print(f"  step        {_time(last.step)} = {words}")
    if last.communication:
        print(
            f"  allreduce   {_time(last.communication)} by {last.algorithm}, {last.hidden:.0%} of it hidden behind the "
            "backward pass"
        )
    print(f"  reason      {record['reason']}")
    print(
        f"\n  {'GPUs':>6} {'nodes':>6} {'speed-up':>9} {'efficiency':>11} {'wait ms':>9} {'comm. ms':>9} {'hidden':>7}"
    )
    for each in predictions:
        hidden = f"{each.hidden:.0%}" if each.communication else "-"
        print(
            f"  {each.n_rank:>6} {each.n_node:>6} {each.speedup:>9.5g} {each.efficiency:>11.1%} "
            f"{each.wait * 1e3:>9.3g} {each.communication * 1e3:>9.3g} {hidden:>7}"
        )
    print("\nassumptions")
    for each in record["assumptions"]:
        print(f"  - {each}")
