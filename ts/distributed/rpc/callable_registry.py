"""Names of callees in messages, and code shipping (content-addressed by SHA-256) to the receiver.

The name of a callee is a tuple. For scripted code, it contains the hash of an archive with the code:

    sent = SentCode(allow_python=True)
    sent.name(torch.add)                 ("operator", "aten::add")
    sent.name(scripted)                  ("code", sha256, "scripted")
    sent.archive(sha256)                 the archive
    sent.name(python_function)           ("python", "package.module", "function")

The receiver finds the function by its name. Before `add`, `find` raises UnknownCodeError:

    received = ReceivedCode(allow_python=False)
    received.add(sha256, archive)
    received.find(("code", sha256, "scripted"))

Each archive is sent once per receiver. The receiver checks its hash and compiles it under the receiver's
limits and allowed operators. Python functions are sent by name, between processes with `allow_python=True`.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from types import ModuleType, NoneType
from typing import Any, Final
from weakref import WeakKeyDictionary

from ts._core.dispatch.overloads import OverloadSet, overloads
from ts.distributed.rpc.type_signatures import Signature
from ts.frontend.load_policy import DEFAULT, LoadPolicy
from ts.ops import registry
from ts.ops.namespace import OpOverload, Packet, overload_named
from ts.runtime.function import ScriptFunction
from ts.runtime.module import ScriptModule
from ts.runtime.script_method import ScriptMethod

# `async_execution` returns a wrapper. This attribute of the wrapper contains the wrapped function.
ASYNC_FUNCTION_ATTRIBUTE: Final = "_wrapped_async_rpc_function"
# maximal number of archives in each of the caches of sent and of received archives
_MAX_CACHED_ARCHIVES: Final = 256
# Classes that other workers refer to by name are looked up only in these packages, and only in loaded
# modules. No module is imported.
_TRUSTED_PACKAGES: Final = ("builtins", "ts")

Name = tuple[str, ...]


# digest of an archive -> name of the function or class in it, for error messages
_code_names: OrderedDict[str, str] = OrderedDict()
_code_names_lock: Final = threading.Lock()
_signatures: WeakKeyDictionary[ScriptFunction, Signature] = WeakKeyDictionary()


def signature_of(callee: Any) -> Signature | None:
    """Return the classes, enums and named tuples in the signature of a scripted callee.

    Return None if the signature contains none, or if the callee is not scripted.
    """
    if isinstance(callee, ScriptModule):
        callee = callee.forward
    function = callee.function if isinstance(callee, ScriptMethod) else callee
    if not isinstance(function, ScriptFunction):
        return None
    signature = _signatures.get(function)
    if signature is None:
        signature = _signatures[function] = Signature(function.schema)
    return signature if signature.types else None


def profile_name(callee: Any) -> tuple[bool, str]:
    """Return two values: True if the callee is scripted, and the name of the callee in profiles."""
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
    if isinstance(callee, str):  # a string is the name of a method of an RRef's value
        return False, callee
    return False, str(getattr(callee, "name", None) or getattr(callee, "__qualname__", callee))


def describe_callee(name: Name) -> str:
    """Return the name of a callee for error messages, such as `aten::add` or `Net.method`."""
    if name[0] != "code":
        return ".".join(name[1:])
    code_name = _code_names.get(name[1], "the code")
    return code_name if name[2] in ("forward", code_name) else f"{code_name}.{name[2]}"


def _method_of(function: ScriptFunction) -> str:
    """Return the name of the method as which the function is stored in its archive.

    The method has the name of the function, for readable errors, or "forward" if a method cannot have this
    name.
    """
    name = function.name
    is_own_method = name.isidentifier() and name != "training" and not name.startswith("__")
    return name if is_own_method else "forward"


class UnknownCodeError(LookupError):
    """Raised if the code of a callee was not sent yet or was evicted from the cache."""


class SentCode:
    """Callees that this process calls in other workers: their names in messages, and archives of code."""

    def __init__(self, allow_python: bool) -> None:
        self.allow_python = allow_python
        self._digests: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._archives: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def name(self, callee: Any) -> Name:
        """Return the name of a callee in messages. The archive of a scripted callee is built at first use.

        Raise TypeError if the callee is not callable, and PermissionError for a Python function without
        `allow_python`.
        """
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
        asynchronous = getattr(callee, ASYNC_FUNCTION_ATTRIBUTE, None)
        if isinstance(asynchronous, ScriptFunction):
            return *self.name(asynchronous), ASYNC_FUNCTION_ATTRIBUTE
        if isinstance(callee, ScriptModule):
            return "code", self._add(callee), "forward"
        if not callable(callee):
            raise TypeError("function should be callable.")
        if isinstance(callee, ScriptMethod):
            return "code", self._add(callee.owner), callee.name
        return self._python(callee)

    def archive(self, digest: str) -> bytes:
        """Return the archive with this digest. Raise UnknownCodeError if it is no longer in the cache."""
        with self._lock:
            archive = self._archives.get(digest)
            if archive is None:
                raise UnknownCodeError(digest)
            self._archives.move_to_end(digest)
            return archive

    def _add(self, code: Any, *method: str) -> str:
        from ts.archive.module_writer import to_bytes

        archive = to_bytes(code.archived(*method))
        digest = hashlib.sha256(archive).hexdigest()
        with _code_names_lock:
            _store_lru(
                _code_names, digest, code.original_name if isinstance(code, ScriptModule) else code.name
            )
        with self._lock:
            _store_lru(self._archives, digest, archive)
        return digest

    def _python(self, callee: Any) -> Name:
        module, name = _python_name(callee)
        description = f"{module}.{name}" if name else repr(callee)
        if not self.allow_python:
            raise PermissionError(
                f"{description} is a Python function: script it, or set allow_python=True in the "
                "rpc_backend_options of both processes"
            )
        if not isinstance(module, str) or not isinstance(name, str) or "<" in name:
            raise AttributeError(f"Can't pickle local object '{description}'")
        if not isinstance(getattr(callee, "__self__", None), (type, ModuleType, NoneType)):
            raise TypeError(
                f"{description} is a method of an object that cannot be sent to another process: "
                "create the object there with rpc.remote, and call the method through its RRef"
            )
        return "python", module, name


class ReceivedCode:
    """Callees that other workers may call in this process: operators, received code, Python functions."""

    def __init__(self, allow_python: bool, policy: LoadPolicy = DEFAULT) -> None:
        self.allow_python = allow_python
        self._terms = policy
        self._loaded: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, digest: str, archive: bytes | memoryview) -> None:
        """Load a received archive.

        Raise ValueError if its digest is not `digest`, ArchiveError if the archive is malformed.
        """
        from ts.archive.module_reader import read
        from ts.runtime.module import module_of

        if hashlib.sha256(archive).hexdigest() != digest:
            raise ValueError("the digest of the received code does not match its contents")
        loaded = module_of(read(io.BytesIO(archive), None, None, self._terms, False))
        with self._lock:
            _store_lru(self._loaded, digest, loaded)

    def find(self, name: Any) -> Callable[..., Any]:
        """Return the callee for a name in a message.

        Raise UnknownCodeError if its code was not received, PermissionError if the callee is not
        allowed, and ValueError if the name is malformed.
        """
        match name:
            case ("operator", str(operator)):
                self._check_operator(operator)
                return overloads(operator)
            case ("overload", str(operator), str(overload)):
                self._check_operator(operator)
                return overload_named(operator, overload)
            case ("code", str(digest), str(method), *options) if options in ([], [ASYNC_FUNCTION_ATTRIBUTE]):
                return self._method(digest, method)
            case ("python", str(module), str(path)):
                return self._python(module, path)
        raise ValueError(f"invalid name of a function: {name!r}")

    def type_of(self, name: Any) -> type:
        """Return the class with this name. Raise PermissionError for user classes without `allow_python`."""
        kind: Any = _type_named(name) or self._python(*name)
        if not isinstance(kind, type):
            raise ValueError(f"{'.'.join(name)} is not a type")
        return kind

    def _check_operator(self, name: str) -> None:
        if not registry.lookup(name):
            raise ValueError(f"unknown operator {name}")
        self.check_allowed(name)

    def check_allowed(self, name: str) -> None:
        """Raise PermissionError if other workers may not call the operator `name` in this process."""
        if not self._terms.allows(name):
            raise PermissionError(f"the operator {name} is not allowed in this process")

    def has(self, name: Any) -> bool:
        """Return True if this process can run the callee `name` without receiving code first."""
        return name[0] != "code" or name[1] in self._loaded

    def _method(self, digest: str, method: str) -> ScriptMethod:
        with self._lock:
            module = self._loaded.get(digest)
            if module is None:
                raise UnknownCodeError(digest)
            self._loaded.move_to_end(digest)
        # only compiled methods are in `methods`, so other workers cannot call Python methods such as `save`
        compiled = module._concrete.type.methods.get(method)
        if compiled is None:
            raise ValueError(f"the code has no method {method}")
        return ScriptMethod(module, compiled)

    def _python(self, module: str, path: str) -> Callable[..., Any]:
        if not self.allow_python:
            raise PermissionError(
                f"this process runs Python functions ({module}.{path}) only with allow_python=True"
            )
        value: Any = importlib.import_module(module)
        for attribute in path.split("."):
            value = getattr(value, attribute)
        if not callable(value):
            raise ValueError(f"{module}.{path} is not callable")
        return value  # type: ignore[no-any-return]


def _type_named(name: Any) -> type | None:
    """Return the class of Python or `ts` named (module, name), or None for a module of another package.

    Raise ValueError if `name` is not a pair of strings, or if the module has no such class.
    """
    module, path = name
    if not isinstance(module, str) or not isinstance(path, str):
        raise ValueError(f"expected the name of a type as (module, name), got {name!r:.100}")
    if module.partition(".")[0] not in _TRUSTED_PACKAGES:
        return None
    value = getattr(sys.modules.get(module), path, None)
    if path == "NoneType":
        return type(None)
    if not isinstance(value, type):
        raise ValueError(f"{module}.{path} is not a type in this process")
    return value


def _python_name(callee: Any) -> tuple[Any, Any]:
    """Return (module, qualified name) of a Python callee.

    For a class method, the qualified name begins with the class on which the method was accessed.
    """
    owner = getattr(callee, "__self__", None)
    if isinstance(owner, type):
        return owner.__module__, f"{owner.__qualname__}.{callee.__name__}"
    return getattr(callee, "__module__", None), getattr(callee, "__qualname__", None)


def _store_lru(table: OrderedDict[str, Any], key: str, value: Any) -> None:
    """Store an entry in an LRU cache, with cache eviction of the least recently used entries."""
    table[key] = value
    table.move_to_end(key)
    while len(table) > _MAX_CACHED_ARCHIVES:
        table.popitem(last=False)
