"""Classifiers compute what torchvision's do for a photo of an odd size, their numbers read from a file.

odd_sizes.json: the first scores of torchvision 0.29.2 for `seeded_photo("odd:" + name, 97, 131)`, their spread and
their maximum; the numbers are those that seeded_weights.py makes of each tensor's name.
"""

import json
import pathlib

import numpy as np
import pytest

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.links.model.alexnet.alexnet import AlexNet
from cvzoo.links.model.convnext.convnext import ConvNeXtTiny
from cvzoo.links.model.densenet.densenet import DenseNet121
from cvzoo.links.model.efficientnet.efficientnet import EfficientNetB0
from cvzoo.links.model.googlenet.googlenet import GoogLeNet
from cvzoo.links.model.googlenet.inception_v3 import InceptionV3
from cvzoo.links.model.mnasnet.mnasnet import MNASNet0_5
from cvzoo.links.model.mobilenet_v2.mobilenet_v2 import MobileNetV2
from cvzoo.links.model.mobilenet_v3.mobilenet_v3 import MobileNetV3Small
from cvzoo.links.model.regnet.regnet import RegNetX400MF, RegNetY400MF
from cvzoo.links.model.resnet.resnet import ResNet18, ResNeXt50_32x4d, WideResNet50_2
from cvzoo.links.model.shufflenet_v2.shufflenet_v2 import ShuffleNetV2X0_5
from cvzoo.links.model.squeezenet.squeezenet import SqueezeNet1_0, SqueezeNet1_1
from cvzoo.links.model.swin.swin import SwinT

STORED = json.loads(pathlib.Path(__file__).with_name("odd_sizes.json").read_text())
NETWORKS = {
    "alexnet": AlexNet,
    "convnext_tiny": ConvNeXtTiny,
    "densenet121": DenseNet121,
    "efficientnet_b0": EfficientNetB0,
    "googlenet": GoogLeNet,
    "inception_v3": InceptionV3,
    "mnasnet0_5": MNASNet0_5,
    "mobilenet_v2": MobileNetV2,
    "mobilenet_v3_small": MobileNetV3Small,
    "regnet_x_400mf": RegNetX400MF,
    "regnet_y_400mf": RegNetY400MF,
    "resnet18": ResNet18,
    "resnext50_32x4d": ResNeXt50_32x4d,
    "shufflenet_v2_x0_5": ShuffleNetV2X0_5,
    "squeezenet1_0": SqueezeNet1_0,
    "squeezenet1_1": SqueezeNet1_1,
    "swin_t": SwinT,
    "wide_resnet50_2": WideResNet50_2,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_the_scores_are_torchvision_s(shared, seeds, tmp_path, name):
    # what follows from a window's size is no weight, and files may lack it
    arrays = {key: a for key, a in seeds.seeded_network(shared, name).items() if "relative_position_index" not in key}
    path = tmp_path / "file.npz"
    np.savez(path, **arrays)
    model = NETWORKS[name](pretrained_model=path)
    assert model.n_class == 1000
    with using_config("train", False), no_backprop_mode():
        y = model(seeds.seeded_photo(f"odd:{name}", 97, 131)[None]).array[0]
    want = STORED[name]
    np.testing.assert_allclose(y[:8], want["first8"], atol=1e-4 * want["std"])
    assert y.argmax() == want["argmax"]
