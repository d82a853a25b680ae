"""Whether a recorded method is being run."""

import threading


class Outermost(threading.local):
    """Of this thread. What such a method calls is a part of it, and is neither recorded nor replayed by itself."""

    busy = False


outermost = Outermost()
