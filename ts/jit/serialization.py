"""Archives of scripted modules: `ts.jit.save`, `load`, `missing`, `from_torch`, `export_opnames`.

Example:

    ts.jit.save(module, "model.pt", _extra_files={"labels.txt": "cat\\ndog"})
    module = ts.jit.load("model.pt", map_location="cpu")
    ts.jit.missing("model.pt")          # list of features that the archive needs and `ts` lacks
    module = ts.jit.from_torch(module)  # from a module of PyTorch, which must be imported
    export_opnames(module)              # ["aten::add.Tensor", "aten::relu"], the required operators
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any

from ts.archive.module_reader import read
from ts.archive.zip_records import Location
from ts.devices import device
from ts.frontend.load_policy import UNRESTRICTED, LoadPolicy
from ts.runtime.function import ScriptFunction
from ts.runtime.gc_pause import gc_disabled
from ts.runtime.limits import limits
from ts.runtime.module import ScriptModule, module_of
from ts.runtime.module_handle import wrap_handle

if TYPE_CHECKING:
    from ts.archive.compatibility_check import MissingFeature
    from ts.archive.module_writer import ExtraFiles


def save(m: Any, f: str | os.PathLike[str] | IO[bytes], _extra_files: ExtraFiles = None) -> None:
    """Write a scripted module or function to a path or a file."""
    m = wrap_handle(m)
    if not isinstance(m, ScriptFunction | ScriptModule):
        raise AttributeError(
            f"'{type(m).__name__}' object has no attribute 'save_to_buffer': only scripted modules "
            "and functions can be saved"
        )
    from ts.archive.module_writer import write

    write(m.archived(), f, _extra_files)


def load(
    f: str | os.PathLike[str] | IO[bytes],
    map_location: Location = None,
    _extra_files: dict[str, Any] | None = None,
    _restore_shapes: bool = False,
    *,
    limits: limits | None = None,
    allowed_ops: Iterable[str] | None = None,
    mmap: bool = True,
) -> Any:
    """Load a scripted module from an archive.

    `map_location` is the device of the loaded tensors. The keys of the dict `_extra_files` are names of
    additional records in the archive. The function sets their values to the contents of the records.

    With `mmap`, large tensors of a file given by path are mapped into memory. All processes that load the
    file share the pages, but writes remain private. The mapped file may be replaced, as `save` does, but not
    overwritten. For files that may be overwritten, use `mmap=False`.

    Two parameters are for untrusted files. `limits` apply to the reading of the file, and separately to each
    later compilation of a function in it. For calls, use `with ts.limits()`. `allowed_ops` lists the
    permitted operators by name (`aten::add`), overload (`aten::add.Tensor`) or pattern (`aten::*`). Other
    operators raise an error with the source location. `aten::save`, which writes files, must be listed by
    name.
    """
    if not isinstance(map_location, (str, device, type(None))):
        raise ValueError(
            f"map_location should be either None, string or torch.device, but got type: {type(map_location)}"
        )
    with gc_disabled():
        return module_of(read(f, map_location, _extra_files, LoadPolicy(limits, allowed_ops), mmap))


def missing(f: str | os.PathLike[str] | IO[bytes]) -> list[MissingFeature]:
    """Return the operators, overloads, classes and other features that an archive needs and `ts` lacks.

    Code of the archive is not executed. Each returned record has a `kind`, a `name`, and the `locations` in
    the archive that use the feature.
    """
    from ts.archive.compatibility_check import missing

    return missing(f)


def from_torch(module: Any) -> Any:
    """Convert a scripted module or function of PyTorch, which must be imported.

    PyTorch scripts a plain module first. PyTorch then writes an archive to memory, and `ts` loads this
    archive, so that the result shares no memory with the module.
    """
    torch = sys.modules.get("torch")
    torch_jit = getattr(torch, "jit", None)
    if torch is None or torch_jit is None or not hasattr(torch_jit, "ScriptModule"):
        raise RuntimeError("from_torch: expected a PyTorch module, but PyTorch is not imported")
    if not isinstance(module, torch.nn.Module | torch_jit.ScriptFunction):
        message = "from_torch: expected a PyTorch module or scripted function, got"
        raise TypeError(f"{message} {type(module).__module__}.{type(module).__qualname__}")
    if not isinstance(module, torch_jit.ScriptModule | torch_jit.ScriptFunction):
        module = torch_jit.script(module)
    buffer = io.BytesIO()
    torch_jit.save(module, buffer)
    buffer.seek(0)
    return module_of(read(buffer, policy=UNRESTRICTED))


def export_opnames(m: Any) -> list[str]:
    """Return the sorted names, with overloads, of the operators that the methods call."""
    if not isinstance(m, ScriptModule):
        raise TypeError(
            f"export_opnames: expected a scripted module, got an object of type {type(m).__name__}"
        )
    from ts.passes.inline import inline  # imported here: loading and calling cached code do not need it

    names = set()
    for module in m.modules():
        for method in module._concrete.type.methods.values():
            graph = method.graph.copy()
            inline(graph)
            for node in graph.all_nodes():
                schema = node.schema()
                if schema is not None and not node.kind().startswith("prim::"):
                    names.add(schema.key)
    return sorted(names)
