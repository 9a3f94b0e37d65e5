"""Authenticated message transport between processes. It carries neither code nor pickles.

Modules:

    message_codec         encoding of messages: plain data and memory buffers
    message_pack          encoding of plain data
    shm_segments          shared memory segments for large buffers
    handshake             mutual authentication by a shared secret
    shm_negotiation       detection of two processes that can share memory
    connection_setup      handshake and negotiation before the first message
    addresses             "ts://host:port", "ts+tls://host:port" with certificates
    credentials           connection arguments of both ends
    socket_io             sending without copies
    async_connection      a connection in an event loop
    transport             connecting and listening in an event loop
    blocking_connection   a connection of a thread that blocks for each response
    multiplexing          concurrent calls over one connection
    dask_comm_backend     the transport as dask.distributed's comms
    security              dask's `Security`, with the secret and the limits

The last two modules need dask.distributed (the extra `rpc`). They are imported when `Comm` or `Security` is
first used.

Security: dask's own connections load pickles, so that any peer can run code. These connections carry data
only. However, some handlers of dask's `Scheduler` and `Worker` load pickles from such data.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from ts.distributed.transport.blocking_connection import BlockingConnection
from ts.distributed.transport.handshake import AuthenticationError
from ts.distributed.transport.message_codec import MalformedMessageError, TransportLimits

if TYPE_CHECKING:
    from ts.distributed.transport.dask_comm_backend import Comm
    from ts.distributed.transport.security import Security

__all__ = [
    "AuthenticationError",
    "BlockingConnection",
    "Comm",
    "MalformedMessageError",
    "Security",
    "TransportLimits",
]

_MODULES_OF_DASK: Final = {"Comm": "dask_comm_backend", "Security": "security"}


def __getattr__(name: str) -> Any:
    """Import a name whose module needs dask.distributed.

    If dask.distributed is missing, raise an ImportError that names the extra to install.
    """
    if name not in _MODULES_OF_DASK:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        # imported because it registers the address schemes of this transport with dask
        importlib.import_module("ts.distributed.transport.dask_comm_backend")
        module = importlib.import_module(f"ts.distributed.transport.{_MODULES_OF_DASK[name]}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "distributed":
            raise
        raise ImportError(
            f"{__name__}.{name} needs dask.distributed: pip install 'torchscript-ts[rpc]'"
        ) from None
    return getattr(module, name)
