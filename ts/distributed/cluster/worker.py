"""A process of a cluster that does what others ask it to, and nothing else.

serve("ts://127.0.0.1:4711", "worker0", options, patience=60.0)       returns when the cluster has ended
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from ts.distributed.rpc import api, state
from ts.distributed.rpc.cluster_membership import ClusterWorkerDirectory
from ts.distributed.rpc.options import RpcBackendOptions
from ts.runtime.limits import limits as Limits

RECONNECT_TIMEOUT_SECONDS: Final = 60.0  # seconds in which a scheduler that has gone may come back


def bounded(**bounds: float | str | None) -> Limits | None:
    """Limits of a call, of those that are given: seconds, bytes, fuel."""
    given: dict[str, Any] = {name: bound for name, bound in bounds.items() if bound is not None}
    return Limits(**given) if given else None


def join(
    address: str, name: str, options: RpcBackendOptions, patience: float = RECONNECT_TIMEOUT_SECONDS
) -> ClusterWorkerDirectory:
    """Make this process a worker; what is then known of it and others."""
    meet = functools.partial(
        ClusterWorkerDirectory, address, name, options, kind="worker", rejoin_timeout=patience
    )
    members = api.start_agent(meet, options).directory
    assert isinstance(members, ClusterWorkerDirectory)
    return members


def serve(
    address: str,
    name: str,
    options: RpcBackendOptions,
    patience: float = RECONNECT_TIMEOUT_SECONDS,
    joined: Callable[[str], None] = lambda name: None,
) -> None:
    """Be a worker until the cluster has ended. `joined` is told the name when it is one.

    RuntimeError where the scheduler does not let it in, or stays away for longer than `patience` seconds.
    """
    members = join(address, name, options, patience)
    try:
        joined(members.info.name)
        members.over.wait()
        if members.error is not None:
            raise members.error
    finally:
        if state.agent is not None:  # a function that it was asked to run may have left
            api.shutdown(graceful=False)
