"""What each rank of `cvzoo doctor --mpi` executes: an allreduce with a known sum, and the speed of the link."""

import json
import sys
import time
from collections.abc import Callable

import numpy as np

from cvzoo.distributed.abstract_mpi_communicator import import_mpi

_LARGE = 25_000_000 // 4  # elements of float32, 25 MB
_ROUNDS, _LARGE_ROUNDS = 200, 5


def main() -> None:
    """Prints the result of rank 0 as JSON, with the times of the fastest round."""
    mpi = import_mpi()
    comm = mpi.COMM_WORLD
    array = np.full(_LARGE, comm.rank + 1, np.float32)
    comm.Allreduce(mpi.IN_PLACE, array)
    is_right = bool((array == comm.size * (comm.size + 1) / 2).all())
    small, large = np.zeros(1, np.float32), array

    def exchange(data: np.ndarray) -> None:
        """From the first rank to the last, and back."""
        if comm.rank == 0:
            comm.Send(data, comm.size - 1)
            comm.Recv(data, comm.size - 1)
        elif comm.rank == comm.size - 1:
            comm.Recv(data, 0)
            comm.Send(data, 0)

    def fastest(act: Callable[[], None], rounds: int) -> float:
        seconds = []
        for _ in range(rounds):
            comm.Barrier()
            begun = time.perf_counter()
            act()
            seconds.append(time.perf_counter() - begun)
        return min(seconds)

    array[...] = 0
    result = {
        "size": comm.size,
        "is_right": is_right,
        "library": " ".join(mpi.Get_library_version().split("\n")[0].strip("\0").split()),
        "latency_seconds": fastest(lambda: exchange(small), _ROUNDS) / 2,
        "bandwidth": large.nbytes / (fastest(lambda: exchange(large), _LARGE_ROUNDS) / 2),
        "allreduce_bytes": large.nbytes,
        "allreduce_seconds": fastest(lambda: comm.Allreduce(mpi.IN_PLACE, array), _LARGE_ROUNDS),
    }
    if comm.rank == 0:
        print(json.dumps(result))
    if not is_right:
        sys.exit(f"error: the sum of {comm.size} ranks is wrong: {array[:3]} ...")


if __name__ == "__main__":
    main()
