"""What a call runs: how it is named on the wire, and found on the other side.

    sent = Sent()
    sent.name(torch.add)                 ("operator", "aten::add")
    sent.name(scripted)                  ("code", sha256, "scripted"); sent.archive(sha256) gives its bytes
    sent.name(python_function)           ("python", "package.module", "function"), where that is allowed

    known = Known(allow_python=False)
    known.find(("code", sha256, "scripted"))         Unknown, until known.add(sha256, archive)

Code travels as an archive, once per receiver and content.  It is data until its digest was checked, and is
compiled by the archive's reader, under the receiver's limits and with the operators that it allows.
Functions of Python travel by name, and only between processes that both said `allow_python=True`.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import threading
from collections import OrderedDict
from collections.abc import Callable
from types import ModuleType, NoneType
from typing import Any, Final
from weakref import WeakKeyDictionary

from ts._core.dispatch.overloads import OverloadSet, overloads
from ts.distributed.rpc import kinds
from ts.distributed.rpc.signatures import Signature
from ts.frontend.terms import ANY_TERMS, Terms
from ts.ops import registry
from ts.ops.namespace import OpOverload, Packet, overload_named
from ts.runtime.function import ScriptFunction
from ts.runtime.module import ScriptModule
from ts.runtime.script_method import ScriptMethod

ASYNCHRONOUS: Final = "_wrapped_async_rpc_function"  # set on functions whose results are futures
_KEPT: Final = 256  # archives on either side; the one that was not used for longest goes first

Name = tuple[str, ...]


_titles: OrderedDict[str, str] = OrderedDict()  # of code that was sent, by its digest
_titles_lock: Final = threading.Lock()
_signatures: WeakKeyDictionary[ScriptFunction, Signature] = WeakKeyDictionary()


def signature_of(callee: Any) -> Signature | None:
    """The types with names that a scripted callee takes and gives; None where there are none."""
    if isinstance(callee, ScriptModule):
        callee = callee.forward
    function = callee.function if isinstance(callee, ScriptMethod) else callee
    if not isinstance(function, ScriptFunction):
        return None
    found = _signatures.get(function)
    if found is None:
        found = _signatures[function] = Signature(function.schema)
    return found if found.types else None


def title(callee: Any) -> tuple[bool, str]:
    """Whether a callee is scripted, and what a person calls it."""
    if isinstance(callee, ScriptModule):
        callee = callee.forward
    if isinstance(callee, ScriptMethod):
        callee = callee.function
    if isinstance(callee, ScriptFunction):
        return True, callee.qualified_name
    if isinstance(callee, OpOverload):
        return False, callee.operator.key
    if isinstance(callee, Packet):
        return False, callee.qualified_name
    if isinstance(callee, str):  # a method
        return False, callee
    return False, str(getattr(callee, "name", None) or getattr(callee, "__qualname__", callee))


def told(name: Name) -> str:
    """A callee for who reads of it: `aten::add`, `package.module.function`; of scripts `f`, `Net.method`."""
    if name[0] != "code":
        return ".".join(name[1:])
    title = _titles.get(name[1], "the code")
    return title if name[2] in ("forward", title) else f"{title}.{name[2]}"


def _method_of(function: ScriptFunction) -> str:
    """The method that an archive has a function as: errors there show its name."""
    name = function.name
    own = name.isidentifier() and name != "training" and not name.startswith("__")
    return name if own else "forward"


class Unknown(LookupError):
    """Code that has not arrived, or has been given up."""


class Sent:
    """The code that this process has other processes run."""

    def __init__(self, allow_python: bool) -> None:
        self.allow_python = allow_python
        self._digests: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._archives: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def name(self, callee: Any) -> Name:
        """How a callee is named; TypeError for what cannot be called, PermissionError for Python."""
        if isinstance(callee, OverloadSet):
            return "operator", callee.name
        if isinstance(callee, Packet):
            return "operator", callee.qualified_name
        if isinstance(callee, OpOverload):
            return "overload", callee.operator.name, callee.operator.overload
        if isinstance(callee, ScriptFunction):
            digest = self._digests.get(callee)
            if digest is None or digest not in self._archives:
                digest = self._digests[callee] = self._add(callee, _method_of(callee))
            return "code", digest, _method_of(callee)
        asynchronous = getattr(callee, ASYNCHRONOUS, None)
        if isinstance(asynchronous, ScriptFunction):
            return *self.name(asynchronous), ASYNCHRONOUS
        if isinstance(callee, ScriptModule):
            return "code", self._add(callee), "forward"
        if not callable(callee):
            raise TypeError("function should be callable.")
        if isinstance(callee, ScriptMethod):
            return "code", self._add(callee.owner), callee.name
        return self._python(callee)

    def archive(self, digest: str) -> bytes:
        """The code of a digest."""
        with self._lock:
            found = self._archives.get(digest)
            if found is None:
                raise Unknown(digest)
            self._archives.move_to_end(digest)
            return found

    def _add(self, code: Any, *method: str) -> str:
        from ts.archive.write import to_bytes

        archive = to_bytes(code.archived(*method))
        digest = hashlib.sha256(archive).hexdigest()
        with _titles_lock:
            _keep(_titles, digest, code.original_name if isinstance(code, ScriptModule) else code.name)
        with self._lock:
            _keep(self._archives, digest, archive)
        return digest

    def _python(self, callee: Any) -> Name:
        module, name = _python_name(callee)
        told = f"{module}.{name}" if name else repr(callee)
        if not self.allow_python:
            raise PermissionError(
                f"{told} is a function of Python: script it, or let both sides allow_python=True "
                "(rpc_backend_options)"
            )
        if not isinstance(module, str) or not isinstance(name, str) or "<" in name:
            raise AttributeError(f"Can't pickle local object '{told}'")
        if not isinstance(getattr(callee, "__self__", None), (type, ModuleType, NoneType)):
            raise TypeError(
                f"{told} is a method of an object, and the object cannot travel: "
                "make it there (rpc.remote), and call the method of its RRef"
            )
        return "python", module, name


class Known:
    """The code that others may have this process run."""

    def __init__(self, allow_python: bool, terms: Terms = ANY_TERMS) -> None:
        self.allow_python = allow_python
        self._terms = terms
        self._loaded: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, digest: str, archive: bytes | memoryview) -> None:
        """Take code that arrived, if it is what its digest says. ArchiveError for what is no archive."""
        from ts.archive.read import read
        from ts.runtime.module import module_of

        if hashlib.sha256(archive).hexdigest() != digest:
            raise ValueError("code does not have the digest that it came with")
        loaded = module_of(read(io.BytesIO(archive), None, None, self._terms, False))
        with self._lock:
            _keep(self._loaded, digest, loaded)

    def find(self, name: Any) -> Callable[..., Any]:
        """What a name stands for. Unknown: code that is not here; PermissionError; ValueError: no name."""
        match name:
            case ("operator", str(operator)):
                self._check_operator(operator)
                return overloads(operator)
            case ("overload", str(operator), str(overload)):
                self._check_operator(operator)
                return overload_named(operator, overload)
            case ("code", str(digest), str(method), *how) if how in ([], [ASYNCHRONOUS]):
                return self._method(digest, method)
            case ("python", str(module), str(path)):
                return self._python(module, path)
        raise ValueError(f"no callee has the name {name!r}")

    def type_of(self, name: Any) -> type:
        """The class of a value elsewhere; PermissionError for a program's, where no Python is allowed."""
        found: Any = kinds.type_named(name) or self._python(*name)
        if not isinstance(found, type):
            raise ValueError(f"{'.'.join(name)} is no type")
        return found

    def _check_operator(self, name: str) -> None:
        if not registry.lookup(name):
            raise ValueError(f"there is no operator {name}")
        self.check_allowed(name)

    def check_allowed(self, name: str) -> None:
        """PermissionError for an operator that others may not use here."""
        if not self._terms.allows(name):
            raise PermissionError(f"the operator {name} is not allowed here")

    def has(self, name: Any) -> bool:
        """Whether nothing has to be sent first to run what a name stands for."""
        return name[0] != "code" or name[1] in self._loaded

    def _method(self, digest: str, method: str) -> ScriptMethod:
        with self._lock:
            module = self._loaded.get(digest)
            if module is None:
                raise Unknown(digest)
            self._loaded.move_to_end(digest)
        compiled = module._concrete.type.methods.get(method)  # `save` and other methods of Python are none
        if compiled is None:
            raise ValueError(f"the code has no method {method}")
        return ScriptMethod(module, compiled)

    def _python(self, module: str, path: str) -> Callable[..., Any]:
        if not self.allow_python:
            raise PermissionError(
                f"this process runs no functions of Python ({module}.{path}): allow_python=True"
            )
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
        if not callable(found):
            raise ValueError(f"{module}.{path} cannot be called")
        return found  # type: ignore[no-any-return]


def _python_name(callee: Any) -> tuple[Any, Any]:
    """The module of a callee and its name there; a class method is of the class that it was taken from."""
    owner = getattr(callee, "__self__", None)
    if isinstance(owner, type):
        return owner.__module__, f"{owner.__qualname__}.{callee.__name__}"
    return getattr(callee, "__module__", None), getattr(callee, "__qualname__", None)


def _keep(table: OrderedDict[str, Any], key: str, value: Any) -> None:
    table[key] = value
    table.move_to_end(key)
    while len(table) > _KEPT:
        table.popitem(last=False)
