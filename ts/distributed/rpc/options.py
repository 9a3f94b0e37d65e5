"""Options of `init_rpc`: timeouts, threads, security, and limits of calls from other workers."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from ts.runtime.limits import limits as Limits

if TYPE_CHECKING:
    from ts.distributed.transport import Security

DEFAULT_RPC_TIMEOUT_SEC: Final = 60.0
DEFAULT_INIT_METHOD: Final = "env://"
DEFAULT_NUM_WORKER_THREADS: Final = 16
UNSET_RPC_TIMEOUT: Final = -1.0
NO_TIMEOUT: Final = 0.0


class BackendType(Enum):
    """RPC backends in PyTorch. For each of them, `ts` uses the transport of `ts.distributed.transport`."""

    TENSORPIPE = "TENSORPIPE"


class RpcBackendOptions:
    """Options of `init_rpc`.

    rpc_timeout           default timeout of a call in seconds (0: no timeout)
    init_method           rendezvous address: "env://" (MASTER_ADDR, MASTER_PORT), "tcp://host:port", or,
                          on one machine, "file:///path". In a cluster, its address: "ts://host:port" or
                          "ts+tls://host:port"
    num_worker_threads    number of threads that execute incoming calls. A number above 1 is also the maximum
                          number of server threads, each of which serves one blocked caller
    secret                shared secret of all processes. The default is TS_RPC_SECRET, or, on one machine,
                          the contents of a file that only this user may read
    security              certificates and secret in one object: `ts.distributed.transport.Security`
    host                  address that this process listens on (default: 127.0.0.1 if the rendezvous is
                          local). In a cluster of several machines, set it to the address of this machine
    allow_python          whether Python functions may be called by name (caller and callee must both set it)
    limits                `ts.limits(...)` of each incoming call
    allowed_ops           operators that incoming calls may use, as for `ts.jit.load`
    """

    def __init__(
        self,
        *,
        rpc_timeout: float | timedelta = DEFAULT_RPC_TIMEOUT_SEC,
        init_method: str = DEFAULT_INIT_METHOD,
        num_worker_threads: int = DEFAULT_NUM_WORKER_THREADS,
        device_maps: dict[str, Any] | None = None,
        devices: list[Any] | None = None,
        secret: bytes | None = None,
        security: Security | None = None,
        host: str | None = None,
        allow_python: bool = False,
        limits: Limits | None = None,
        allowed_ops: Iterable[str] | None = None,
        _transports: list[str] | None = None,
        _channels: list[str] | None = None,
    ) -> None:
        if num_worker_threads < 1:
            raise ValueError(f"num_worker_threads must be positive, got {num_worker_threads}")
        if device_maps or devices:
            raise NotImplementedError("RPC sends CPU tensors only: device_maps and devices are unsupported")
        self.rpc_timeout = seconds(rpc_timeout)
        self.init_method = init_method
        self.num_worker_threads = num_worker_threads
        self.secret = secret
        self.security = security
        self.host = host
        self.allow_python = allow_python
        self.limits = limits
        self.allowed_ops = None if allowed_ops is None else tuple(allowed_ops)


class TensorPipeRpcBackendOptions(RpcBackendOptions):
    """Options of `init_rpc` under the name of PyTorch's TensorPipe backend."""


def seconds(timeout: float | timedelta) -> float:
    """Convert a timeout to seconds. Raise ValueError if it is negative."""
    value = timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)
    if value < 0:
        raise ValueError("RPC timeout should not be negative")
    return value
