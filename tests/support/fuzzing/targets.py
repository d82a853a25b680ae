"""All that is fuzzed."""

from fuzzing.weights_targets import TARGETS as WEIGHTS

TARGETS = (*WEIGHTS,)
