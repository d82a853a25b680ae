"""Publishers' names in the DeepLabs and the FCNs, and ours."""

from collections.abc import Mapping

from cvzoo.links.model.mobilenet_v3.names import extractor_places
from cvzoo.links.model.mobilenet_v3.rows import network_plan
from cvzoo.links.model.pretrained.names import Names, Rule, place_of
from cvzoo.links.model.resnet.names import resnet_place

_FCN_HEAD = {"0": "conv/conv", "1": "conv/bn", "4": "out"}
_DEEPLAB_HEAD = {
    "0.convs.0.0": "aspp/near/conv",
    "0.convs.0.1": "aspp/near/bn",
    **{f"0.convs.{i}.0": f"aspp/atrous/{i - 1}/conv" for i in (1, 2, 3)},
    **{f"0.convs.{i}.1": f"aspp/atrous/{i - 1}/bn" for i in (1, 2, 3)},
    "0.convs.4.1": "aspp/whole/conv",
    "0.convs.4.2": "aspp/whole/bn",
    "0.project.0": "aspp/project/conv",
    "0.project.1": "aspp/project/bn",
    "1": "conv/conv",
    "2": "conv/bn",
    "4": "out",
}
_AUX_HEAD = {f"aux_classifier.{theirs}": f"aux/{ours}" for theirs, ours in _FCN_HEAD.items()}
_DEEPLAB_MARK = "classifier.0.convs.0.0.weight"
_MOBILENET_MARK = "backbone.0.0.weight"
# of gluon-cv's modules, also in a PSPNet; the first that fits the whole name counts
_GLUON = (
    (r"conv1\.([036])", lambda m: f"backbone/layers/conv1/{int(m[1]) // 3}/conv"),
    (r"conv1\.([14])", lambda m: f"backbone/layers/conv1/{int(m[1]) // 3}/bn"),
    (r"bn1", "backbone/layers/conv1/2/bn"),
    (r"layer(\d)\.(\d+)\.conv(\d)", lambda m: f"backbone/layers/res{int(m[1]) + 1}/{m[2]}/conv{m[3]}/conv"),
    (r"layer(\d)\.(\d+)\.bn(\d)", lambda m: f"backbone/layers/res{int(m[1]) + 1}/{m[2]}/conv{m[3]}/bn"),
    (r"layer(\d)\.(\d+)\.downsample\.0", lambda m: f"backbone/layers/res{int(m[1]) + 1}/{m[2]}/shortcut/conv"),
    (r"layer(\d)\.(\d+)\.downsample\.1", lambda m: f"backbone/layers/res{int(m[1]) + 1}/{m[2]}/shortcut/bn"),
    (r"head\.aspp\.concurent\.0\.0", "head/aspp/near/conv"),
    (r"head\.aspp\.concurent\.0\.1", "head/aspp/near/bn"),
    (r"head\.aspp\.concurent\.([123])\.0", lambda m: f"head/aspp/atrous/{int(m[1]) - 1}/conv"),
    (r"head\.aspp\.concurent\.([123])\.1", lambda m: f"head/aspp/atrous/{int(m[1]) - 1}/bn"),
    (r"head\.aspp\.concurent\.4\.gap\.1", "head/aspp/whole/conv"),
    (r"head\.aspp\.concurent\.4\.gap\.2", "head/aspp/whole/bn"),
    (r"head\.aspp\.project\.0", "head/aspp/project/conv"),
    (r"head\.aspp\.project\.1", "head/aspp/project/bn"),
    (r"head\.psp\.conv(\d)\.0", lambda m: f"head/ppm/{int(m[1]) - 1}/conv"),
    (r"head\.psp\.conv(\d)\.1", lambda m: f"head/ppm/{int(m[1]) - 1}/bn"),
    (r"head\.block\.0", "head/conv/conv"),
    (r"head\.block\.1", "head/conv/bn"),
    (r"head\.block\.4", "head/out"),
    (r"auxlayer\.block\.0", "aux/conv/conv"),
    (r"auxlayer\.block\.1", "aux/conv/bn"),
    (r"auxlayer\.block\.4", "aux/out"),
)


def gluon_place(module: str) -> str | None:
    """Our path of a module of gluon-cv's segmenters; None: none."""
    return place_of(module, _GLUON)


def _torchvision(head: Mapping[str, str], *marks: str) -> Names:
    modules = {f"classifier.{theirs}": f"head/{ours}" for theirs, ours in head.items()} | _AUX_HEAD
    if _MOBILENET_MARK in marks:
        plan = network_plan("large", dilated=True)
        return Names(marks=marks, modules=modules | extractor_places(plan, theirs="backbone", ours="backbone/layers"))

    def place_of(module: str) -> str | None:
        if module in modules or not module.startswith("backbone."):
            return modules.get(module)
        place = resnet_place(module.removeprefix("backbone."))
        return None if place is None else place.replace("extractor/", "backbone/layers/", 1)

    return Names(marks=marks, modules=place_of)


# of DeepLabV3 and FCN
NAMES = {
    "gluon-cv": Names(marks=("head.block.4.weight",), modules=gluon_place),
    "torchvision DeepLabV3 on MobileNetV3": _torchvision(_DEEPLAB_HEAD, _DEEPLAB_MARK, _MOBILENET_MARK),
    "torchvision DeepLabV3": _torchvision(_DEEPLAB_HEAD, _DEEPLAB_MARK),
    "torchvision FCN on MobileNetV3": _torchvision(_FCN_HEAD, _MOBILENET_MARK),
    "torchvision FCN": _torchvision(_FCN_HEAD),
}
# what is left over by one line is looked at by the next
_V3_PLUS: tuple[Rule, ...] = (
    (r"/middleflow_block(\d+)/", lambda match: f"/middleflow/{int(match[1]) - 1}/"),
    (r"^aspp/atrous(\d)/", lambda match: f"aspp/atrous/{int(match[1]) - 1}/"),
    (r"/(depthwise|pointwise)/W$", r"/\1/conv/W"),
    (r"/dw_bn/", "/depthwise/bn/"),
    (r"/pw_bn/", "/pointwise/bn/"),
)
V3_PLUS_NAMES = {"chainercv": Names(marks=(), rules=_V3_PLUS)}
