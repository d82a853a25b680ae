"""Optimization passes that preserve results; each takes a graph and returns the number of changes."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.graph.passes.add_in_place import add_in_place
    from cvzoo.graph.passes.common_subexpressions import common_subexpressions
    from cvzoo.graph.passes.constant_folding import constant_folding
    from cvzoo.graph.passes.dead_records import dead_records
    from cvzoo.graph.passes.fold_batch_normalization import fold_batch_normalization
    from cvzoo.graph.passes.fuse_add_relu_training import fuse_add_relu_training
    from cvzoo.graph.passes.fuse_batch_norm_relu_training import (
        fuse_batch_norm_add_relu_training,
        fuse_batch_norm_relu_training,
    )
    from cvzoo.graph.passes.fuse_convolutions import fuse_convolutions
    from cvzoo.graph.passes.fuse_elementwise import fuse_elementwise
    from cvzoo.graph.passes.fuse_matrix_products import fuse_matrix_products
    from cvzoo.graph.passes.fuse_sums_of_gradients import fuse_sums_of_gradients
    from cvzoo.graph.passes.in_place import in_place
    from cvzoo.graph.passes.keep_nan import keep_nan
    from cvzoo.graph.passes.merge_reorders import merge_reorders
    from cvzoo.graph.passes.recompute import recompute
    from cvzoo.graph.passes.weights_ahead import weights_ahead

__all__ = [
    "add_in_place",
    "common_subexpressions",
    "constant_folding",
    "dead_records",
    "fold_batch_normalization",
    "fuse_add_relu_training",
    "fuse_batch_norm_add_relu_training",
    "fuse_batch_norm_relu_training",
    "fuse_convolutions",
    "fuse_elementwise",
    "fuse_matrix_products",
    "fuse_sums_of_gradients",
    "in_place",
    "keep_nan",
    "merge_reorders",
    "recompute",
    "weights_ahead",
]

import_on_demand(__name__)
