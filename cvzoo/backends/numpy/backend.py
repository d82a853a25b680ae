"""NumPy's kernels, the reference: they run wherever NumPy runs, for every dtype that NumPy can compute with.

`AbstractBackend` documents each kernel; a file's `__all__` lists those that it defines.
"""

import numpy as np

from cvzoo.backends.numpy.arithmetic import *
from cvzoo.backends.numpy.batch_norm_relu import *
from cvzoo.backends.numpy.bfloat16 import *
from cvzoo.backends.numpy.chain import *
from cvzoo.backends.numpy.concat import *
from cvzoo.backends.numpy.conv import *
from cvzoo.backends.numpy.detection import *
from cvzoo.backends.numpy.eltwise import *
from cvzoo.backends.numpy.finite import *
from cvzoo.backends.numpy.focal_loss import *
from cvzoo.backends.numpy.indexing import *
from cvzoo.backends.numpy.loss import *
from cvzoo.backends.numpy.matmul import *
from cvzoo.backends.numpy.memory import *
from cvzoo.backends.numpy.normalization import *
from cvzoo.backends.numpy.pooling import *
from cvzoo.backends.numpy.quantized import *
from cvzoo.backends.numpy.random_numbers import *
from cvzoo.backends.numpy.resize import *
from cvzoo.backends.numpy.roi import *
from cvzoo.backends.numpy.softmax import *
from cvzoo.backends.numpy.transfer import *

name = "numpy"
xp = np
