"""Code cache (compilation cache, compile cache): compiled code, stored on disk for later processes.

The cache stores functions of archives, and scripted Python functions. The right column describes the result
of each call:

    entry = entry_of(function, ...)     an entry, or None if the function cannot be stored
    entry.read()                        the compiled code, or None if no process has stored it
    entry.store(program)                stores the compiled code for later processes

The name of a file is the hash of all inputs of the compilation. The inputs include the build of `ts` and the
default dtype. They include the source and constants of an archive. For a Python function, they include its
source and the values of its globals (`function_fingerprint`).

Files are untrusted, and invalid files are ignored. Only a folder owned by the user is used.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ts._core.late_binding import attribute_if_imported
from ts._core.value.fitting import is_subtype
from ts._core.vm.code import Code
from ts.bytecode import disk_cache
from ts.bytecode.serialized_code import (
    CodeOwner,
    NotSerializableError,
    SerializedCode,
    deserialize_constant,
    deserialize_program,
    deserialize_spec,
    serialize_constant,
    serialize_program,
    serialize_spec,
)
from ts.dtypes import get_default_dtype
from ts.errors import LimitExceeded
from ts.passes import pass_logging

if TYPE_CHECKING:
    from ts._core.vm.specializations import Specializations
    from ts.ir.types import Type
    from ts.runtime.function import ScriptFunction

_FORMAT: Final = 1


class Entry:
    """Cache file for the code of one function."""

    def __init__(
        self,
        path: Path,
        function: ScriptFunction,
        prepare: Callable[[Any, str], Code],
        plans: Callable[..., Specializations] | None,
    ) -> None:
        self.path = path
        self._function = function
        unit = function.unit
        if unit is None:
            self._owner = CodeOwner(_type_anywhere, lambda name: None, {}, (), prepare, plans)
        else:
            self._owner = CodeOwner(unit.type, self._compiled, unit.sources, unit.constants, prepare, plans)

    def read(self) -> Code | None:
        """Return the cached code and set the function's signature. Return None if the file is not valid."""
        body = disk_cache.read(self.path)
        if body is None:
            return None
        try:
            data = json.loads(body)
            code = deserialize_program(data["program"], self._owner).code()
            arguments = [self._argument(*argument) for argument in data["arguments"]]
            result = deserialize_spec(data["result"], self._owner)
            specs = [spec for _, spec, *_ in arguments]
            if len(specs) != len(code.parameters) or not all(map(is_subtype, specs, code.parameters)):
                return None
            if not is_subtype(code.result, result):
                return None
            self._function.adopt(arguments, data["declaration"], data["by_name"], result)
        except LimitExceeded:
            raise
        except Exception:  # The cache file is invalid. If None is returned, the caller compiles the function.
            return None
        return code

    def store(self, program: SerializedCode) -> None:
        """Store the code, unless it cannot be serialized or the folder is not writable."""
        try:
            data = {
                "program": serialize_program(program, self._owner),
                "arguments": [self._argument_data(*argument) for argument in self._function.arguments],
                "declaration": self._function.declaration,
                "by_name": sum(a.kwarg_only for a in self._function.schema.arguments),
                "result": serialize_spec(self._function.result, self._owner),
            }
        except NotSerializableError:
            return
        disk_cache.write(self.path, json.dumps(data, separators=(",", ":")).encode())

    def _compiled(self, name: str) -> Any:
        """Compile and return the function `name`, which the cached code calls.

        The verification of the calls in the cached code needs the signature of the function.
        """
        function = self._function.unit.function(name)
        if function is not None:
            function.ensure_compiled()
        return function

    def _argument_data(self, name: str, spec: Any, *default: Any) -> list[Any]:
        values = (serialize_constant(x, self._owner) for x in default)
        return [name, serialize_spec(spec, self._owner, parameter=True), *values]

    def _argument(self, name: str, type_string: str, *default: Any) -> tuple[Any, ...]:
        values = (deserialize_constant(x, self._owner) for x in default)
        return name, deserialize_spec(type_string, self._owner, parameter=True), *values


def entry_of(
    function: ScriptFunction,
    prepare: Callable[[Any, str], Code],
    variant: str = "",
    plans: Callable[..., Specializations] | None = None,
) -> Entry | None:
    """Return the cache file for a function's code, or None if the cache does not store this function.

    `variant` is the name of a graph variant (`GraphVariant`). `Entry.read` calls `prepare(graph, name)` to
    compile each subgraph, and `plans` to create the table of specializations.
    """
    # The cache does not store functions in which all calls are inlined (`set_inline_everything_mode`). This
    # mode is off if the module `inline`, which implements it, was not imported.
    get_mode = attribute_if_imported("ts.passes.inline", "get_inline_everything_mode")
    if get_mode is not None and get_mode():
        return None
    if pass_logging.is_configured() or disk_cache.cache_folder() is None:
        return None
    digest = _digest(function)
    if digest is None:
        return None
    words = [_FORMAT, variant, disk_cache.build(), sys.version, str(get_default_dtype()), *digest]
    path = disk_cache.cache_path(disk_cache.digest(json.dumps(words).encode()), ".json")
    return None if path is None else Entry(path, function, prepare, plans)


def _digest(function: ScriptFunction) -> tuple[str, str] | None:
    """Return strings that identify `function` in all processes, or None if its code is not cached."""
    unit = function.unit
    if unit is None:
        return None if function.digest is None else ("scripted", function.digest)
    if unit.policy.restricted or unit.fingerprint is None:
        return None
    # Trusted and untrusted archives have separate cache entries, because only code of trusted archives can
    # write files.
    space = f"{unit.fingerprint} trusted" if unit.policy.is_trusted else unit.fingerprint
    return space, function.qualified_name


def _type_anywhere(annotation: str) -> Type:
    """Parse the text of a type, in the syntax of printed source. Class types are not supported."""
    from ts.frontend.annotations import to_type
    from ts.frontend.python_syntax import expression
    from ts.frontend.serialized_resolver import SerializedResolver

    return to_type(expression(annotation), SerializedResolver())
