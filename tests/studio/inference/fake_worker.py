"""Imitates the process of a model: each message says what to do."""

import os
import sys
import time

from cvzoo.studio.inference.frames import read_frame, write_frame
from cvzoo.studio.worker.parent import end_with_parent

end_with_parent(listens=True)
out = os.fdopen(os.dup(1), "wb")
if sys.argv[1] == "damaged":
    write_frame(out, {"error": "the file is damaged"})
    sys.exit(1)
write_frame(out, {"sandbox": "none"})
while True:
    try:
        asked, payload = read_frame(sys.stdin.buffer)
    except EOFError:
        sys.exit(0)
    if asked["op"] == "die":
        os.kill(os.getpid(), 9)
    if asked["op"] == "fail":
        out.close()
        sys.exit(3)
    if asked["op"] == "hang":
        time.sleep(60)
    if asked["op"] == "refuse":
        write_frame(out, {"error": "no image", "is_image": True})
    elif asked["op"] == "lie":
        out.write(b"not a message at all")
        out.flush()
    else:
        write_frame(out, {"pid": os.getpid(), "words": sys.argv[1:], "n_byte": len(payload)}, payload[::-1])
