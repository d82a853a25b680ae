"""`python -m cvzoo` is the command `cvzoo`."""

import faulthandler
import os
import signal
import sys

if __name__ == "__main__":
    if os.environ.get("CVZOO_STACKS"):  # of a job in the studio, which is asked for its stacks by this signal
        faulthandler.register(signal.SIGUSR1)
    from cvzoo.cli.main import main

    sys.exit(main())
