"""Worker process of a cluster, which executes calls of other processes until the cluster ends.

The example joins a cluster, and returns when the cluster has ended:

    serve("ts://127.0.0.1:4711", "worker0", options, reconnect_timeout=60.0)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from ts.distributed.rpc import api, state
from ts.distributed.rpc.cluster_membership import ClusterWorkerDirectory
from ts.distributed.rpc.options import RpcBackendOptions
from ts.runtime.limits import limits as Limits

RECONNECT_TIMEOUT_SECONDS: Final = 60.0  # a worker exits if it cannot reach the scheduler for this time


def make_limits(**bounds: float | str | None) -> Limits | None:
    """Return the `Limits` with bounds `seconds`, `bytes` and `fuel`, or None if all bounds are None."""
    limit_arguments: dict[str, Any] = {name: bound for name, bound in bounds.items() if bound is not None}
    return Limits(**limit_arguments) if limit_arguments else None


def join(
    address: str, name: str, options: RpcBackendOptions, reconnect_timeout: float = RECONNECT_TIMEOUT_SECONDS
) -> ClusterWorkerDirectory:
    """Join a cluster as a worker and return the directory of cluster members."""
    create_directory = functools.partial(
        ClusterWorkerDirectory, address, name, options, kind="worker", rejoin_timeout=reconnect_timeout
    )
    members = api.start_agent(create_directory, options).directory
    assert isinstance(members, ClusterWorkerDirectory)
    return members


def serve(
    address: str,
    name: str,
    options: RpcBackendOptions,
    reconnect_timeout: float = RECONNECT_TIMEOUT_SECONDS,
    joined: Callable[[str], None] = lambda name: None,
) -> None:
    """Run a cluster worker until the cluster ends.

    `joined` is called with the worker's name after registration. Raise RuntimeError if the scheduler does not
    admit the worker, or is unavailable for more than `reconnect_timeout` seconds.
    """
    members = join(address, name, options, reconnect_timeout)
    try:
        joined(members.info.name)
        members.membership_ended.wait()
        if members.error is not None:
            raise members.error
    finally:
        if state.agent is not None:  # a called function may have shut down RPC
            api.shutdown(graceful=False)
