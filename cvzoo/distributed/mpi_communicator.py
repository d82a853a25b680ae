"""The communicator over MPI, by mpi4py."""

from cvzoo.distributed.abstract_mpi_communicator import AbstractMPICommunicator


class MPICommunicator(AbstractMPICommunicator):
    """The communicator over MPI: any MPI that mpi4py finds, the wheel `mpich` or a cluster's own.

    See `create_communicator`. Arrays on a GPU are sent through the CPU's memory.
    Raises MissingExtraError without mpi4py.
    """
