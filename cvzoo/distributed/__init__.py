"""Training on several processes: communicators over MPI, and what a training needs on them."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.distributed import functions
    from cvzoo.distributed.batch_normalization import MultiNodeBatchNormalization, create_mnbn_model
    from cvzoo.distributed.communicator import AbstractCommunicator
    from cvzoo.distributed.create_communicator import create_communicator
    from cvzoo.distributed.create_multi_node_evaluator import create_multi_node_evaluator
    from cvzoo.distributed.create_multi_node_optimizer import create_multi_node_optimizer
    from cvzoo.distributed.except_hook import global_except_hook
    from cvzoo.distributed.launching.accumulation import accumulation_steps, planned_ranks
    from cvzoo.distributed.mpi_communicator import MPICommunicator
    from cvzoo.distributed.multi_node_chain_list import MultiNodeChainList
    from cvzoo.distributed.multi_node_iterator import MultiNodeIterator, create_multi_node_iterator
    from cvzoo.distributed.nccl_communicator import NCCLCommunicator
    from cvzoo.distributed.null_communicator import NullCommunicator
    from cvzoo.distributed.scatter_dataset import create_synchronized_iterator, scatter_batches, scatter_dataset
    from cvzoo.distributed.scattered_dataset import ScatteredDataset
    from cvzoo.distributed.simulation.allreduce import Cluster
    from cvzoo.distributed.simulation.scaling import Prediction, Workload, predict_scaling

__all__ = [
    "AbstractCommunicator",
    "accumulation_steps",
    "Cluster",
    "create_communicator",
    "create_mnbn_model",
    "create_multi_node_evaluator",
    "create_multi_node_iterator",
    "create_multi_node_optimizer",
    "create_synchronized_iterator",
    "functions",
    "global_except_hook",
    "MPICommunicator",
    "MultiNodeBatchNormalization",
    "MultiNodeChainList",
    "MultiNodeIterator",
    "NCCLCommunicator",
    "NullCommunicator",
    "planned_ranks",
    "predict_scaling",
    "Prediction",
    "scatter_batches",
    "scatter_dataset",
    "ScatteredDataset",
    "Workload",
]

import_on_demand(__name__)
