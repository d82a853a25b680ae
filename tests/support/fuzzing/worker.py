"""The program that the parent starts: it runs cases of all targets."""

import sys

from fuzzing.child import main
from fuzzing.targets import TARGETS

if __name__ == "__main__":
    main(sys.argv[1:], TARGETS)
