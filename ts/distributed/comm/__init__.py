"""How processes talk: connections over which neither code nor pickles travel.

    messages     a value of plain data, and memory, to bytes and back
    segments     memory that two processes of one machine have in common, for what is large
    handshake    who is there: both ends prove that they know a secret
    sharing      whether both ends are on one machine, and may share memory
    greeting     both of these, before the first message
    sockets      sending without copies
    stream       a connection in an event loop
    channel      a connection of a thread that waits for each answer
    calls        many calls over one connection
    backend      streams as dask.distributed's comms: "ts://host:port", "ts+tls://host:port" with certificates
    security     dask's `Security`, with the secret and the limits

dask's own connections load pickles, whatever they are told: whoever can send to a port runs code there.  What
comes over these is data.  Some handlers of dask's `Scheduler` and `Worker` load pickles out of such data;
those of a plain `Server` do not.
"""

from __future__ import annotations

try:
    import distributed  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "distributed":
        raise
    raise ImportError(
        "ts.distributed.comm needs dask.distributed: pip install 'torchscript-ts[rpc]'"
    ) from None

from ts.distributed.comm.backend import Comm, register
from ts.distributed.comm.channel import Channel
from ts.distributed.comm.handshake import NotAuthenticated
from ts.distributed.comm.messages import Limits, MalformedMessage
from ts.distributed.comm.security import Security

__all__ = ["Channel", "Comm", "Limits", "MalformedMessage", "NotAuthenticated", "Security"]

register()
