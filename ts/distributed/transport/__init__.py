"""Authenticated message transport between processes; neither code nor pickles travel over its connections.

    messages      a value of plain data, and memory, to bytes and back      message_pack    plain data alone
    segments      memory that two processes of one machine have in common, for what is large
    handshake     mutual authentication: both ends prove that they know a secret
    sharing       whether both ends are on one machine, and may share memory
    greeting      both of these, before the first message
    addresses     "ts://host:port", "ts+tls://host:port" with certificates
    credentials   the arguments that both ends need
    sockets       sending without copies
    stream        a connection in an event loop
    transport     connecting and listening in an event loop
    channel       a connection of a thread that waits for each answer
    calls         many calls over one connection
    backend       the transport as dask.distributed's comms
    security      dask's `Security`, with the secret and the limits

The last two need dask.distributed (the extra `rpc`). They are imported for `Comm` and `Security`, and
register the schemes with dask.

dask's own connections load pickles, whatever they are told: whoever can send to a port runs code there.  What
comes over these is data.  Some handlers of dask's `Scheduler` and `Worker` load pickles out of such data;
those of a plain `Server` do not.
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
    """Import what needs dask.distributed; ImportError names the extra if it is not installed."""
    if name not in _MODULES_OF_DASK:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        importlib.import_module("ts.distributed.transport.dask_comm_backend")  # it registers the schemes
        module = importlib.import_module(f"ts.distributed.transport.{_MODULES_OF_DASK[name]}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "distributed":
            raise
        raise ImportError(
            f"{__name__}.{name} needs dask.distributed: pip install 'torchscript-ts[rpc]'"
        ) from None
    return getattr(module, name)
