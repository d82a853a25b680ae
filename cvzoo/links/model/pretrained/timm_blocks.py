"""timm's names in the blocks of mobile networks, and ours."""

from collections.abc import Iterator

TIMM_MARKS = ("conv_stem.weight",)
TIMM_AROUND = {
    "conv_stem": "extractor/stem/conv",
    "bn1": "extractor/stem/bn",
    "conv_head": "extractor/last/conv",
    "bn2": "extractor/last/bn",
    "classifier": "fc",
}
_ROLES = {
    True: (("conv_pw", "bn1", "expand"), ("conv_dw", "bn2", "depthwise"), ("conv_pwl", "bn3", "project")),
    False: (("conv_dw", "bn1", "depthwise"), ("conv_pw", "bn2", "project")),
}


def timm_places(theirs: str, ours: str, *, expand: bool, excite: bool) -> Iterator[tuple[str, str]]:
    """(timm's name of a module, our path) of an `InvertedResidual`.

    theirs, ours: of the block, such as "blocks.2.0" and "extractor/blocks/3"
    """
    for conv, norm, role in _ROLES[expand]:
        yield f"{theirs}.{conv}", f"{ours}/{role}/conv"
        yield f"{theirs}.{norm}", f"{ours}/{role}/bn"
    if excite:
        yield f"{theirs}.se.conv_reduce", f"{ours}/se/fc1"
        yield f"{theirs}.se.conv_expand", f"{ours}/se/fc2"
