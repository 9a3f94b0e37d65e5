"""Compilation of a parsed function to a graph and a schema.

Example:

    compiled = compile_function(parse.function_def(f))
    compiled.schema     f(int n) -> int
    compiled.graph      the graph after the passes of the frontend, also available as `fn.graph`

Recursive functions need an annotated return type, because their schema is needed before the body is compiled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ts.errors import CompilationError, FrontendError, LimitExceeded, NestingError
from ts.frontend.defaults import NO_DEFAULT
from ts.frontend.error_aggregation import combine_errors, compilation
from ts.frontend.ir_emitter import (
    calls,
    closures,
    conditionals,
    expressions,
    loops,
    statements,
    subscripts,
    with_statements,
)
from ts.frontend.ir_emitter.emitter import Emitter
from ts.frontend.parse import NESTED, ParsedFunction
from ts.frontend.signatures import Parameter, signature
from ts.frontend.sugared_values.classes import ClassValue
from ts.frontend.sugared_values.modules import ModuleValue
from ts.frontend.sugared_values.sugared import CompileCallee
from ts.ir.graph import Graph
from ts.ir.schema import Argument, FunctionSchema
from ts.ir.types import NONE, ClassType, ModuleType, Type
from ts.ir.value import is_program_name

# The imports of these modules register functions in the tables of `ir_emitter.emitter`.
EMITTERS = (calls, closures, expressions, conditionals, loops, statements, subscripts, with_statements)


class CompiledGraph(NamedTuple):
    """Result of the compilation of one function: graph, schema and flags."""

    graph: Graph
    schema: FunctionSchema
    holds_breakpoint: bool = False
    warned: bool = False  # whether the compiler issued a warning about this function


def declare(parsed: ParsedFunction) -> FunctionSchema | None:
    """Return the schema if the return type is annotated, or None if the body determines the return type."""
    parameters, returns = signature(parsed)
    returns = _declared(parsed, returns)
    return None if returns is None else _schema(parsed.name, parameters, returns)


def compile_function(
    parsed: ParsedFunction,
    compile_callee: CompileCallee | None = None,
    lines: bool = False,
    schema: FunctionSchema | None = None,
) -> CompiledGraph:
    """Emit a function and run the frontend's passes on its graph.

    compile_callee    compiles a called Python function to a ScriptFunction (None: such calls are errors)
    lines             True for the debugger: each line has a `prim::Line`, and no code is removed
    schema            the result of `declare`, if it was called before
    """
    from ts.passes.pipelines import FRONTEND, STEPPING, run_pipeline

    emitter = Emitter(parsed, compile_callee or _reject_callee)
    emitter.lines = emitter.scope.inserts_all = lines
    try:
        if schema is not None:
            emit_function(emitter, schema.arguments, schema.returns[0].type)
        else:
            parameters, returns = signature(parsed)
            result = emit_function(emitter, parameters, _declared(parsed, returns))
            schema = _schema(parsed.name, parameters, result)
        run_pipeline(emitter.graph, STEPPING if lines else FRONTEND)
        parsed.resolver.admit(emitter.graph)
    except LimitExceeded as error:
        error.stack = error.stack or [(parsed.name, parsed.head)]
        raise
    except RecursionError:
        raise NestingError(NESTED, emitter.graph.range) from None
    except Exception:
        if not emitter.noted.errors:
            raise
    if emitter.noted.errors:  # report only these errors, because they may have caused the exception
        raise combine_errors(emitter.noted.errors) from None
    assert schema is not None
    return CompiledGraph(emitter.graph, schema, emitter.holds_breakpoint, emitter.warned)


def _declared(parsed: ParsedFunction, returns: Type | None) -> Type | None:
    """Return the declared return type: `returns`, or NoneType for an `__init__` without annotation."""
    return NONE if returns is None and parsed.self_type is not None and parsed.name == "__init__" else returns


def compile_all(functions: Iterable[Any]) -> None:
    """Compile several scripted functions. Raise one error that contains the errors of all of them."""
    errors = []
    with compilation():
        for function in functions:
            try:
                function.ensure_compiled()
            except FrontendError as error:
                errors.append(error)
    if errors:
        raise combine_errors(errors)


def emit_function(em: Emitter, parameters: Sequence[Parameter | Argument], returns: Type | None) -> Type:
    """Emit the body of the function.

    Return the return type: `returns`, or the inferred type if it is None.
    """
    node = em.parsed.node
    graph = em.graph
    em.declared_return = returns
    for arg, parameter in zip(em.parsed.arguments, parameters, strict=True):
        value = graph.block().add_input(type=parameter.type)
        if is_program_name(parameter.name):
            value.set_debug_name(parameter.name)
        is_module = isinstance(parameter.type, ModuleType) and parameter.type is em.parsed.self_type
        em.scope.set(em.range(arg), parameter.name, ModuleValue(value) if is_module else value)
        if is_module and em.lines:
            # The debugger reads modules from variables. Compiled code uses the ModuleValue that was set above
            # instead.
            em.scope.store(parameter.name, value)
    if em.parsed.is_classmethod and isinstance(em.parsed.self_type, ClassType):
        em.scope.set(em.range(node), parameters[0].name, ClassValue(em.parsed.self_type))
    em.statements(node.body)
    if em.noted.errors:
        raise em.noted.errors[0]
    range = em.range(node)
    if graph.block() not in em.exits:
        if returns is not None and returns is not NONE:
            raise CompilationError(
                "Function was not annotated as having type None, but does not return along all paths",
                range,
                "end with a `return` or a `raise`, or annotate the result as Optional",
            )
        statements.finish(em, em.constant(None, range), range)
    result = em.merged_return or returns or NONE
    # The conversion to SSA replaces this placeholder by the returned value.
    placeholder = em.insert("prim::Uninitialized").output().set_type(result)
    graph.register_output(placeholder)
    em.scope.loaded.resolve()
    return result


def _schema(name: str, parameters: list[Parameter], returns: Type) -> FunctionSchema:
    arguments = []
    for parameter in parameters:
        has_default = parameter.default is not NO_DEFAULT
        arguments.append(
            Argument(
                parameter.name,
                parameter.type,
                default=parameter.default if has_default else None,
                has_default=has_default,
                kwarg_only=parameter.kw_only,
                size=parameter.size,
            )
        )
    return FunctionSchema(name, "", tuple(arguments), (Argument("", returns),))


def _reject_callee(function: Any) -> Any:
    raise CompilationError(f"{function.__name__} is a Python function, and cannot be called here")
