"""Cluster of `ts` agents inside the worker processes of an existing dask cluster.

The example calls a function in the first worker:

    client = dask.distributed.Client("tcp://scheduler:8786")
    with on_dask(client, threads=4) as cluster:
        cluster.names                                    ["worker0", "worker1", ...]
        rpc.rpc_sync("worker0", scripted, args=(x,))

dask only starts and stops an agent in each worker. Calls use separate connections, authenticated by a secret
of this cluster. Security: every client of dask's scheduler can run arbitrary code in dask's workers.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable
from typing import Any, Final, Self
from urllib.parse import urlsplit

from ts.distributed.cluster import worker
from ts.distributed.cluster.local import LocalCluster
from ts.distributed.rpc import api, state
from ts.distributed.rpc.options import RpcBackendOptions
from ts.distributed.shared_secret import is_local
from ts.distributed.transport.addresses import own_address

SCHEDULER_TIMEOUT_SECONDS: Final = 30.0  # an agent exits if it cannot reach the scheduler for this time


class DaskCluster:
    """RPC agents in all dask workers and in this process, active until `close`."""

    def __init__(
        self, client: Any, name: str, options: dict[str, Any], bounds: dict[str, float | str | None]
    ) -> None:
        self._client = client
        addresses = list(client.scheduler_info(n_workers=-1)["workers"])
        self.names = [f"worker{k}" for k in range(len(addresses))]
        secret = secrets.token_hex(32)
        self._scheduler = LocalCluster(0, host=_local_ip_address(client), secret=secret)
        self.address = self._scheduler.address
        try:
            names = dict(zip(addresses, self.names, strict=True))
            worker_options = {**options, "secret": secret.encode()}
            client.run(_start, self.address, names, worker_options, bounds, workers=addresses)
            self._scheduler.join(name, allow_python=options["allow_python"])
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Stop the agents in dask's workers and in this process, and end the scheduler."""
        try:
            if self._client.status == "running":
                self._client.run(_stop, self.address, on_error="ignore")
        finally:
            self._scheduler.close()

    def __enter__(self) -> Self:
        """Return this cluster."""
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the agents in the workers and shut down RPC in this process."""
        self.close()


def on_dask(
    client: Any,
    *,
    name: str = "program",
    threads: int = 16,
    allow_python: bool = False,
    seconds: float | None = None,
    bytes: int | str | None = None,
    fuel: int | None = None,
    allowed_ops: Iterable[str] | None = None,
) -> DaskCluster:
    """Start agents for `ts.distributed.rpc` and `map` in the workers of a dask cluster.

    client     a synchronous `dask.distributed.Client`
    name       worker name of this process
    threads, allow_python, seconds, bytes, fuel, allowed_ops    as for `LocalCluster`

    The workers are named worker0, worker1 ... in the order of dask's list.  Workers that dask starts later
    are not included.
    """
    if getattr(client, "asynchronous", False):
        raise TypeError("on_dask needs a synchronous dask client, got an asynchronous one")
    options = {
        "num_worker_threads": threads,
        "allow_python": allow_python,
        "allowed_ops": None if allowed_ops is None else list(allowed_ops),
    }
    return DaskCluster(client, name, options, {"seconds": seconds, "bytes": bytes, "fuel": fuel})


async def _start(
    address: str, names: dict[str, str], options: dict[str, Any], bounds: dict[str, Any], dask_worker: Any
) -> None:
    """Start the RPC agent in a dask worker."""
    host = urlsplit(dask_worker.address).hostname
    limits = worker.make_limits(**bounds)
    backend_options = RpcBackendOptions(init_method=address, host=host, limits=limits, **options)
    await asyncio.to_thread(
        worker.join, address, names[dask_worker.address], backend_options, SCHEDULER_TIMEOUT_SECONDS
    )


async def _stop(address: str) -> None:
    """Shut down the RPC agent of a dask worker if it belongs to the cluster at `address`."""
    if state.agent is not None and getattr(state.agent.directory, "address", None) == address:
        await asyncio.to_thread(api.shutdown, graceful=False)


def _local_ip_address(client: Any) -> str:
    """Return the IP address from which this machine connects to dask's scheduler."""
    url = urlsplit(client.scheduler.address)
    host = url.hostname or "127.0.0.1"
    return "127.0.0.1" if is_local(host) else own_address(host, url.port or 0)
