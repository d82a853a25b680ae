"""All that is fuzzed."""

from fuzzing.dataset_targets import TARGETS as DATA_SETS
from fuzzing.evaluation_targets import TARGETS as EVALUATORS
from fuzzing.image_targets import TARGETS as IMAGES
from fuzzing.kernel_targets import TARGETS as KERNELS
from fuzzing.weights_targets import TARGETS as WEIGHTS

TARGETS = (*WEIGHTS, *DATA_SETS, *IMAGES, *EVALUATORS, *KERNELS)
