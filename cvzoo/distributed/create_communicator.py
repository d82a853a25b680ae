"""The communicator of this process, by name or by what the launcher's environment says."""

import os
import warnings

from cvzoo.config.switches import switches
from cvzoo.distributed.abstract_mpi_communicator import AbstractMPICommunicator
from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.distributed.except_hook import global_except_hook
from cvzoo.distributed.mpi_communicator import MPICommunicator
from cvzoo.distributed.nccl_communicator import NCCLCommunicator, gpu_of_rank
from cvzoo.distributed.null_communicator import NullCommunicator
from cvzoo.errors.exceptions import BackendError, ValueRangeError

# number of processes by launcher: MPICH's and Intel's, Open MPI's, Slurm's
_SIZES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
# ChainerMN's choices of an algorithm, which MPI libraries make themselves today
_BY_MPI = ("mpi", "naive", "flat", "hierarchical", "two_dimensional", "single_node", "non_cuda_aware")
_BY_NCCL = ("nccl", "pure_nccl")


def create_communicator(name: str = "auto") -> AbstractCommunicator:
    """The communicator of this process.

    name: "auto": "null" without a launcher of several processes; "nccl" if `config.device` is a GPU on all ranks and
        each can have one of its own; else "mpi", with a warning if it is a GPU; "null": one process, needs no package;
        "mpi": MPI; ChainerMN's "naive", "flat", "hierarchical", "two_dimensional", "single_node" and "non_cuda_aware"
        are MPI as well, which chooses the algorithm by itself; "nccl" and ChainerMN's "pure_nccl": arrays on GPUs by
        NCCL, one GPU per rank (`comm.device`), the rest over MPI

    An uncaught error on one rank ends all ranks from then on (`global_except_hook`).
    Raises ValueRangeError for an unknown name, MissingExtraError without mpi4py, BackendError if the launcher belongs
    to another MPI, or if NCCL or a GPU of its own is missing on any rank.
    """
    size = launched_size()
    is_auto = name == "auto"
    if is_auto:
        name = "mpi" if size > 1 else "null"
    if name == "null":
        return NullCommunicator()
    if name not in (*_BY_MPI, *_BY_NCCL):
        raise ValueRangeError(
            f"there is no communicator {name!r}", expected=", ".join(("auto", "null", *_BY_MPI, *_BY_NCCL))
        )
    comm: AbstractMPICommunicator = NCCLCommunicator(name=name) if name in _BY_NCCL else MPICommunicator(name=name)
    if size > 1 and comm.size == 1:
        raise BackendError(
            f"the launcher started {size} processes, but MPI sees one",
            hint="the launcher of the MPI that mpi4py uses: cvzoo launch, or srun --mpi=pmi2",
        )
    if is_auto:
        comm = _by_nccl_if_possible(comm)
    if comm.size > 1:
        global_except_hook(comm)
    return comm


def _by_nccl_if_possible(comm: AbstractMPICommunicator) -> AbstractMPICommunicator:
    """The communicator by NCCL if `config.device` is a GPU on all ranks and each can have its own, else `comm`."""
    if not all(comm.allgather_obj(switches.device.startswith("gpu"))):
        return comm
    try:
        device = gpu_of_rank(comm)
    except BackendError as error:  # the same on all ranks
        if comm.rank == 0:
            reason = str(error).splitlines()[0]
            warnings.warn(f"arrays on GPUs are sent through the CPU's memory: {reason}", RuntimeWarning, stacklevel=3)
        return comm
    comm.close()
    return NCCLCommunicator(name="nccl", device=device)


def launched_size() -> int:
    """The number of processes that a launcher's environment tells of; 1 without a launcher."""
    for variable in _SIZES:
        value = os.environ.get(variable, "")
        if value.isdigit():
            return int(value)
    return 2 if any(name in os.environ for name in ("PMI_RANK", "PMIX_RANK")) else 1
