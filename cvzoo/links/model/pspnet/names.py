"""ChainerCV's and gluon-cv's names in a PSPNet, and ours."""

from cvzoo.links.model.deeplab.names import gluon_place
from cvzoo.links.model.pretrained.names import Names, Rule

_CHAINERCV: tuple[Rule, ...] = (
    (r"^extractor/conv1_(\d)/", lambda match: f"extractor/conv1/{int(match[1]) - 1}/"),
    (r"^extractor/(res\d)/a/", r"extractor/\1/0/"),
    (r"^extractor/(res\d)/b(\d+)/", r"extractor/\1/\2/"),
    (r"/residual_conv/", "/shortcut/"),
)
# our names in a DeepLab -> those in a PSPNet
_OF_DEEPLAB: tuple[Rule, ...] = (
    (r"^backbone/layers/", "extractor/"),
    (r"^head/ppm/", "ppm/"),
    (r"^head/conv/", "head_conv1/"),
    (r"^head/out/", "head_conv2/"),
    (r"^aux/conv/", "aux_conv1/"),
    (r"^aux/out/", "aux_conv2/"),
)
NAMES = {
    "gluon": Names(marks=("head.psp.conv1.0.weight",), modules=gluon_place, rules=_OF_DEEPLAB),
    "chainercv": Names(marks=(), rules=_CHAINERCV),
}
# of a file of the backbone alone, whose classifier a segmenter has no use for
BACKBONE_NAMES = {
    "chainercv": Names(
        marks=(),
        rules=[(r"^(?!extractor/)", "extractor/"), *_CHAINERCV],
        drop=("extractor/fc6/",),
        only=("extractor/",),
    )
}
