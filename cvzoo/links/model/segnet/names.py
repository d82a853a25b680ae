"""ChainerCV's names in a SegNet, and ours: its normalizations lie beside their convolutions, ours inside of layers."""

from cvzoo.links.model.pretrained.names import Names

NAMES = {
    "chainercv": Names(
        marks=(),
        rules=[
            (r"^(conv\d|conv_decode\d)/W$", r"\1/conv/W"),
            (r"^(conv\d|conv_decode\d)_bn/", r"\1/bn/"),
        ],
    )
}
