"""Process groups, collectives and remote calls, under the names of `torch.distributed`.

In the example, x becomes the sum over all processes, which is bitwise equal in each process:

    init_process_group("gloo", rank=0, world_size=2)
    all_reduce(x)

Modules and functions:

`rpc`, `map` and `cluster` require dask.distributed (the extra `rpc`).
docs/how-to/train-on-several-processes.md describes the differences from PyTorch.
"""

from __future__ import annotations

import importlib
import os
from typing import Any, Final

from ts.distributed.missing_extra import has_rpc_extra, placeholder
from ts.unsupported import names_for

_NAME_TO_MODULE: Final = {
    "errors": "DistBackendError DistError DistNetworkError DistStoreError QueueEmptyError",
    "groups": """
        Backend GroupMember ProcessGroup default_pg_timeout destroy_process_group get_backend
        get_backend_config get_global_rank get_group_rank get_node_local_rank get_pg_count
        get_process_group_ranks get_rank get_world_size group init_process_group
        is_initialized new_group
    """,
    "collectives": """
        all_gather all_gather_coalesced all_gather_into_tensor all_gather_single all_reduce
        all_reduce_coalesced all_to_all all_to_all_single barrier broadcast gather monitored_barrier
        reduce reduce_scatter reduce_scatter_single reduce_scatter_tensor scatter
    """,
    "point_to_point": "P2POp batch_isend_irecv irecv isend recv send",
    "object_collectives": """
        all_gather_object broadcast_object_list gather_object recv_object_list scatter_object_list
        send_object_list
    """,
    "reduce_op": "ReduceOp",
    "rpc.distributed_map": "map",
    "cluster.local": "LocalCluster",
    "cluster.dask_cluster": "on_dask",
    "work": "Work",
}
MODULE_BY_NAME: Final = {
    name: module_name for module_name, names in _NAME_TO_MODULE.items() for name in names.split()
}
_absent = names_for(__name__)


def is_available() -> bool:
    """Return True: the package `ts.distributed` is available on every platform."""
    return True


def is_gloo_available() -> bool:
    """Return True if the backend "gloo", process groups on the CPU, is available."""
    return is_available()


def is_backend_available(backend: str) -> bool:
    """Return True if `backend` is "gloo", the only supported backend, and `ts.distributed` is available."""
    return backend.lower() == "gloo" and is_available()


def is_torchelastic_launched() -> bool:
    """Return True if `ts.distributed.run` started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def __getattr__(name: str) -> Any:
    """Import the module that defines the public name `name` at its first use."""
    module_name = MODULE_BY_NAME.get(name)
    if module_name is None:
        return _absent(name)
    if module_name.startswith("cluster.") and not has_rpc_extra():
        return placeholder(__name__, name)
    attribute = getattr(importlib.import_module(f"ts.distributed.{module_name}"), name)
    globals()[name] = attribute
    return attribute


def __dir__() -> list[str]:
    return sorted({*globals(), *MODULE_BY_NAME})
