"""Residual blocks that begin as if they were not there."""

from cvzoo.autodiff.parameter import Parameter
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.link import Link
from cvzoo.links.model.resnet.block import BasicBlock, Bottleneck


def zero_last_gamma(model: Link) -> int:
    """How many blocks there are. Each now gives relu(shortcut(x)): its last factors are 0, and learn from there.

    model: a link with residual blocks somewhere in it, such as a ResNet that is to be trained from random numbers
    Raises ValueRangeError if there is no such block, or one is normalized by factors that do not learn.
    Source: Goyal et al., "Accurate, Large Minibatch SGD", 2017, section 5.1.
    """
    n_block = 0
    for link in model.links():
        if isinstance(link, BasicBlock | Bottleneck):
            last = link.conv2 if isinstance(link, BasicBlock) else link.conv3
            if not isinstance(last.bn.gamma, Parameter):
                raise ValueRangeError("zero_last_gamma: the factors would stay 0", expected='norm="batch" or "group"')
            last.bn.gamma.array[...] = 0
            n_block += 1
    if not n_block:
        raise ValueRangeError(f"zero_last_gamma: {type(model).__name__} has no residual block")
    return n_block
