"""`python -m cvzoo` is the command `cvzoo`."""

import sys

from cvzoo.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
