"""RPC calls in scripts, and remote references (RRef).

Each line shows Python code, the operator in the graph and the result type:

    f = rpc.rpc_async("worker1", g, (x,))        prim::rpc_async(%to, %name, %args)        Future[T]
    y = rpc.rpc_sync("worker1", g, (x,))         prim::rpc_sync(...)                       T
    r = rpc.remote("worker1", g, (x,))           prim::rpc_remote(...)                     RRef[T]
    r.to_here()                                  aten::to_here(%r, %timeout)               T

The kernels return futures (record field `begins`), so a script can wait without blocking a thread.
`ts.distributed.rpc` implements references, and sets the function that starts calls (`RpcHook.begin`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final, NamedTuple

from ts._core.vm.future import Future
from ts.ir.types import CUSTOM_CLASSES
from ts.ops.operator_record import OperatorRecord
from ts.ops.registry import op

FORMS: Final = (
    "rpc_sync",
    "rpc_async",
    "rpc_remote",
)  # kinds of RPC calls, with the graph nodes prim::rpc_sync, prim::rpc_async and prim::rpc_remote
SYNC, ASYNC, REMOTE = (f"prim::{form}" for form in FORMS)
NOT_INITIALIZED: Final = "RPC has not been initialized. Call torch.distributed.rpc.init_rpc first."
_UNSET_TIMEOUT_SECONDS: Final = -1.0  # selects the default timeout of the process


class WorkerInfo(NamedTuple):
    """Name and id of an RPC worker."""

    name: str
    id: int

    def __repr__(self) -> str:
        return f"WorkerInfo(id={self.id}, name={self.name})"


# script type of the class `WorkerInfo`
WORKER_INFO: Final = CUSTOM_CLASSES["__torch__.torch.classes.dist_rpc.WorkerInfo"]


class RRefValue:
    """Base class of remote references (`RRef[T]`) to a value in its owner process."""

    type_hint: Any = None  # type passed when the RRef was created, or None

    def is_owner(self) -> bool:
        """Return whether this process owns the value."""
        raise NotImplementedError

    def owner(self) -> WorkerInfo:
        """Return the worker that owns the value."""
        raise NotImplementedError

    def owner_name(self) -> str:
        """Return the name of the worker that owns the value."""
        return self.owner().name

    def confirmed_by_owner(self) -> bool:
        """Return whether the owner has confirmed that the value exists or is being created."""
        raise NotImplementedError

    def fetch_async(self, timeout: float = _UNSET_TIMEOUT_SECONDS) -> Future[Any]:
        """Return a future of the value, or of a copy if another process owns the value."""
        raise NotImplementedError

    def own_value(self) -> Future[Any]:
        """Return a future of the value in this process, or raise RuntimeError if another process owns it."""
        raise NotImplementedError


class RpcHook:
    """Holder of the function `begin(kind, to, callee, args, kwargs, timeout)`, which starts RPC calls.

    The function returns a future, or an RRef if the kind is "remote".
    """

    begin: ClassVar[Callable[..., Any] | None] = None


class RpcCallRecord(OperatorRecord):
    """Operator record of an RPC call in a script. `callee` is a scripted function."""

    def __init__(self, kind: str, callee: Any, inputs: int) -> None:
        parameters = ("Any to", "str name", "Any args", "Any kwargs", "Any timeout")[:inputs]
        result = "RRef(Any)" if kind == REMOTE else "Future(Any)"
        schema = f"{kind}({', '.join(parameters)}) -> {result}"
        super().__init__(schema, self.begin, "rpc_ops", where="", tensor_kernel=True, side_effect=True)
        self.callee = callee

    def begin(
        self, to: Any, name: str, args: Any = (), kwargs: Any = None, timeout: Any = _UNSET_TIMEOUT_SECONDS
    ) -> Any:
        """Begin the RPC on worker `to`. Return a future of the result, or an RRef if the kind is "remote"."""
        self._check(args, kwargs, timeout)
        if RpcHook.begin is None:
            raise RuntimeError(NOT_INITIALIZED)
        return RpcHook.begin(self.name, to, self.callee, args, kwargs, timeout)

    def _check(self, args: Any, kwargs: Any, timeout: Any) -> None:
        schema = self.callee.schema
        names = [argument.name for argument in schema.arguments]
        if not isinstance(kwargs, dict | None):
            raise RuntimeError(f"{self.name}: kwargs is a dict, found {type(kwargs).__name__}")
        if type(timeout) not in (float, int):
            raise RuntimeError(f"{self.name}: timeout is a number of seconds, found {timeout!r}")
        for name in kwargs or ():
            if name not in names:
                raise RuntimeError(
                    f"Unknown keyword argument '{name}' for operator '{schema.name}'. Schema: {schema}"
                )
            if names.index(name) < len(args):
                raise RuntimeError(f"{schema.name}() got the argument '{name}' twice. Schema: {schema}")


# ---- references ------------------------------------------------------------------------------------


def _reference(x: Any) -> RRefValue:
    if not isinstance(x, RRefValue):
        raise TypeError(f"expected an RRef, not {type(x).__name__}")
    return x


def _fetch_async(self: RRefValue, timeout: float) -> Future[Any]:
    return _reference(self).fetch_async(timeout)


def _own_value(self: RRefValue) -> Future[Any]:
    return _reference(self).own_value()


@op(
    "aten::to_here(RRef(t) self, float timeout=60.) -> t(*)",
    where="", tensor_kernel=True, side_effect=True, begins=_fetch_async,
)  # fmt: skip
def to_here(self: RRefValue, timeout: float) -> Any:
    """Return the value of an RRef, or a copy if another process owns it."""
    return _reference(self).fetch_async(timeout).wait()


@op(
    "aten::local_value(RRef(t) self) -> t(*)",
    where="",
    tensor_kernel=True,
    side_effect=True,
    begins=_own_value,
)
def local_value(self: RRefValue) -> Any:
    """Return the value of an RRef owned by this process."""
    return _reference(self).own_value().wait()


@op("aten::is_owner(RRef(t) self) -> bool", where="", tensor_kernel=True)
def is_owner(self: RRefValue) -> bool:
    """Return whether this process owns an RRef's value."""
    return _reference(self).is_owner()


@op("aten::owner_name(RRef(t) self) -> str", where="", tensor_kernel=True)
def owner_name(self: RRefValue) -> str:
    """Return the worker name of an RRef's owner."""
    return _reference(self).owner_name()


@op("aten::owner(RRef(t) self) -> __torch__.torch.classes.dist_rpc.WorkerInfo", where="", tensor_kernel=True)
def owner(self: RRefValue) -> WorkerInfo:
    """Return the worker that owns an RRef's value."""
    return _reference(self).owner()


@op("aten::confirmed_by_owner(RRef(t) self) -> bool", where="", tensor_kernel=True, side_effect=True)
def confirmed_by_owner(self: RRefValue) -> bool:
    """Return whether the owner of an RRef has confirmed that the value exists or is being created."""
    return _reference(self).confirmed_by_owner()
