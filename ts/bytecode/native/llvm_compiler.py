"""LLVM compiler interface (llvmlite) with loop vectorization (auto-vectorization), from text to machine code.

Input: LLVM IR from `codegen.translate`. Output: a `MachineCode` with the address of the function. The address
is valid as long as this object exists.

Object files are stored in the disk cache (`bytecode/disk_cache`). The key is a hash of the text, LLVM's
version, the processor and its features.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from functools import cache
from itertools import count
from typing import Any, Final

import llvmlite
import llvmlite.binding as llvm

from ts.bytecode import disk_cache

_FORMAT: Final = 1
_numbers = count()
_lock = threading.RLock()
# LLVM's resource trackers of machine code that is no longer used. The next compilation releases them.
_unused_trackers: deque[Any] = deque()


class MachineCode:
    """Compiled function in memory, owned by its Code."""

    def __init__(self, tracker: Any) -> None:
        self._tracker = tracker
        self.address: int = tracker["run"]

    def __del__(self, dead: deque[Any] = _unused_trackers) -> None:
        dead.append(self._tracker)  # not released here, because a finalizer must not wait for LLVM's lock


def compile(llvm_ir: str) -> MachineCode:
    """Return the machine code of the module `llvm_ir`, loaded from the disk cache if possible."""
    with _lock:
        _unused_trackers.clear()
        path = disk_cache.cache_path(_name(llvm_ir), ".o")
        image = None if path is None else disk_cache.read(path)
        if image is not None:
            try:
                return _load(image)
            except RuntimeError:  # LLVM cannot link the cached object file, so compile the IR again
                image = None
        image = _assemble(llvm_ir)
        if path is not None:
            disk_cache.write(path, image)
        return _load(image)


def assembly(llvm_ir: str) -> str:
    """Return the optimized assembly of the module `llvm_ir`, for display."""
    with _lock:
        output: str = _machine().emit_assembly(_optimised(llvm_ir))
        return output


def _name(llvm_ir: str) -> str:
    versions = llvmlite.__version__, llvm.llvm_version_info, llvm.get_process_triple()
    key_parts = [_FORMAT, *versions, *_processor(), llvm_ir]
    return disk_cache.digest(json.dumps(key_parts).encode())


def _assemble(llvm_ir: str) -> bytes:
    image: bytes = _machine().emit_object(_optimised(llvm_ir))
    return image


def _optimised(llvm_ir: str) -> Any:
    machine = _machine()
    module = llvm.parse_assembly(llvm_ir)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


def _load(image: bytes) -> MachineCode:
    builder = llvm.JITLibraryBuilder().add_object_img(image).export_symbol("run")
    return MachineCode(builder.link(_jit(), f"loops{next(_numbers)}"))


@cache
def _processor() -> tuple[str, str]:
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def _machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name, features = _processor()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=name, features=features, opt=2, reloc="pic", codemodel="default", jit=True
    )


@cache
def _jit() -> Any:
    return llvm.create_lljit_compiler(_machine())
