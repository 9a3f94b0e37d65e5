"""Operator namespaces with attributes such as `torch.ops.aten.add.Tensor`.

Example:

    ts.ops.aten.add(x, 1)              # the overload that accepts the arguments
    ts.ops.aten.add.Scalar(x, 1)       # overload "Scalar" (`default` is the overload without a name)
    ts.ops.aten.add.overloads()        # ['Tensor', 'Scalar', ...]
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ts.ops import registry
from ts.ops.extension_libraries import unavailable_operator
from ts.unsupported import absent_operator

_overloads_by_call: dict[int, OpOverload] = {}  # id of the called function -> overload


class OpOverload:
    """Callable operator overload such as `torch.ops.aten.add.Tensor`, the target of calls in FX graphs."""

    def __init__(self, packet: Packet, operator: Any) -> None:
        self.overloadpacket = packet
        self.operator = operator
        self._overloadname = operator.overload or "default"
        self._call = _callable(packet.qualified_name, (operator,))
        _overloads_by_call[id(self._call)] = self
        self.__name__ = f"{packet.__name__}.{self._overloadname}"
        self.__qualname__ = self._name = operator.key
        self.__module__ = f"torch.ops.{self.namespace}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call this overload. Raise RuntimeError with its schema if the arguments do not match."""
        try:
            return _in_lists(self._call(*args, **kwargs), [self.operator])
        except TypeError:
            schema_error = self._schema_error(args, kwargs)
            if schema_error is None:
                raise
            raise schema_error from None

    def _schema_error(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> RuntimeError | None:
        """Return the RuntimeError for arguments that do not match the schema, else None."""
        try:
            self._call.resolve(args, kwargs)
        except TypeError as error:
            return RuntimeError(f"{self.operator.name}() {error}\nDeclaration: {self.operator.schema}")
        return None

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        name = f"{self.namespace}.{self.overloadpacket.__name__}"
        return f"<OpOverload(op='{name}', overload='{self._overloadname}')>"

    def __copy__(self) -> OpOverload:
        return self

    def __deepcopy__(self, memo: Any) -> OpOverload:
        return self

    def __reduce__(self) -> Any:
        return overload_named, (self.operator.name, self.operator.overload)

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        return self._call.__doc__  # type: ignore[no-any-return]

    @property
    def namespace(self) -> str:
        """Operator namespace, e.g. "aten"."""
        return self.overloadpacket.qualified_name.partition("::")[0]

    @property
    def _schema(self) -> Any:
        return self.operator.schema

    def name(self) -> str:
        """Return name and overload, e.g. "aten::add.Tensor"."""
        return self.operator.key  # type: ignore[no-any-return]

    def operators(self) -> list[Any]:
        """Return a list that contains the operator of this overload."""
        return [self.operator]

    def resolve(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the operator for a call, its converted arguments, and the original arguments."""
        return self._call.resolve(args, kwargs)


def overload_of_call(function: Any) -> Any:
    """Return the OpOverload that calls `function`, or `function` itself if no OpOverload calls it.

    The handler `__torch_function__` receives `function`, although user code called the OpOverload.
    """
    overload = _overloads_by_call.get(id(function))
    return function if overload is None or overload._call is not function else overload


def overload_named(name: str, overload: str) -> OpOverload:
    """Return the OpOverload of a qualified operator name and overload name."""
    namespace, _, base = name.partition("::")
    op_overload: OpOverload = getattr(getattr(namespaces(namespace), base), overload or "default")
    return op_overload


@cache
def namespaces(name: str) -> Namespace:
    """Return the cached namespace `torch.ops.name`, which contains the operators `name::…`."""
    return Namespace(name)


class Packet:
    """Operator with all its overloads, such as `torch.ops.aten.add`."""

    def __init__(self, name: str) -> None:
        self.qualified_name = name
        self.__name__ = name.partition("::")[2]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the first overload that accepts the arguments."""
        result = _callable(self.qualified_name)(*args, **kwargs)
        return _in_lists(result, registry.lookup(self.qualified_name)) if type(result) is tuple else result

    def __str__(self) -> str:
        return self.qualified_name.replace("::", ".")

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self.qualified_name.replace('::', '.')}')>"

    def overloads(self) -> list[str]:
        """Return the overload names."""
        return [operator.overload or "default" for operator in registry.lookup(self.qualified_name)]

    def __getattr__(self, overload: str) -> Any:
        if not overload.startswith("__"):
            overload_name = "" if overload == "default" else overload
            for operator in registry.lookup(self.qualified_name):
                if operator.overload == overload_name:
                    op_overload = self.__dict__.setdefault(overload, OpOverload(self, operator))
                    return op_overload
        raise AttributeError(
            f"The underlying op of '{self.qualified_name}' has no overload name '{overload}'"
        )


def _in_lists(result: Any, operators: Any) -> Any:
    """Convert `result` from a tuple to a list if the schemas of `operators` declare one result, a list.

    Functions of `ts` return tuples for such schemas, whereas overloads return lists, as in PyTorch.
    """
    if type(result) is not tuple or any(len(operator.signature.returns) != 1 for operator in operators):
        return result
    return list(result)


def _callable(name: str, overloads: tuple[Any, ...] | None = None) -> Any:
    from ts._core.dispatch.overloads import OverloadSet

    return OverloadSet(name, overloads)


class Namespace:
    """Namespace of the operators `name::…`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        qualified = f"{self.name}::{name}"
        if not registry.lookup(qualified):
            if self.name == "aten" and (absent := absent_operator(name)) is not None:
                return absent
            if (unavailable := unavailable_operator(self.name, name)) is not None:
                return unavailable
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")
        packet = Packet(qualified)
        setattr(self, name, packet)
        return packet
