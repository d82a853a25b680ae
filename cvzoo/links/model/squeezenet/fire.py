"""Fire: a narrow layer, then a wide one."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.uniform import HeUniform
from cvzoo.links.chain import Chain
from cvzoo.links.connection.conv_2d_activ import Conv2DActiv


class Fire(Chain):
    """1 x 1 to `squeeze` channels, then 1 x 1 and 3 x 3 side by side to `expand` channels each; relu after all.

    Source: Iandola et al., SqueezeNet, 2016, section 3.2.
    """

    def __init__(self, in_channels: int, squeeze: int, expand: int):
        start = HeUniform()
        with self.init_scope():
            self.squeeze = Conv2DActiv(in_channels, squeeze, 1, initialW=start)
            self.expand1 = Conv2DActiv(squeeze, expand, 1, initialW=start)
            self.expand3 = Conv2DActiv(squeeze, expand, 3, 1, 1, initialW=start)

    def forward(self, x: Any) -> Variable:
        """(B, 2 * expand, H, W) of x (B, in_channels, H, W)."""
        h = self.squeeze(x)
        return F.concat((self.expand1(h), self.expand3(h)), axis=1)
