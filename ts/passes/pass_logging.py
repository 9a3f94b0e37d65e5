"""Logging of passes, and limits of the number of their changes for bisection, set by environment variables.

The right column describes the effect of each setting:

    TS_JIT_LOG_LEVEL=dce:>graph_fuser    logs graphs and changes of both passes, and reasons of `graph_fuser`
    TS_JIT_OPT_LIMIT=cse=3:dce=10        permits at most 3 changes by `cse`, and 10 by `dce`

The variables are read when this module is imported. `configure` changes the settings later. PyTorch's names
of variables (`PYTORCH_JIT_LOG_LEVEL`) and passes (`dead_code_elimination`) are also valid. Passes log graphs
(`dump`), changes (`update`) and reasons for decisions (`debug`) to the standard error stream.
PYTORCH_JIT_TYPE_VERBOSITY (0 to 3) sets the detail of types in graph text.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Final, TextIO

DUMP: Final = 0
UPDATE: Final = 1
DEBUG: Final = 2
_LABELS: Final = ("DUMP", "UPDATE", "DEBUG")

# Name of a source file of PyTorch -> name of the pass in `ts`.
_ALIASES: Final = {
    "autodiff": "create_autodiff_subgraphs",
    "bailout_graph": "guards",
    "common_subexpression_elimination": "cse",
    "dead_code_elimination": "dce",
    "device_type_analysis": "shape_analysis",
    "dtype_analysis": "shape_analysis",
    "exit_transforms": "exit_transform",
    "fixup_trace_scope_blocks": "trace_scopes",
    "frozen_concat_linear": "concat_frozen_linear",
    "guard_elimination": "guards",
    "inline_autodiff_subgraphs": "create_autodiff_subgraphs",
    "inline_forked_closures": "lift_closures",
    "inliner": "inline",
    "insert_guards": "guards",
    "integer_value_refinement": "refine_integer_values",
    "peephole_alias_sensitive": "peephole",
    "peephole_non_tensor": "peephole",
    "restore_mutation": "inplace_activations",
    "symbolic_shape_analysis": "shape_analysis",
    "tensorexpr_fuser": "graph_fuser",
}

# Modules of this package that are not passes.
_NO_PASSES: Final = frozenset(
    {
        "__init__",
        "pass_utils",
        "constant_evaluation",
        "lint",
        "pass_logging",
        "pipelines",
        "rewriter",
        "insert_type_checks",
    }
)

_levels: dict[str, int] = {}
_limits: dict[str, int] = {}
_stream: TextIO | None = None


def configure(
    levels: str = "", limits: str = "", stream: TextIO | None = None, source: str = "limits"
) -> None:
    """Configure the logged passes and optimization limits, in the syntax of the environment variables.

    Warn about unknown pass names, because `ts` does not have all passes of PyTorch. For an invalid number in
    `limits`, raise an error that contains `source`, the name of the environment variable.
    """
    global _stream
    _levels.clear()
    _limits.clear()
    _stream = stream
    for entry in filter(None, levels.split(":")):
        name = entry.lstrip(">")
        _levels[_pass_name(name)] = UPDATE + min(len(entry) - len(name), 1)
    for entry in filter(None, limits.split(":")):
        name, _, count = entry.partition("=")
        if not count.isdecimal():
            raise ValueError(
                f"{source}: expected a limit of the form pass=number (for example cse=3), found {entry!r}"
            )
        _limits[_pass_name(name)] = int(count)
    unknown = {*_levels, *_limits} - _pass_names() if _levels or _limits else None
    if unknown:
        unknown_names, valid_names = ", ".join(sorted(unknown)), ", ".join(sorted(_pass_names()))
        warnings.warn(f"unknown pass {unknown_names}; the passes are {valid_names}", stacklevel=2)


def _pass_names() -> set[str]:
    """Return the names of all pass modules in this package and its packages."""
    return set(pass_files())


def pass_files() -> dict[str, Path]:
    """Return the files of all passes by pass name, which is the name of the module."""
    files = {path.stem: path for path in Path(sys.modules["ts.passes"].__path__[0]).rglob("*.py")}
    return {name: path for name, path in files.items() if name not in _NO_PASSES}


def _pass_name(name: str) -> str:
    stem = name.rpartition("/")[2].removesuffix(".cpp").removesuffix(".py")
    return _ALIASES.get(stem, stem)


def is_configured() -> bool:
    """Return whether logging or an optimization limit is configured for any pass."""
    return bool(_levels or _limits)


def enabled(name: str, level: int = UPDATE) -> bool:
    """Return whether pass `name` logs messages of `level`."""
    return bool(_levels) and _levels.get(name, -1) >= level


def dump(name: str, template: str, *values: object) -> None:
    """Log a message that contains a whole graph, at level `dump`."""
    _log(name, DUMP, template, values)


def update(name: str, template: str, *values: object) -> None:
    """Log one change of the graph, at level `update`."""
    _log(name, UPDATE, template, values)


def debug(name: str, template: str, *values: object) -> None:
    """Log the reason for a decision of a pass, at level `debug`."""
    _log(name, DEBUG, template, values)


def _log(name: str, level: int, template: str, values: tuple[object, ...]) -> None:
    if enabled(name, level):
        stream = _stream or sys.stderr
        for line in template.format(*values).rstrip("\n").split("\n"):
            print(f"[{_LABELS[level]} {name}] {line}", file=stream)


def is_exhausted(name: str) -> bool:
    """Return whether pass `name` has made all changes that its limit allows."""
    return bool(_limits) and _limits.get(name, 1) <= 0


def optimization_allowed(name: str) -> bool:
    """Count a change by pass `name`, and return whether the limit allows it."""
    if is_exhausted(name):
        return False
    if name in _limits:
        _limits[name] -= 1
    return True


def _variable(suffix: str) -> str:
    """Return the environment variable that is set, `TS_JIT_*` or `PYTORCH_JIT_*`, or "" if neither is."""
    names = (f"TS_JIT_{suffix}", f"PYTORCH_JIT_{suffix}")
    return next((name for name in names if os.environ.get(name)), "")


configure(
    os.environ.get(_variable("LOG_LEVEL"), ""),
    os.environ.get(_variable("OPT_LIMIT"), ""),
    source=_variable("OPT_LIMIT"),
)
