"""API of TorchScript, under the names of `torch.jit`.

Each line shows a call and its effect:

    @ts.jit.script                               # compiles a function
    ts.jit.CompilationUnit(text).name            # compiles function definitions in a string
    ts.jit.annotate(List[int], [])               # declares the type of an expression
    ts.jit.is_scripting()                        # False here, True inside compiled code
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ts.errors import FrontendError as FrontendError
    from ts.errors import ScriptRuntimeError
    from ts.jit.scripting import CompilationUnit as CompilationUnit
    from ts.jit.scripting import script as script
    from ts.jit.tracing import trace as trace
    from ts.jit.tracing import trace_module as trace_module
    from ts.runtime.function import ScriptFunction as ScriptFunction

    Error = ScriptRuntimeError

_NAME_TO_MODULE: dict[str, tuple[str, str]] = {
    name: (module, name)
    for module, names in {
        "ts.runtime.jit_enabled": "enable disable",
        "ts.jit.scripting": "script CompilationUnit",
        "ts.frontend.compile_directives": "annotate ignore unused export is_scripting is_tracing isinstance "
        "boolean_dispatch fork wait script_if_tracing ignore_context_manager Attribute ScriptWarning "
        "unwrap_optional set_module is_optional get_tracing_state",
        "ts.jit.tracing": "trace trace_module get_trace_graph TracerWarning TracingCheckError",
        "ts.tracing.traced_module": "TracedModule TopLevelTracedModule",
        "ts.futures": "Future",
        "ts.frontend.interfaces": "interface",
        "ts.runtime.objects": "RecursiveScriptClass",
        "ts.frontend.overloads": "overload overload_method",
        "ts.ir.graph_printer": "hide_source_ranges",
        "ts.frontend.type_comment_tree": "parse_type_comment",
        "ts.runtime.module_iterators": "debug_module_iterators",
        "ts.passes.inline": "set_inline_everything_mode get_inline_everything_mode",
        "ts.runtime.function": "ScriptFunction create_function_from_graph interpret_graph get_overloads",
        "ts.runtime.module": "ScriptModule RecursiveScriptModule module_type method_names",
        "ts.runtime.script_method": "ScriptMethod script_method",
        "ts.runtime.executor_flags": "enable_onednn_fusion fuser onednn_fusion_enabled strict_fusion",
        "ts.runtime.executor": "optimized_execution set_fusion_strategy last_executed_optimized_graph",
        "ts.jit.recursive": "clear_class_registry create_script_module infer_methods_to_compile "
        "unique_state_dict",
        "ts.jit.serialization": "load save missing from_torch export_opnames",
        "ts.archive.record_files": "PyTorchFileReader PyTorchFileWriter",
        "ts.jit.freezing": "freeze optimize_for_inference run_frozen_optimizations",
        "ts.errors": "FrontendError NotSupportedError UnsupportedNodeError",
    }.items()
    for name in names.split()
} | {
    "Final": ("typing", "Final"),
    "caching_layer": ("ts.runtime.function_cache", "FUNCTION_CACHE"),
    "python_cu": ("ts.jit.scripting", "python_cu"),
    "Error": ("ts.errors", "ScriptRuntimeError"),
    "ScriptObject": ("ts.runtime.objects", "RecursiveScriptClass"),
    "get_callable_argument_names": ("ts.frontend.compile_directives", "callable_argument_names"),
    # Private names of PyTorch that programs use.
    "_unique_state_dict": ("ts.jit.recursive", "unique_state_dict"),
    "_get_trace_graph": ("ts.jit.tracing", "get_trace_graph"),
    "_fork": ("ts.frontend.compile_directives", "fork"),
    "_wait": ("ts.frontend.compile_directives", "wait"),
    "_overload": ("ts.frontend.overloads", "overload"),
    "_overload_method": ("ts.frontend.overloads", "overload_method"),
    "_script_if_tracing": ("ts.frontend.compile_directives", "script_if_tracing"),
    "_IgnoreContextManager": ("ts.frontend.compile_directives", "ignore_context_manager"),
    "_unwrap_optional": ("ts.frontend.compile_directives", "unwrap_optional"),
    "_isinstance": ("ts.frontend.compile_directives", "isinstance"),
}
_SUBMODULES = frozenset({"annotations", "frontend", "logging", "_logging"})


def __getattr__(name: str) -> Any:
    if name not in _NAME_TO_MODULE and name not in _SUBMODULES:
        from ts.errors import missing_attribute

        raise missing_attribute("module 'ts.jit'", name, __dir__)
    from ts._core.value.build_lock import import_lock
    from ts.runtime.gc_pause import gc_disabled
    from ts.runtime.python_frame_stack import preallocate_frames

    with import_lock(), gc_disabled():
        return preallocate_frames(_find, name)


def _find(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"ts.jit.{name.removeprefix('_')}")
    module, attribute = _NAME_TO_MODULE[name]
    value = globals()[name] = getattr(importlib.import_module(module), attribute)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAME_TO_MODULE})
