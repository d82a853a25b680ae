"""ImageNet's statistics of RGB."""

import numpy as np

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
# of values in [0, 255], in float32
MEAN_OF_255 = 255 * np.array(IMAGENET_MEAN, np.float32)
STD_OF_255 = 255 * np.array(IMAGENET_STD, np.float32)
# the same as headers of model files have them
FACTS_OF_255 = (("mean", (123.675, 116.28, 103.53)), ("std", (58.395, 57.12, 57.375)))
