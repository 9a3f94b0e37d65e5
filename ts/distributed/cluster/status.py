"""List of the members of a cluster, obtained without joining the cluster.

Input: the address of the scheduler. Output: a dictionary of attributes for each process. Example:

    members("ts://127.0.0.1:4711")        [{"name": "worker0", "number": 0, "address": "ts://...", ...}, ...]
"""

from __future__ import annotations

import asyncio
from typing import Any

from ts.distributed.rpc.cluster_membership import (
    SCHEDULER_RESPONSE_TIMEOUT_SECONDS,
    run_with_scheduler,
    security_for,
)
from ts.distributed.transport.credentials import Credentials
from ts.distributed.transport.transport import connect


def members(
    address: str, security: Credentials | None = None, secret: bytes | None = None
) -> list[dict[str, Any]]:
    """Return the attributes of each process of a cluster, as dictionaries sorted by process number.

    Raise RuntimeError if no scheduler answers.
    """
    connection_arguments = security_for(address, secret, security).get_connection_args("client")

    async def ask() -> Any:
        async with asyncio.timeout(SCHEDULER_RESPONSE_TIMEOUT_SECONDS):
            comm = await connect(address, **connection_arguments)
            try:
                await comm.write({"op": "members"})
                return await comm.read()
            finally:
                comm.abort()

    rows = run_with_scheduler(f"cannot join the cluster at {address}", ask())
    return sorted(rows, key=lambda member: member["number"])
