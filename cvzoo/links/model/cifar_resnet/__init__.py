"""ResNets for CIFAR (He et al., 2016)."""
