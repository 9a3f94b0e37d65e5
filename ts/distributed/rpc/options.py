"""What a process says of its calls: time limits, threads, and what it runs for others."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from ts.runtime.limits import limits as Limits

if TYPE_CHECKING:
    from ts.distributed.comm import Security

DEFAULT_RPC_TIMEOUT_SEC: Final = 60.0
DEFAULT_INIT_METHOD: Final = "env://"
DEFAULT_NUM_WORKER_THREADS: Final = 16
UNSET_RPC_TIMEOUT: Final = -1.0
NO_TIMEOUT: Final = 0.0


class BackendType(Enum):
    """PyTorch's name of a transport; it is that of `ts.distributed.comm` here."""

    TENSORPIPE = "TENSORPIPE"


class RpcBackendOptions:
    """Options of `init_rpc`.

    rpc_timeout           seconds until a call fails, if it is not given others; 0: never
    init_method           where the processes meet: "env://" (MASTER_ADDR, MASTER_PORT), "tcp://host:port",
                          or on one machine "file:///path"; the address of a cluster, "ts://host:port" or "ts+tls://host:port"
    num_worker_threads    threads that run calls of others; if several, as many of others' threads that wait
                          have one of their own
    secret                what all processes know; without it TS_RPC_SECRET, or, on one machine, what is in a
                          file that their user alone may read
    security              certificates and secret together: `ts.distributed.comm.Security`
    host                  where this process listens: 127.0.0.1, unless all meet elsewhere; in a cluster on
                          other machines, the address by which this machine is known there
    allow_python          whether functions of Python are called by name; both sides have to say so
    limits                `ts.limits(...)` of every call that others have this process run
    allowed_ops           the operators that they may use, as `ts.jit.load` takes them
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
            raise NotImplementedError("tensors travel from the CPU only: device_maps and devices have no use")
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
    """The same under the name that programs use."""


def seconds(timeout: float | timedelta) -> float:
    """A time-out as a number; ValueError where it is below 0."""
    found = timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)
    if found < 0:
        raise ValueError("RPC timeout should not be negative")
    return found
