"""The RegNets of the paper, by name and cost."""

from functools import partial

from cvzoo.links.model.regnet.regnet import RegNet
from cvzoo.links.model.variant import classifier_variant

RegNetX400MF = classifier_variant("RegNetX400MF", partial(RegNet, "x_400mf"), "A `RegNet` X of 400 MF")
RegNetX800MF = classifier_variant("RegNetX800MF", partial(RegNet, "x_800mf"), "A `RegNet` X of 800 MF")
RegNetX1_6GF = classifier_variant("RegNetX1_6GF", partial(RegNet, "x_1_6gf"), "A `RegNet` X of 1.6 GF")
RegNetX3_2GF = classifier_variant("RegNetX3_2GF", partial(RegNet, "x_3_2gf"), "A `RegNet` X of 3.2 GF")
RegNetX8GF = classifier_variant("RegNetX8GF", partial(RegNet, "x_8gf"), "A `RegNet` X of 8 GF")
RegNetX16GF = classifier_variant("RegNetX16GF", partial(RegNet, "x_16gf"), "A `RegNet` X of 16 GF")
RegNetX32GF = classifier_variant("RegNetX32GF", partial(RegNet, "x_32gf"), "A `RegNet` X of 32 GF")
RegNetY400MF = classifier_variant("RegNetY400MF", partial(RegNet, "y_400mf"), "A `RegNet` Y of 400 MF")
RegNetY800MF = classifier_variant("RegNetY800MF", partial(RegNet, "y_800mf"), "A `RegNet` Y of 800 MF")
RegNetY1_6GF = classifier_variant("RegNetY1_6GF", partial(RegNet, "y_1_6gf"), "A `RegNet` Y of 1.6 GF")
RegNetY3_2GF = classifier_variant("RegNetY3_2GF", partial(RegNet, "y_3_2gf"), "A `RegNet` Y of 3.2 GF")
RegNetY8GF = classifier_variant("RegNetY8GF", partial(RegNet, "y_8gf"), "A `RegNet` Y of 8 GF")
RegNetY16GF = classifier_variant("RegNetY16GF", partial(RegNet, "y_16gf"), "A `RegNet` Y of 16 GF")
RegNetY32GF = classifier_variant("RegNetY32GF", partial(RegNet, "y_32gf"), "A `RegNet` Y of 32 GF")
RegNetY128GF = classifier_variant("RegNetY128GF", partial(RegNet, "y_128gf"), "A `RegNet` Y of 128 GF")
