"""The contestants: how each of them gets from a Python function to something to call.

PyTorch and Numba take part where they are installed.  A peer that cannot compile a program is left
out of that row, and `measure.table` shows a dash.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from types import FunctionType
from typing import Any

import ts

Function = Callable[..., Any]


def has_torch() -> bool:
    """Return True if PyTorch is installed."""
    return importlib.util.find_spec("torch") is not None


def has_numba() -> bool:
    """Return True if Numba is installed."""
    return importlib.util.find_spec("numba") is not None


def missing() -> dict[str, str]:
    """Return the contestants that are not installed, with their package names."""
    there = {"PyTorch": has_torch(), "Numba": has_numba(), "machine code of ts": has_llvm()}
    packages = {"PyTorch": "torch", "Numba": "numba", "machine code of ts": "llvmlite"}
    return {peer: packages[peer] for peer, is_there in there.items() if not is_there}


def torch_script(function: Function) -> Function:
    """`function` compiled by PyTorch's TorchScript, profiling runs done by the first calls."""
    import torch

    torch.set_num_threads(1)
    scripted: Function = torch.jit.script(function)
    return scripted


def numba_jit(function: Function) -> Function:
    """`function` compiled by Numba in nopython mode."""
    import numba

    compiled: Function = numba.njit(function)
    return compiled


def has_llvm() -> bool:
    """Return True if `ts` can compile machine code."""
    return importlib.util.find_spec("llvmlite") is not None


def native(function: Function) -> Function:
    """`function` scripted once more, with the machine code that its hot loops would have soon."""
    from ts.bytecode.native.background_compilation import compile_now

    copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    copy.__annotations__ = function.__annotations__
    scripted: Function = ts.jit.script(copy)
    compile_now(scripted.compiled_code)
    return scripted


def interpreted(function: Function) -> Function:
    """`function` scripted, its hot loops left to the interpreter."""
    from ts._core.vm.native import register_compiler

    scripted: Function = ts.jit.script(function)
    assert scripted.compiled_code is not None  # made now: the first code that is made begins to ask
    register_compiler(None, 0)
    return scripted


def compiled(function: Function, arguments: tuple[Any, ...]) -> dict[str, Function]:
    """Every contestant's version of a function of plain Python values, checked to agree on `arguments`."""
    versions: dict[str, Function] = {"ts": interpreted(function), "CPython": function}
    if has_llvm():
        versions["ts native"] = native(function)
    if has_torch():
        versions["PyTorch"] = torch_script(function)
    if has_numba():
        versions["Numba"] = numba_jit(function)
    expected = function(*arguments)
    for who, version in list(versions.items()):
        try:
            result = version(*arguments)
        except Exception as error:  # a peer's compiler may refuse the program; ours may not
            if who != "Numba":
                raise
            print(f"(Numba cannot run {function.__name__}: {type(error).__name__})")
            del versions[who]
            continue
        if result != expected:
            raise AssertionError(f"{who}: {function.__name__} returned {result!r}, expected {expected!r}")
    return versions
