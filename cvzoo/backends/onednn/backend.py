"""The optimized CPU backend: oneDNN where it is faster, NumPy for the rest.

What each does says `AbstractBackend`; a file's `__all__` names those that it holds.
"""

import numpy as np

from cvzoo.backends.numpy.backend import *  # first, for what oneDNN does not do
from cvzoo.backends.onednn.batch_norm_relu import *
from cvzoo.backends.onednn.bfloat16 import *
from cvzoo.backends.onednn.chain import *
from cvzoo.backends.onednn.concat import *
from cvzoo.backends.onednn.conv import *
from cvzoo.backends.onednn.eltwise import *
from cvzoo.backends.onednn.loss import *
from cvzoo.backends.onednn.matmul import *
from cvzoo.backends.onednn.memory import *
from cvzoo.backends.onednn.normalization import *
from cvzoo.backends.onednn.pooling import *
from cvzoo.backends.onednn.quantized import *
from cvzoo.backends.onednn.resize import *
from cvzoo.backends.onednn.softmax import *

name = "onednn"
xp = np
