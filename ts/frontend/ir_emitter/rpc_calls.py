"""Emission of RPC calls, such as `rpc.rpc_async("worker1", f, (x,), {"n": 3}, timeout)`.

The call `rpc.rpc_async(to, f, (x,))` becomes these nodes:

    %name : str = prim::Constant[value="__torch__.f"]()
    %args : (Tensor) = prim::TupleConstruct(%x)
    %y : Future[Tensor] = prim::rpc_async(%to, %name, %args)

An attribute of the last node contains the callee, but graph text does not show it. The compiler matches the
arguments in the tuple to the callee's schema. The keyword arguments in the dict are known only at run time.
As in PyTorch, the tuple is emitted twice, and the first copy only determines the types.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from ts.errors import CompilationError
from ts.frontend.schema_matching import match_schema
from ts.frontend.sugared_values.sugared import FunctionValue, SimpleValue, SugaredValue
from ts.ir.types import FutureType, RRefType, Type

if TYPE_CHECKING:
    from ts.frontend.ir_emitter.emitter import Emitter

_PARAMETERS: Final = ("dst_worker_name", "user_callable", "args", "kwargs", "timeout")
_MIN_ARGUMENTS: Final = 2


def emit_remote_call(em: Emitter, node: ast.Call, form: str) -> SugaredValue:
    """Emit a call of `form`: "rpc_async" returns a future, "rpc_sync" a result, "rpc_remote" an RRef."""
    range = em.range(node)
    _check_arguments(em, node, form)
    to, function, *argument_nodes = node.args
    destination = em.expr(to)
    callee = em.sugared(function)
    if not isinstance(callee, FunctionValue):
        raise CompilationError(
            f"user_callable should be a FunctionValue, it's now a {callee.describe()}",
            em.range(function),
            "remote calls in scripts require a scripted function; wrap other calls in a scripted function",
        )
    entries = (
        em.sugared(argument_nodes[0]).as_tuple(em, em.range(argument_nodes[0])) if argument_nodes else []
    )
    actual = [entry.as_value(em, range) for entry in entries]
    (result,) = match_schema(callee.function.schema, em.graph, range, actual).returns
    name = em.constant(callee.function.qualified_name, range)
    call = em.graph.create(f"prim::{form}", (destination, name), 1)
    call.range = range
    call.set("callee", callee.function, "ival")
    for argument in argument_nodes:
        call.add_input(em.expr(argument))
    em.graph.insert_node(call)
    return SimpleValue(call.output().set_type(_type(form, result)))


def _type(form: str, result: Type) -> Type:
    match form:
        case "rpc_async":
            return FutureType(result)
        case "rpc_remote":
            return RRefType(result)
    return result


def _check_arguments(em: Emitter, node: ast.Call, form: str) -> None:
    if node.keywords:
        raise CompilationError(
            f"{form}(dst_worker_name, user_callable, args, kwargs)does not support kwargs yet",
            em.range(node),
            "pass all arguments by position",
        )
    count = len(node.args)
    if not _MIN_ARGUMENTS <= count <= len(_PARAMETERS):
        forms = "\n".join(
            f"{form}({', '.join(_PARAMETERS[:n])})" for n in range(len(_PARAMETERS), _MIN_ARGUMENTS - 1, -1)
        )
        raise CompilationError(
            f"Possible forms of call to {form}(..) are\n{forms}\nNow the number of arguments is {count}",
            em.range(node),
        )
