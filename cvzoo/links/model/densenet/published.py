"""The DenseNets of the paper, by name."""

from functools import partial

from cvzoo.links.model.densenet.densenet import DenseNet
from cvzoo.links.model.variant import classifier_variant

DenseNet121 = classifier_variant("DenseNet121", partial(DenseNet, 121), "A `DenseNet` of 121 layers")
DenseNet161 = classifier_variant("DenseNet161", partial(DenseNet, 161), "A `DenseNet` of 161 layers")
DenseNet169 = classifier_variant("DenseNet169", partial(DenseNet, 169), "A `DenseNet` of 169 layers")
DenseNet201 = classifier_variant("DenseNet201", partial(DenseNet, 201), "A `DenseNet` of 201 layers")
