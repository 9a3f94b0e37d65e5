"""Reader of the record of PyTorch's names, `api.txt`, which `tests/record_torch_api.py` writes.

The left column shows a line of the file, the right column its meaning:

    [nn.modules.module]                      a module, by its path in `torch`
    alias nn.Module                          another name of the object at this path
    class _WrappedHook                       a class that this module defines (`Entry` lists other kinds)
    external typing.Any                      an object of another package
    same nn.modules.module                   the module of this section is an alias of that module
    literal _EXTRA_STATE_KEY_SUFFIX='...'    a constant with its value

The file is read at the first access to a name that `ts` lacks.
"""

from __future__ import annotations

import os.path
from functools import cache
from typing import Any, Final, NamedTuple

__loader__: Any
_ALIASES: Final = frozenset({"alias", "external"})
_WITH_VALUE: Final = frozenset({"literal", "logger"})


class Entry(NamedTuple):
    """Record of a name in a PyTorch module.

    `kind` is alias, class, error, external, function, literal, logger, module, typevar or value.

    `detail` depends on the kind. It is the path of an alias or external object, the text of a literal, or the
    name of a logger. For an error, it is the builtin class that the error class extends. For other kinds, it
    is empty.
    """

    kind: str
    detail: str = ""


@cache
def _sections() -> dict[str, str]:
    file = os.path.join(os.path.dirname(__file__), "api.txt")
    data: bytes = __loader__.get_data(file)  # `open` would fail for a package in a ZIP file
    contents = data.decode()
    sections = {}
    for section in contents.split("\n[")[1:]:
        path, _, lines = section.partition("]")
        sections[path] = lines
    return sections


@cache
def entries(path: str) -> dict[str, Entry]:
    """Return the recorded entries of the module `torch.<path>` by name, or {} if there is no such module."""
    entry_by_name = {}
    for line in _sections().get(canonical_path(path), "").splitlines():
        header, *items = line.split(" ")
        kind, _, base = header.partition(":")
        for item in items:
            if kind in _ALIASES:
                name, _, target = item.rpartition("=")
                entry_by_name[name or target.rpartition(".")[2]] = Entry(kind, target)
            elif kind in _WITH_VALUE:
                name, _, target_text = item.partition("=")
                entry_by_name[name] = Entry(kind, target_text)
            else:
                entry_by_name[item] = Entry(kind, base)
    return entry_by_name


def paths() -> frozenset[str]:
    """Return the paths of all recorded modules. The path of `torch` is ""."""
    return frozenset(_sections())


@cache
def packages() -> frozenset[str]:
    """Return the paths of the modules that have submodules."""
    return frozenset(path.rpartition(".")[0] for path in _sections())


@cache
def canonical_path(path: str) -> str:
    """Return the canonical path of a module that PyTorch imports under two paths, or the path itself."""
    lines = _sections().get(path, "").split()
    return lines[1] if lines[:1] == ["same"] else path


def is_module(path: str) -> bool:
    """Return True if PyTorch has a module with this path."""
    return path in _sections()


def split(path: str) -> tuple[str, str]:
    """Split the path of an object, such as "nn.Module", into the path of its module and its name."""
    module, _, name = path.rpartition(".")
    return module, name
