"""Scripted functions, the result of `ts.jit.script`.

A `ScriptFunction` is created from a Python function or from source text. It is called like the Python
function. Its properties are the stages of its compilation:

    f.graph, f.inlined_graph       the graph after the frontend, and with calls inlined
    f.code                         the graph as source
    f.schema                       name, parameters, results
    f.bytecode                     the disassembly of the executed code

A function is compiled to a graph on first use or when a caller is compiled. Bytecode is created at the first
call. Recursive calls require an annotated return type.
"""

from __future__ import annotations

import inspect
import io
import pickle
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, Union

from ts._core.dispatch.profiler_recorder import Stage
from ts._core.late_binding import resolve
from ts._core.value.build_lock import build_lock
from ts._core.value.ivalue import new_object, object_set
from ts._core.value.spec import TypeSpec
from ts._core.vm.function import Function, is_optimizing
from ts.bytecode import disk_cache
from ts.errors import CompilationError, InternalError
from ts.frontend import naming
from ts.frontend.error_aggregation import compilation
from ts.frontend.load_policy import UNRESTRICTED, LoadPolicy
from ts.frontend.weak_side_table import EnumerableWeakSideTable
from ts.runtime.deep_recursion import run_with_large_stack
from ts.runtime.gc_pause import gc_disabled
from ts.runtime.python_frame_stack import preallocate_frames

if TYPE_CHECKING:
    from pathlib import Path

    from ts._core.value.objects import Object
    from ts.frontend.function_source import FunctionSource
    from ts.frontend.parse import ParsedFunction
    from ts.ir.graph import Graph
    from ts.ir.schema import FunctionSchema
    from ts.runtime.executor import Baseline, Differentiated, Unoptimized
    from ts.runtime.function_fingerprint import FunctionFingerprint

# a parsed function, or a callable that parses it on first use
ToCompile = Union["ParsedFunction", Callable[[], "ParsedFunction"]]

scripted_functions: EnumerableWeakSideTable[ScriptFunction] = EnumerableWeakSideTable("script")
# functions that the running compilation has scripted so far, or None if no compilation is running
_session: list[Callable[..., Any]] | None = None


