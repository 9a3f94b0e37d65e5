"""Code on disk: what a process has compiled, the next one reads.

In: a function of an archive that is called for the first time, or one of Python that is scripted.  Out: its
code, if a process before left it:

    entry = entry_of(function)          None where nothing is kept, or may be
    entry.read()                        the Code, or None
    entry.keep(program)                 for the next process

    ~/.cache/ts/1f/9a…c3.json           `bytecode/kept` says where

The name of a file is the hash of all that the code follows from: the archive's source and constants, or the
function's text and what its names mean (`surroundings`), this build of `ts`, what new tensors are by default.
Of what a file says nothing is believed: its own hash has to fit, names are looked up in the archive at hand,
and `Code` verifies the instructions.  One that does not fit is as good as none.  The folder is the user's
own, or it is not used.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ts._core.value.fitting import fits
from ts._core.vm.code import Code
from ts.bytecode import kept
from ts.bytecode.program import (
    NotPlainError,
    Place,
    Program,
    constant_data,
    constant_of,
    plain,
    program_of,
    spec_of,
    spec_text,
)
from ts.dtypes import get_default_dtype
from ts.errors import LimitExceeded
from ts.passes import log

if TYPE_CHECKING:
    from ts._core.vm.plan import Plans
    from ts.ir.types import Type
    from ts.runtime.function import ScriptFunction

_FORMAT: Final = 1


class Entry:
    """The file of one function's code."""

    def __init__(
        self,
        path: Path,
        function: ScriptFunction,
        prepare: Callable[[Any, str], Code],
        plans: Callable[..., Plans] | None,
    ) -> None:
        self.path = path
        self._function = function
        unit = function.unit
        if unit is None:
            self._place = Place(_type_anywhere, lambda name: None, {}, (), prepare, plans)
        else:
            self._place = Place(unit.type, self._compiled, unit.sources, unit.constants, prepare, plans)

    def read(self) -> Code | None:
        """The code, and the function's signature if it has none yet; None if no file fits."""
        body = kept.read(self.path)
        if body is None:
            return None
        try:
            data = json.loads(body)
            code = program_of(data["program"], self._place).code()
            arguments = [self._argument(*argument) for argument in data["arguments"]]
            result = spec_of(data["result"], self._place)
            specs = [spec for _, spec, *_ in arguments]
            if len(specs) != len(code.parameters) or not all(map(fits, specs, code.parameters)):
                return None
            if not fits(code.result, result):
                return None
            self._function.adopt(arguments, data["declaration"], data["by_name"], result)
        except LimitExceeded:
            raise
        except Exception:  # whatever it is that does not fit: then the function is compiled
            return None
        return code

    def keep(self, program: Program) -> None:
        """Write the file, unless data cannot say the program, or the folder cannot be written to."""
        try:
            data = {
                "program": plain(program, self._place),
                "arguments": [self._argument_data(*argument) for argument in self._function.arguments],
                "declaration": self._function.declaration,
                "by_name": sum(a.kwarg_only for a in self._function.schema.arguments),
                "result": spec_text(self._function.result, self._place),
            }
        except NotPlainError:
            return
        kept.write(self.path, json.dumps(data, separators=(",", ":")).encode())

    def _compiled(self, name: str) -> Any:
        """A function that is called: code is verified against its arguments, which its graph has."""
        function = self._function.unit.function(name)
        if function is not None:
            function.ensure_compiled()
        return function

    def _argument_data(self, name: str, spec: Any, *default: Any) -> list[Any]:
        values = (constant_data(x, self._place) for x in default)
        return [name, spec_text(spec, self._place, parameter=True), *values]

    def _argument(self, name: str, text: str, *default: Any) -> tuple[Any, ...]:
        values = (constant_of(x, self._place) for x in default)
        return name, spec_of(text, self._place, parameter=True), *values


def entry_of(
    function: ScriptFunction,
    prepare: Callable[[Any, str], Code],
    form: str = "",
    plans: Callable[..., Plans] | None = None,
) -> Entry | None:
    """Where the code of a function is kept in that form; None where it is not, as under some switches.

    `prepare` makes the code of graphs in it, `plans` those that it enters.
    """
    inline = sys.modules.get("ts.passes.inline")  # whose mode nobody has set if it is not imported
    if inline is not None and inline.get_inline_everything_mode():
        return None
    if log.is_configured() or kept.cache_folder() is None:
        return None
    digest = _digest(function)
    if digest is None:
        return None
    words = [_FORMAT, form, kept.build(), sys.version, str(get_default_dtype()), *digest]
    path = kept.place(kept.digest(json.dumps(words).encode()), ".json")
    return None if path is None else Entry(path, function, prepare, plans)


def _digest(function: ScriptFunction) -> tuple[str, str] | None:
    """What tells a function from all others, wherever they come from; None where nothing does."""
    unit = function.unit
    if unit is None:
        return None if function.digest is None else ("scripted", function.digest)
    if unit.terms.restricted or unit.fingerprint is None:
        return None
    return unit.fingerprint, function.qualified_name


def _type_anywhere(text: str) -> Type:
    """The type that a text means in printed source; there are no classes."""
    from ts.frontend.annotations import to_type
    from ts.frontend.printed import PrintedNames
    from ts.frontend.python_syntax import expression

    return to_type(expression(text), PrintedNames())
