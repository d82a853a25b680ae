"""torchvision's and timm's names in an EfficientNet, and ours."""

from collections.abc import Mapping

from cvzoo.links.model.efficientnet.variants import Plan
from cvzoo.links.model.inverted_residual import sequential_places
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.timm import TIMM_AROUND, TIMM_MARKS, timm_places


def torchvision_places(plan: Plan) -> dict[str, str]:
    """Our path of each module of torchvision's."""
    places = {"features.0.0": "extractor/stem/conv", "features.0.1": "extractor/stem/bn"}
    for s, stage in enumerate(plan.stages):
        for i in range(stage.count):
            theirs, ours = f"features.{s + 1}.{i}.block", f"extractor/stages/{s}/{i}"
            if stage.fused:
                for k, role in enumerate(("expand", "project") if stage.factor > 1 else ("expand",)):
                    places.update({f"{theirs}.{k}.0": f"{ours}/{role}/conv", f"{theirs}.{k}.1": f"{ours}/{role}/bn"})
            else:
                places.update(sequential_places(theirs, ours, expand=stage.factor > 1, excite=True))
    last = f"features.{len(plan.stages) + 1}"
    return {**places, f"{last}.0": "extractor/last/conv", f"{last}.1": "extractor/last/bn", "classifier.1": "fc"}


def timm_efficientnet_places(plan: Plan) -> dict[str, str]:
    """Our path of each module of timm's, which has the stages without fused blocks."""
    places = dict(TIMM_AROUND)
    for s, stage in enumerate(plan.stages):
        for i in range(stage.count):
            block = f"blocks.{s}.{i}", f"extractor/stages/{s}/{i}"
            places.update(timm_places(*block, expand=stage.factor > 1, excite=True))
    return places


def efficientnet_names(plan: Plan) -> Mapping[str, Names]:
    """Publisher -> its names in a network of this plan."""
    return {
        "timm": Names(marks=TIMM_MARKS, modules=timm_efficientnet_places(plan)),
        "torchvision": Names(marks=(), modules=torchvision_places(plan)),
    }
