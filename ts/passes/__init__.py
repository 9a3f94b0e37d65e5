"""Passes, which are transformations of graphs.

A pass belongs to a pipeline (`pipelines`), to specialization, or to another pass. The subpackages `freezing`
and `tracing` contain the passes of these features. The subpackage `pytorch` contains passes that run on
request. Modules of subpackages are also attributes of the package, such as `ts.passes.loop_unrolling`.
"""

import importlib
from types import ModuleType
from typing import Final

MODULES_OF_SUBPACKAGES: Final = {
    "freezing": "concat_frozen_linear freeze frozen_conv_folding frozen_linear_folding remove_dropout",
    "pytorch": (
        "batch_mm canonicalize_graph_fuser_ops decompose_ops erase_number_types fuse_addmm fuse_linear"
        " fuse_relu guards if_hoisting inplace_activations lint loop_unrolling lower_executor_nodes"
        " peel_loops refine_tuple_types remove_inplace_ops remove_mutation specialize_autogradzero"
    ),
    "tracing": "remove_expands trace_scopes",
}


def __getattr__(name: str) -> ModuleType:
    """Import the module `name` of a subpackage."""
    for package, modules in MODULES_OF_SUBPACKAGES.items():
        if name in modules.split():
            return importlib.import_module(f"ts.passes.{package}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
