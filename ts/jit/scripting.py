"""Compilation of Python functions and source strings: `ts.jit.script` and `ts.jit.CompilationUnit`.

Example:

    @script                                 # from a Python function
    def f(n: int) -> int: ...

    cu = CompilationUnit('''                # from a string
    def g(x: Tensor) -> Tensor:
        return torch.relu(x)
    ''')
    cu.g(x)
    CompilationUnit(f.code)                 # from the code of a compiled function

If the environment variable TS_JIT or PYTORCH_JIT is 0, `script` returns the function itself, for debugging.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, overload

from ts._core.late_binding import attribute_if_imported
from ts._core.value.build_lock import build_lock
from ts.errors import CompilationError, FrontendError, missing_attribute
from ts.frontend.error_aggregation import hide_internal_frames
from ts.frontend.naming import find_live, qualified_name, unique_name
from ts.frontend.resolve import Resolver
from ts.module_names import own_name
from ts.passes import pass_logging  # noqa: F401 -- the import checks the environment variables of passes
from ts.runtime.deep_recursion import run_with_large_stack
from ts.runtime.function import (
    ScriptFunction,
    compile_function,
    create_function_from_graph,
    declare_functions,
    forget,
)
from ts.runtime.jit_enabled import enabled

if TYPE_CHECKING:
    from ts.frontend.example_types import Call
    from ts.frontend.parse import ParsedFunction
    from ts.ir.graph import Graph
    from ts.ir.types import ClassType

# Pattern of names that the source printed by `fn.code` may contain. Source that users write rarely has them.
_PRINTED_CODE_PATTERN = (
    r"\b(?:unchecked_cast|uninitialized|fork|inf|nan|infj|nanj)\b|\b(?:__torch__|ops\.prim)\."
)
_HEAP_TYPE_FLAG = 1 << 9  # flag of classes that a `class` statement creates (Py_TPFLAGS_HEAPTYPE)


if TYPE_CHECKING:
    from typing import Generic, ParamSpec, TypeVar

    from ts.nn.modules.module import Module
    from ts.runtime.module import RecursiveScriptModule

    C = TypeVar("C", bound=type)
    P = ParamSpec("P")
    R = TypeVar("R")

    class Scripted(ScriptFunction, Generic[P, R]):
        """Type that type checkers see for the result of `script(function)`: it is called like `function`."""

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
            """Call the function. The declaration tells type checkers the parameters and the result."""
            ...


@overload
def script(obj: C) -> C: ...  # type: ignore[overload-overlap]  # classes and modules are callables, too
@overload
def script(  # type: ignore[overload-overlap]
    obj: Module, optimize: None = None, _frames_up: int = 0, _rcb: object = None, example_inputs: Any = None
) -> RecursiveScriptModule: ...
@overload
def script(
    obj: Callable[P, R],
    optimize: None = None,
    _frames_up: int = 0,
    _rcb: object = None,
    example_inputs: Any = None,
) -> Scripted[P, R]: ...
def script(
    obj: Any,
    optimize: None = None,
    _frames_up: int = 0,
    _rcb: object = None,
    example_inputs: Any = None,
) -> Any:
    """Compile a function, module or class. An object that is already compiled is returned unchanged.

    For a list or dict, return a script container with the same elements. Changes by scripts are visible in
    Python.

    `example_inputs` is a list of argument tuples, or a dict from callables to such lists. These example calls
    run in Python. Their arguments determine the types of parameters without annotations.
    """
    try:
        return _script(obj, optimize, example_inputs)
    except FrontendError as error:
        raise hide_internal_frames(error) from error.__cause__


def _is_module_class(cls: type) -> bool:
    return any(
        base.__name__ == "Module" and own_name(base.__module__).startswith("ts.nn") for base in cls.__mro__
    )


def _script(obj: Any, optimize: None, example_inputs: Any) -> Any:
    if optimize is not None:
        warnings.warn(
            "`optimize` is deprecated and has no effect. Use `with torch.jit.optimized_execution()` instead",
            FutureWarning,
            stacklevel=3,
        )
    if not enabled() or isinstance(obj, ScriptFunction):
        return obj
    if isinstance(obj, str):
        raise TypeError(
            f"{type(obj)} is a built-in class; compile a string with ts.jit.CompilationUnit(text)"
        )
    if example_inputs is not None:
        from ts.frontend.example_types import observe

        observe(_example_calls(obj, example_inputs))
        forget(obj)
    if inspect.isclass(obj) and issubclass(obj, Enum):
        from ts.frontend.enums import enum_type

        enum_type(obj)  # raises an error for an enum that is not supported
        return obj
    if inspect.isclass(obj):
        return script_class(obj)
    if _is_module_class(type(obj)):
        from ts.runtime.module import script_module

        return script_module(obj)  # type: ignore[arg-type]  # `obj` is a module, see `_is_module_class`
    if inspect.ismethod(obj):
        obj = obj.__func__
    if hasattr(obj, "__script_unsupported"):  # the attribute contains the reason
        raise RuntimeError(f"TorchScript error: {getattr(obj, '__script_unsupported')}")
    if isinstance(obj, list | dict):
        from ts._core.value.script_containers import ScriptDict, ScriptList

        return ScriptList(obj) if isinstance(obj, list) else ScriptDict(obj)
    if not inspect.isfunction(inspect.unwrap(obj)):
        return _script_instance(obj)
    # No overloads are declared if the module is not imported.
    has_overloads = attribute_if_imported("ts.frontend.overloads", "has_overloads")
    if has_overloads is not None and has_overloads(obj):
        raise RuntimeError(
            f"Function {qualified_name(obj)} cannot be directly compiled because it is overloaded. It must "
            "be used in a context of a function where its inputs can determine which overload to call."
        )
    return compile_function(obj)


def _script_instance(obj: Any) -> Any:
    """Return a script object with the attributes of `obj`, or `obj` itself if it is a script object."""
    from ts.runtime.objects import RecursiveScriptClass, is_instance, script_instance

    if isinstance(obj, RecursiveScriptClass):
        return obj
    if not is_instance(obj):
        raise TypeError(_not_scriptable_message(obj))
    return script_instance(obj)


def _example_calls(obj: Any, example_inputs: Any) -> list[Call]:
    """Return the example calls as (callable, argument tuple) pairs.

    `example_inputs` is a list of argument tuples for `obj`, or a dict from callables to such lists.
    """
    if isinstance(example_inputs, dict):
        return [(function, arguments) for function, each in example_inputs.items() for arguments in each]
    if not isinstance(example_inputs, list):
        raise ValueError(
            "Error: Unable to infer types. Please format the inputs to type `List[Tuple]` or "
            "`Dict[Callable, List[Tuple]]` to be run with MonkeyType."
        )
    return [(obj, arguments) for arguments in example_inputs]


def script_class(cls: type) -> type:
    """Compile all methods of a class, and return the class itself."""
    if not cls.__flags__ & _HEAP_TYPE_FLAG:
        raise CompilationError(
            "TorchScript classes must be new-style classes. Please inherit from 'object'. "
            f"{cls.__name__} is a built-in class of Python"
        )
    if _is_module_class(cls):
        raise CompilationError(
            f"Type '{cls}' cannot be compiled since it inherits from nn.Module, pass an instance instead",
            hint=f"`ts.jit.script({cls.__name__}(...))`",
        )
    if len(cls.mro()) > 2:
        raise CompilationError(
            "TorchScript classes does not support inheritance yet. Please directly inherit from 'object'."
        )
    from ts.frontend.classes import compile_class

    compile_class(cls)
    return cls


def _not_scriptable_message(obj: object) -> str:
    cls = type(obj)
    if cls.__module__ == "builtins":
        return f"{cls} is a built-in class; script() takes a function, a class or a module, not {obj!r}"
    return f"script() takes a function, a class or a module, not an object of type {cls.__name__}"


class CompilationUnit:
    """Set of functions compiled from source text. The functions are attributes."""

    def __init__(self, lang: str | None = None, _frames_up: int = 0) -> None:
        self._functions: dict[str, ScriptFunction] = {}
        self._classes: dict[str, ClassType] = {}
        if lang is not None:
            self.define(lang, _frames_up=_frames_up + 1)

    def define(self, lang: str, rcb: object = None, _frames_up: int = 0) -> None:
        """Compile function definitions, which may call each other and functions defined before."""
        if not isinstance(lang, str):
            raise TypeError(
                f"CompilationUnit: expected source code as a string, got {type(lang).__name__}; "
                "use ts.jit.script for a Python function"
            )
        scope = Resolver.of_frame(_frames_up + 1)
        try:
            with build_lock():
                self._define(lang, Resolver(self._functions, self._classes, *scope.scopes))
        except FrontendError as error:
            if not re.search(_PRINTED_CODE_PATTERN, lang) or not self._define_printed(lang):
                raise hide_internal_frames(error) from error.__cause__

    def _define_printed(self, lang: str) -> bool:
        """Compile `lang` as source that `fn.code` printed. Return False if the compilation fails."""
        from ts.frontend.compile import compile_all
        from ts.frontend.serialized_resolver import SerializedResolver, printed_defs

        try:
            definitions = run_with_large_stack(lambda: printed_defs(lang, SerializedResolver(find=find_live)))
            declared = declare_functions(definitions.values())
            compile_all([*declared.values()])
        except FrontendError:
            return False
        self._functions.update(declared)
        return True

    def _define(self, lang: str, resolver: Resolver) -> None:
        from ts.frontend import parse
        from ts.frontend.classes import declare_class_from_source
        from ts.frontend.compile import compile_all

        parsed: dict[str, list[ParsedFunction]] = {}
        declared = declare_functions(
            run_with_large_stack(lambda: parse.module_defs(lang, resolver, classes=parsed))
        )
        for name in declared:
            if name in self._functions:
                raise RuntimeError(f"method '{name}' already defined.")
        types = {name: declare_class_from_source(name, methods) for name, methods in parsed.items()}
        self._functions.update(declared)
        self._classes.update(types)
        try:
            methods = (method for type_ in types.values() for method in type_.methods.values())
            compile_all([*methods, *declared.values()])
        except FrontendError:
            for name in declared:
                del self._functions[name]
            for name in types:
                del self._classes[name]
            raise

    def find_function(self, name: str) -> ScriptFunction | None:
        """Return the compiled function `name`, or None."""
        return self._functions.get(name)

    def create_function(
        self, qualified_name: str, graph: Graph, should_mangle: bool = False
    ) -> ScriptFunction:
        """Add a function that runs a copy of `graph`."""
        name = qualified_name.rpartition(".")[2]
        if name in self._functions:
            if not should_mangle:
                raise RuntimeError(f"method '{name}' already defined.")
            qualified_name = unique_name(qualified_name)
        function = create_function_from_graph(qualified_name, graph)
        self._functions[name] = function
        return function

    def get_interface(self, qualified_name: str) -> None:
        """Return None, because compilation units contain no interfaces."""

    def get_class(self, qualified_name: str) -> ClassType | None:
        """Return the class of this unit with the given qualified name, or None."""
        return self._classes.get(qualified_name)

    def set_optimized(self, optimize: bool) -> None:
        """Do nothing, because the option has no effect in PyTorch, either."""

    def get_functions(self) -> list[ScriptFunction]:
        """Return all functions, in the order of their definition."""
        return list(self._functions.values())

    def __getattr__(self, name: str) -> ScriptFunction:
        function = self.__dict__.get("_functions", {}).get(name)
        if function is None:
            raise missing_attribute("'CompilationUnit'", name, lambda: self.__dict__.get("_functions", ()))
        return function  # type: ignore[no-any-return]


class _PythonUnit(CompilationUnit):
    """Compilation unit that contains all scripted Python functions and classes, by qualified name."""

    def find_function(self, name: str) -> ScriptFunction | None:
        """Return the compiled function with the qualified name, or None."""
        function = super().find_function(name) or find_live(name)
        return function if isinstance(function, ScriptFunction) else None

    def get_class(self, qualified_name: str) -> ClassType | None:
        """Return the compiled class with the qualified name, or None."""
        cls: Any = find_live(qualified_name)
        return cls if cls is not None and hasattr(cls, "attributes") else None


python_cu = _PythonUnit()
"""PyTorch's `torch.jit._state._python_cu`."""
