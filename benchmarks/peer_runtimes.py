"""Contestants of the benchmarks: each compiles a Python function to a callable.

PyTorch and Numba are used if they are installed.  If a contestant cannot compile a program, its cell in
the row of the program is a dash (`timing.table`).
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
    """Return `function` compiled by PyTorch's TorchScript; the first calls are its profiling runs."""
    import torch

    torch.set_num_threads(1)
    scripted: Function = torch.jit.script(function)
    return scripted


def numba_jit(function: Function) -> Function:
    """Return `function` compiled by Numba in nopython mode."""
    import numba

    compiled: Function = numba.njit(function)
    return compiled


def has_llvm() -> bool:
    """Return True if `ts` can compile machine code."""
    return importlib.util.find_spec("llvmlite") is not None


def native(function: Function) -> Function:
    """Return a scripted copy of `function` whose loops are compiled to machine code immediately."""
    from ts.bytecode.native.background_compilation import compile_now

    copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    copy.__annotations__ = function.__annotations__
    scripted: Function = ts.jit.script(copy)
    compile_now(scripted.compiled_code)
    return scripted


def interpreted(function: Function) -> Function:
    """Return a scripted `function` whose hot loops are not compiled to machine code."""
    from ts._core.vm.native import register_compiler

    scripted: Function = ts.jit.script(function)
    assert scripted.compiled_code is not None  # the first compilation registers the native compiler
    register_compiler(None, 0)
    return scripted


def compiled(function: Function, arguments: tuple[Any, ...]) -> dict[str, Function]:
    """Return the function compiled by each contestant, after checking equal results for `arguments`."""
    versions: dict[str, Function] = {"ts": interpreted(function), "CPython": function}
    if has_llvm():
        versions["ts native"] = native(function)
    if has_torch():
        versions["PyTorch"] = torch_script(function)
    if has_numba():
        versions["Numba"] = numba_jit(function)
    expected = function(*arguments)
    for peer, version in list(versions.items()):
        try:
            result = version(*arguments)
        except Exception as error:  # only contestants other than `ts` may fail to compile the program
            if peer != "Numba":
                raise
            print(f"(Numba cannot run {function.__name__}: {type(error).__name__})")
            del versions[peer]
            continue
        if result != expected:
            raise AssertionError(f"{peer}: {function.__name__} returned {result!r}, expected {expected!r}")
    return versions