class ScriptFunction(Function):
    """Compiled function, which Python code and scripts can call."""

    policy: LoadPolicy = UNRESTRICTED  # limits and allowed operators for the compilation
    unit: Any = None  # compilation unit of the archive, or None for other functions
    peak: int | None = None  # result of the last call of `peak_memory`, in bytes
    # True if the function is compiled at its first call. Until then, callers use its declaration
    waits = False
    _is_method = False  # True for a method, set by the compilation
    _unoptimized: Unoptimized | None = None  # variants are created on first use
    _differentiated: Differentiated | None = None
    _baseline: Baseline | None = None

    def __init__(self, name: str, qualified_name: str = "", parsed: ToCompile | None = None) -> None:
        super().__init__(name, (), name)
        self.qualified_name = qualified_name or f"__torch__.{name}"
        self.__name__ = self.__qualname__ = name
        self.__doc__: str | None = None
        self.__annotations__ = {}
        # the parsed definition, or a callable that parses it, or None after the compilation
        self._parsed = parsed
        self._definition = _definition(parsed)
        self.holds_breakpoint = False  # True if the function calls `breakpoint`
        self._graph: Graph | None = None
        self._adopted = False  # True if the signature is from the code cache. Then there may be no graph
        self._schema: FunctionSchema | None = None
        self.fingerprint: FunctionFingerprint | None = None  # identifies the function in the code cache
        self.cached_code: tuple[Path, Any] | None = None  # (path of the cache file, loaded code)
        function = getattr(parsed, "function", None)
        if function is not None:
            self._copy_metadata(function)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle the function by qualified name if its module defines that name, otherwise as an archive.

        Raise PickleError for protocols 0 and 1 (in PyTorch, for all protocols).
        """
        if protocol < 2:
            raise pickle.PickleError("ScriptFunction cannot be pickled")
        if getattr(sys.modules.get(self.__module__), self.__name__, None) is self:
            return self.__name__
        return unpickled_function, (self.__name__, self.save_to_buffer())

    def _adopt_parsed(self, parsed: ParsedFunction) -> None:
        """Copy metadata from the Python function of `parsed`, unless this was done before."""
        if parsed.function is not None and "__wrapped__" not in self.__dict__:
            self._copy_metadata(parsed.function)

    def _copy_metadata(self, function: Any) -> None:
        """Copy metadata of a Python function: docstring, module, annotations, `__wrapped__`."""
        self.__doc__, self.__module__ = function.__doc__, function.__module__
        self.__qualname__ = getattr(function, "__qualname__", self.__name__)
        self.__wrapped__ = function
        self.__annotations__ = _annotations(function)

    @property
    def __signature__(self) -> inspect.Signature:
        """Signature of the Python function, converted from the schema if there is no Python function."""
        function = self.__dict__.get("__wrapped__")
        return _signature(self.schema) if function is None else inspect.signature(function)

    def __copy__(self) -> ScriptFunction:
        return self  # as `copy` does for Python functions

    def __deepcopy__(self, memo: dict[int, Any]) -> ScriptFunction:
        return self

    @property
    def is_compiled(self) -> bool:
        """True if the graph has been created."""
        return self._graph is not None

    # ---- stages of the compilation -------------------------------------------------------------------

    @property
    def graph(self) -> Graph:
        """Graph after the frontend.

        Access to the graph disables the code cache of the function, because the caller may modify the graph.
        """
        graph = self.as_compiled()
        self.fingerprint = None
        return graph

    @property
    def digest(self) -> str | None:
        """Digest of the compilation's inputs, or None if an input is unknown.

        The digest is equal in all processes.
        """
        fingerprint = self.fingerprint
        if fingerprint is None or any(callee.digest is None for callee in fingerprint.scripted):
            return None
        return fingerprint.digest

    def as_compiled(self) -> Graph:
        """Return the graph without disabling the code cache, for callers that do not modify the graph."""
        self.ensure_compiled()
        if self._graph is None:
            raise CompilationError(f"function '{self.name}' is being compiled")
        return self._graph

    @property
    def schema(self) -> FunctionSchema:
        """Schema with name, parameters and results.

        Until the compilation ends, the schema is that of the declaration.
        """
        if not (self.waits and self._declare()):
            self.ensure_compiled()
        if self._schema is None:
            kind = "method" if self._is_method else "function"
            raise CompilationError(
                f"{kind} '{self.name}' is called recursively. Recursive calls are not supported: "
                "annotate the return type"
            )
        return self._schema

    @property
    def inlined_graph(self) -> Graph:
        """Copy of the graph in which calls of scripted functions are inlined."""
        from ts.passes.inline import inline_as_printed

        graph = self.as_compiled().copy()
        inline_as_printed(graph)
        return graph

    def graph_for(self, *args: Any, **kwargs: Any) -> Graph:
        """Return the graph that runs for the given arguments: optimized, and annotated with tensor types."""
        graph: Graph = resolve("executor").graph_for(self, args, kwargs)
        return graph

    def get_debug_state(self) -> Any:
        """Return the executed graph and the execution plans, as PyTorch's `GraphExecutorState`."""
        return resolve("debug_state").debug_state(self)

    @property
    def code(self) -> str:
        """Source text of the graph."""
        from ts.ir.python_print import to_source

        return run_with_large_stack(lambda: to_source(self.as_compiled(), self.name, self.schema))

    @property
    def bytecode(self) -> str:
        """Disassembly of the executed code, with all specializations and with source lines."""
        from ts.bytecode.disasm import disassemble
        from ts.runtime.graph_variants import GraphVariant

        variant = GraphVariant.OPTIMIZED if is_optimizing() else GraphVariant.WRITTEN
        code = resolve("executor").prepare(self, variant)
        if code.plans is None:
            return disassemble(code)
        from ts.runtime.specialization import codes_with_descriptions

        names = [argument.name for argument in self.schema.arguments]
        codes = codes_with_descriptions(code.plans if self.plans is None else self.plans, names)
        sections = (f"\nfor {kind}:\n{disassemble(specialized)}" for kind, specialized in codes)
        return disassemble(code) + "".join(sections)

    @property
    def plan(self) -> str:
        """Optimization report: fusion groups, their inputs, and why other nodes are not fused.

        See docs/explanation/optimizations.md.
        """
        from ts.runtime.plan_report import format_plan_report

        return format_plan_report(self, self.name)

    def peak_memory(self, *args: Any, **kwargs: Any) -> int:
        """Return the peak memory of a call in bytes, including results and excluding arguments.

        The function is called twice. The second call is measured, so the compilation is not counted. Only CPU
        memory that this thread allocates is counted. Afterwards, `plan` shows the number. Raise RuntimeError
        while a profiler runs.
        """
        from ts.runtime.plan_report import peak_of_call

        self.peak = peak_of_call(self, args, kwargs)
        return self.peak

    # ---- compilation and archives --------------------------------------------------------------------

    def ensure_compiled(self) -> None:
        """Create the graph if it is missing. Wait while another thread compiles the function."""
        if self._graph is None:
            with build_lock():
                preallocate_frames(self._compile)

    def _declare(self) -> bool:
        """Parse the function if necessary.

        Return True if its schema is known from the declaration, without compilation.
        """
        if self._schema is None:
            from ts.frontend import compile

            with build_lock(), self.policy.within(), compilation(self):
                if callable(self._parsed):
                    self._parsed = self._parsed()
                if self._parsed is not None:
                    self._adopt_parsed(self._parsed)
                    self._schema = compile.declare(self._parsed)
        return self._schema is not None

    def _compile(self) -> None:
        to_compile, self._parsed = self._parsed, None
        if to_compile is None:
            return
        from ts.frontend import compile  # imported here: programs without compilation do not need it

        try:
            with self.policy.within(), compilation(self), gc_disabled():
                with Stage("compile: parse", self.name):
                    parsed = to_compile() if callable(to_compile) else to_compile
                self._adopt_parsed(parsed)
                self._is_method = parsed.self_type is not None
                schema = self._schema = self._schema or compile.declare(parsed)
                with Stage("compile: emit", self.name):
                    compiled = run_with_large_stack(
                        lambda: compile.compile_function(parsed, compile_function, schema=schema)
                    )
            self.holds_breakpoint = compiled.holds_breakpoint
            if compiled.holds_breakpoint or compiled.warned:
                self.fingerprint = None
            self.finish(compiled.graph, compiled.schema)
        except BaseException:
            self._parsed, self._schema = to_compile, None
            raise

    def save(self, f: Any, _extra_files: Any = None) -> None:
        """Save the function to a path or file, as the method `forward` of a module."""
        from ts.archive.module_writer import write

        write(self.archived(), f, _extra_files)

    def save_to_buffer(self, _extra_files: Any = None) -> bytes:
        """Return the function's archive as bytes."""
        from ts.archive.module_writer import to_bytes

        return to_bytes(self.archived(), _extra_files)

    def archived(self, method: str = "forward") -> Object:
        """Return a script object for archives.

        Its class is a placeholder that has the function as the method `method`.
        """
        from ts.bytecode.typespec import object_class
        from ts.frontend.source_importer import ImportedModule
        from ts.ir.schema import Argument, FunctionSchema
        from ts.ir.types import BOOL, ModuleType

        type = ModuleType("__torch__.PlaceholderModule", {"training": BOOL})
        concrete = type.concrete = ImportedModule(_Placeholder, type)
        concrete.attributes = type.attributes
        graph = self.as_compiled().copy()
        receiver = graph.param_node().insert_output(0)
        receiver.set_type(type)
        receiver.set_debug_name("self")
        function = ScriptFunction(method, f"{type.qualified_name()}.{method}")
        arguments = (Argument("self", type), *self.schema.arguments)
        function.finish(graph, FunctionSchema(method, "", arguments, self.schema.returns))
        type.methods[method] = function
        created = new_object(object_class(type))
        object_set(created, 0, True)
        return created

    def adopt(
        self, arguments: list[tuple[Any, ...]], declaration: str, by_name: int, result: TypeSpec
    ) -> None:
        """Set the signature that was stored with cached code.

        The graph is then compiled only when it is needed.
        """
        with build_lock():
            if self._graph is None and not self._adopted:
                super().__init__(self.name, arguments, declaration, by_name, result)
                self._adopted = True

    def finish(self, graph: Graph, schema: FunctionSchema) -> None:
        """Set the graph and the schema, and derive the signature from the schema."""
        self._schema = schema
        if self._adopted:
            self._graph = graph
            return
        from ts.bytecode.typespec import argument_spec, sized_spec, type_spec

        arguments = []
        for a in schema.arguments:
            spec = argument_spec(a.type) if a.size is None else sized_spec(a.type, a.size)
            arguments.append((a.name, spec, a.default) if a.has_default else (a.name, spec))
        by_name = sum(a.kwarg_only for a in schema.arguments)
        super().__init__(self.name, arguments, str(schema), by_name, type_spec(schema.returns[0].type))
        self._graph = graph  # assigned last: a thread that sees the graph relies on the signature

    def with_graph(self, graph: Graph, qualified_name: str, schema: FunctionSchema) -> ScriptFunction:
        """Return a function with this function's name and another graph."""
        created = ScriptFunction(self.name, qualified_name)
        created.finish(graph, schema)
        return created

    def definition(self) -> ParsedFunction | None:
        """Return the parsed source, or None for a function from a graph.

        If the parsed source was released, parse again.
        """
        definition = self._definition
        return definition() if callable(definition) else definition

    def _prepare(self) -> Any:
        """Compile the function and return its code. The interpreter calls this method at the first call."""
        with gc_disabled():
            return preallocate_frames(_compile_code, self)

    def _begins_with_baseline(self) -> bool:
        """Return whether the first calls run baseline code. The interpreter calls this at the first call."""
        with gc_disabled():
            return bool(preallocate_frames(_begins_with_baseline, self))

    def baseline(self) -> Baseline:
        """Return the variant that the first calls run."""
        if self._baseline is None:
            self._baseline = resolve("executor").Baseline(self)
        return self._baseline

    def without_optimisation(self) -> Unoptimized:
        """Return the variant that `optimized_execution(False)` runs."""
        if self._unoptimized is None:
            self._unoptimized = resolve("executor").Unoptimized(self)
        return self._unoptimized

    def with_gradients(self) -> Differentiated:
        """Return the variant that runs while autograd records."""
        if self._differentiated is None:
            self._differentiated = resolve("executor").Differentiated(self)
        return self._differentiated

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: the schema, and sections with the stages of the compilation."""
        import html

        stages: dict[str, str] = {
            "code": self.code,
            # not `self.graph`, which would disable the code cache
            "graph": self.as_compiled()._repr_html_(),
            "bytecode": self.bytecode,
        }
        sections = "".join(
            f"<details><summary>{stage}</summary>"
            f"{rendered if stage == 'graph' else f'<pre>{html.escape(rendered)}</pre>'}</details>"
            for stage, rendered in stages.items()
        )
        return f'<div class="ts-function"><code>{html.escape(str(self.schema))}</code>{sections}</div>'

    def __repr__(self) -> str:
        return f"<ScriptFunction {self.qualified_name}>"


def _annotations(function: Any) -> dict[str, Any]:
    """Return the annotations of a function.

    Under Python 3.14 and later, undefined names in them become forward references.
    """
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(function, format=annotationlib.Format.FORWARDREF)
    annotations: dict[str, Any] = getattr(function, "__annotations__", {})
    return annotations


def _signature(schema: FunctionSchema) -> inspect.Signature:
    """Return a Python signature for a schema. Annotations are TorchScript types."""
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(
            a.name,
            kinds[a.kwarg_only],
            default=a.default if a.has_default else inspect.Parameter.empty,
            annotation=a.type.annotation_str,
        )
        for a in schema.arguments
    ]
    results = [result.type.annotation_str for result in schema.returns]
    result = results[0] if len(results) == 1 else f"Tuple[{', '.join(results)}]" if results else None
    return inspect.Signature(parameters, return_annotation=result)


def _compile_code(function: ScriptFunction) -> Any:
    return resolve("executor").prepare(function)


def _begins_with_baseline(function: ScriptFunction) -> bool:
    executor = resolve("executor")
    begins: bool = executor.begins_with_baseline(function, executor.GraphVariant.OPTIMIZED)
    return begins


def unpickled_function(name: str, data: bytes) -> ScriptFunction:
    """Unpickle a function: the method `forward` of an archived module."""
    from ts.archive.module_reader import read
    from ts.ir.schema import FunctionSchema

    forward = read(io.BytesIO(data), policy=UNRESTRICTED).cls.type.methods["forward"]
    graph = forward.graph.copy()
    graph.block().erase_input(0)
    function = ScriptFunction(name)
    function.finish(graph, FunctionSchema(name, "", forward.schema.arguments[1:], forward.schema.returns))
    return function


class _Placeholder:
    """Class of the module in an archive that contains only a function."""


def _definition(parsed: ToCompile | None) -> Callable[[], ParsedFunction | None] | ParsedFunction | None:
    """Return the parsed function, or a callable that returns it, for `ScriptFunction.definition`.

    For a Python function, return a callable that parses the source again, so that the memory of `parsed` can
    be released.
    """
    if parsed is None or callable(parsed) or parsed.function is None or parsed.signature is not None:
        return parsed
    return partial(_parse, parsed.function)


def _parse(function: Any, source: FunctionSource | None = None) -> ParsedFunction:
    from ts.frontend import parse  # imported here, as cached code does not need it

    return parse.function_def(function, function_source=source)


# ---- scripting of Python functions -------------------------------------------------------------------


def compile_function(
    function: Callable[..., Any], declaration: Callable[..., Any] | None = None
) -> ScriptFunction:
    """Return the scripted function for a Python function, and compile the function if it is not cached.

    `declaration` (by `ts.jit.overload`) replaces the types of the function. The result is then not cached. If
    the compilation fails, the functions that it has added to the cache are removed.
    """
    function = inspect.unwrap(function)
    if declaration is not None:
        return _compile_overload(function, declaration)
    script = scripted_functions.get(function)
    if script is not None and script.is_compiled:
        return script
    with build_lock(), gc_disabled():
        # Search again, because another thread may have compiled the function while this one waited for the
        # lock.
        script = scripted_functions.get(function)
        return preallocate_frames(_compile_anew, function) if script is None else script


def _compile_anew(function: Callable[..., Any]) -> ScriptFunction:
    global _session
    outermost = _session is None
    if outermost:
        _session = []
    assert _session is not None
    try:
        fingerprint = _fingerprint_of(function)
        script = _script_from_cache(function, fingerprint) or _declared(function)
        script.fingerprint = fingerprint
        scripted_functions[function] = script
        _session.append(function)
        if script.cached_code is None:
            script.ensure_compiled()
    except BaseException:
        if outermost:
            for added in _session:
                scripted_functions.forget(added)
        raise
    finally:
        if outermost:
            _session = None
    return script


def _declared(function: Any) -> ScriptFunction:
    parsed = run_with_large_stack(lambda: _parse(function))
    return _with_unique_name(function, ScriptFunction(function.__name__, "", parsed))


def _fingerprint_of(function: Any) -> FunctionFingerprint | None:
    """Return the fingerprint of a function in the code cache, or None for uncached functions."""
    if disk_cache.cache_folder() is None or not isinstance(function, FunctionType):
        return None
    from ts.runtime.function_fingerprint import fingerprint_of

    return fingerprint_of(function)


def _script_from_cache(function: Any, fingerprint: FunctionFingerprint | None) -> ScriptFunction | None:
    """Return a scripted function with code from the code cache. Its graph is compiled on first use.

    Return None if the code is not cached.
    """
    if fingerprint is None:
        return None
    from ts.runtime.graph_variants import GraphVariant

    parse_it = partial(_parse, fingerprint.frozen, source=fingerprint.source)
    script = ScriptFunction(function.__name__, "", parse_it)
    script.fingerprint = fingerprint
    for variant in (GraphVariant.OPTIMIZED, GraphVariant.DIFFERENTIATED):
        entry = resolve("executor").cache_entry(script, variant)
        code = None if entry is None else entry.read()
        if entry is not None and code is not None:
            script.cached_code = entry.path, code
            return _with_unique_name(function, script)
    return None


def forget(function: object) -> None:
    """Remove a function from the memo of `script`.

    The next `script` call compiles it again, with types inferred from example calls.
    """
    if inspect.isfunction(function):
        scripted_functions.forget(inspect.unwrap(function))


def _compile_overload(function: Callable[..., Any], declaration: Callable[..., Any]) -> ScriptFunction:
    from ts.frontend.overloads import parse_overload

    parsed = parse_overload(function, declaration)
    script = _with_unique_name(function, ScriptFunction(function.__name__, "", parsed))
    script.ensure_compiled()
    return script


def get_overloads(function: Callable[..., Any]) -> list[Any]:
    """Return the compiled functions for all `ts.jit.overload` declarations of a function, in order."""
    from ts.frontend.overloads import compiled_overloads

    return compiled_overloads(function, compile_function)


def _with_unique_name(function: Callable[..., Any], script: ScriptFunction) -> ScriptFunction:
    """Give `script` a unique qualified name and the metadata of `function`, and return `script`."""
    script.qualified_name = naming.unique_name(naming.qualified_name(function))
    script._copy_metadata(function)
    naming.register_live(script)
    return script


naming.install(ScriptFunction)


# ---- functions from strings and graphs ---------------------------------------------------------------


def declare_functions(definitions: Iterable[ParsedFunction]) -> dict[str, ScriptFunction]:
    """Return scripted functions by name, compiled on first use. Raise RuntimeError for equal names."""
    declared: dict[str, ScriptFunction] = {}
    for parsed in definitions:
        if parsed.name in declared:
            raise RuntimeError(f"method '{parsed.name}' already defined.")
        declared[parsed.name] = ScriptFunction(parsed.name, f"__torch__.{parsed.name}", parsed)
    return declared


def create_function_from_graph(name: str, graph: Graph) -> ScriptFunction:
    """Return a function that runs a graph. Its parameters are the inputs of the graph."""
    from ts.analysis.graph_typecheck import check_types
    from ts.ir.schema import Argument, FunctionSchema
    from ts.ir.verifier import verify
    from ts.passes.preserve_raising_code import set_graph_to_execute
    from ts.passes.pytorch.lower_executor_nodes import with_executor_nodes_lowered

    try:
        verify(graph)
    except InternalError as error:  # the caller's graph is invalid
        raise CompilationError(f"{error.message}:\n{error.graph_text}") from None
    graph = graph.copy()
    arguments = tuple(
        Argument(value.debug_name() if value.has_debug_name() else f"argument_{i}", value.type())
        for i, value in enumerate(graph.inputs())
    )
    graph.make_multi_output_into_tuple()
    returned = graph.outputs()[0].type()
    runs = with_executor_nodes_lowered(graph)
    check_types(runs)
    if runs is not graph:
        set_graph_to_execute(graph, runs)
    script = ScriptFunction(name)
    script.finish(graph, FunctionSchema(name, "", arguments, (Argument("", returned),)))
    return script


def interpret_graph(graph: Graph, inputs: Mapping[str, Any] | Iterable[Any]) -> Any:
    """Run a graph once and return its results."""
    return create_function_from_graph("graph", graph)(*inputs)
