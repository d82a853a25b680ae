"""Magic numbers at the beginning of weight files."""

MXNET_MAGIC = 0x112
TORCH_MAGIC = 0x1950A86A20F9469CFC6C  # of files before torch 1.6, pickled
