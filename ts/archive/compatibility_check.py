"""Report of the features that an archive needs and `ts` lacks, without executing code of the archive.

Input: the path of an archive, or an open file. Output: a record for each missing feature, with its locations.
Example:

    for each in missing("model.pt"):
        print(each)

An example of the printed records:

    operator quantized::linear
        code/__torch__/net.py:12
    class __torch__.torch.classes.quantized.LinearPackedParamsBase
        code/__torch__/net.py:4
        data.pkl

First, the names in the code and in the pickles are checked. Then the functions without missing names are
compiled to graphs, to find calls without a matching overload.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any, Final

from ts.archive.module_reader import NEWEST_VERSION, ModuleReader, is_allowed_global, read_sources
from ts.archive.unpickler import Global, Unpickler, placeholder_global
from ts.archive.zip_records import ZipRecords, open_archive
from ts.errors import ArchiveError, FrontendError, SchemaMatchError
from ts.frontend import parse
from ts.frontend.dependencies import find_dependencies, is_operator
from ts.frontend.source_importer import ArchiveUnit
from ts.frontend.source_ranges import Ranges
from ts.ir.source import Source, SourceRange
from ts.ir.types import CUSTOM_CLASS_PREFIX, CUSTOM_CLASSES, ClassType

# maximum number of source locations that the message lists for a missing feature
_MAX_LISTED_LINES: Final = 5
_BACKENDS: Final = "__torch__.torch.classes.__backends__."

Definition = ast.ClassDef | ast.FunctionDef


@dataclass(frozen=True)
class MissingFeature:
    """Feature that an archive requires and `ts` lacks.

    kind      one of these strings:
              "version"   the version of the format
              "operator"  an operator
              "overload"  an operator without an overload that accepts the arguments
              "class"     a class that neither the archive nor `ts` defines
              "backend"   a backend to which the model delegates a part
              "code"      code that fails to compile for another reason
    name      `aten::relu`, `__torch__.torch.classes.quantized.Conv2dPackedParamsBase`, ...
    locations uses of the feature: source lines (`code/__torch__/net.py:12`) and pickles (`data.pkl`)
    why       the compiler's message, for "overload" and "code"
    """

    kind: str
    name: str
    locations: tuple[str, ...]
    why: str = ""

    def __str__(self) -> str:
        lines = [f"{self.kind} {self.name}"]
        lines += [f"    {location}" for location in self.locations[:_MAX_LISTED_LINES]]
        if len(self.locations) > _MAX_LISTED_LINES:
            lines.append(f"    and {len(self.locations) - _MAX_LISTED_LINES} more")
        return "\n".join(lines)


def missing(f: str | os.PathLike[str] | IO[bytes]) -> list[MissingFeature]:
    """Return the missing features of a scripted module's archive, in order of first occurrence."""
    with open_archive(f) as file, ZipRecords(file) as records:
        return _CompatibilityScan(records).run()


class _CompatibilityScan:
    """Search for features that an archive requires and `ts` does not support."""

    def __init__(self, records: ZipRecords) -> None:
        self.records = records
        self.sources = read_sources(records)
        self.files = {name: _definitions(source) for name, source in self.sources.items()}
        # (kind, name) of a missing feature -> ordered set of the locations that use the feature
        self.features: dict[tuple[str, str], dict[str, None]] = {}
        self.reasons: dict[tuple[str, str], str] = {}
        # functions and methods that are not compiled, because they use missing features
        self.excluded: set[ast.AST] = set()

    def run(self) -> list[MissingFeature]:
        """Return all missing features of the archive."""
        version = self.records.version
        if version > NEWEST_VERSION:
            self.add("version", str(version), self.records.version_name)
        for name, source in self.sources.items():
            self.check_source_names(name, source)
        for pickle in ("data.pkl", "constants.pkl"):
            self.check_pickle_names(pickle)
        if version <= NEWEST_VERSION:
            self.calls()
        return [
            MissingFeature(kind, name, tuple(locations), self.reasons.get((kind, name), ""))
            for (kind, name), locations in self.features.items()
        ]

    def add(self, kind: str, name: str, location: str, reason: str = "") -> None:
        self.features.setdefault((kind, name), {})[location] = None
        if reason:
            self.reasons.setdefault((kind, name), reason)

    def check_source_names(self, name: str, source: Source) -> None:
        ranges = Ranges(source, whole_subscripts=True)
        for definition in self.files[name].values():
            for node in _syntax_nodes(definition):
                for need in find_dependencies(node, ranges):
                    if need.kind == "operator":
                        if is_operator(need.name):
                            continue
                        self.add("operator", need.name, _format_location(need.range))
                    elif self.is_defined(need.name):
                        continue
                    else:
                        self.add(*_kind_of_name(need.name), _format_location(need.range))
                    self.excluded.add(node)

    def is_defined(self, name: str) -> bool:
        """Return whether `name` is defined, or begins with the name of a defined class or function.

        The defined names are those in the code of the archive, and the C++ classes that `ts` implements.
        """
        if name in CUSTOM_CLASSES:
            return True
        prefix, _, last = name.rpartition(".")
        while prefix:
            if last in self.files.get(f"code/{prefix.replace('.', '/')}.py", {}):
                return name.startswith("__torch__.")
            prefix, _, last = prefix.rpartition(".")
        return False

    def check_pickle_names(self, record: str) -> None:
        def names(module: str, name: str) -> Global:
            full = f"{module}.{name}"
            if not (self.is_defined(full) or is_allowed_global(module, name)):
                self.add(*_kind_of_name(full), record)
            return placeholder_global(module, name)

        Unpickler(self.records.bytes(record), names, lambda reference: None).load()

    def calls(self) -> None:
        """Compile the functions outside of `excluded`, and record compilation errors as missing features."""
        try:
            unit = ModuleReader(self.records, None).unit
        except ArchiveError:  # The features that are already recorded may be the cause.
            if self.features:
                return
            raise
        reported = {location for locations in self.features.values() for location in locations}
        for error in self.errors(unit):
            source = None if error.range is None else error.range.source  # type: ignore[attr-defined]
            if source is None or source.filename not in self.sources:
                continue
            range: Any = error.range
            location = _format_location(range)
            if location in reported:
                continue
            if isinstance(error, SchemaMatchError):
                self.add("overload", _operator_at(range), location, error.message)
            else:
                self.add("code", error.message.strip().split("\n")[0], location, error.message)

    def errors(self, unit: ArchiveUnit) -> Iterator[FrontendError]:
        for name, definitions in self.files.items():
            prefix = name.removeprefix("code/").removesuffix(".py").replace("/", ".")
            for last, definition in definitions.items():
                try:
                    function_or_class = unit.find(f"{prefix}.{last}")
                except FrontendError as error:
                    yield error
                    continue
                for function in self.functions(function_or_class, definition):
                    try:
                        function.ensure_compiled()
                    except FrontendError as error:
                        yield from (error, *error.others)

    def functions(self, function_or_class: Any, definition: Definition) -> Iterable[Any]:
        if isinstance(definition, ast.FunctionDef):
            # Skip definitions in a file whose path is not a module name, such as "code/../x.py", because no
            # name can refer to them.
            unreached = function_or_class is None
            return () if unreached or definition in self.excluded else (function_or_class,)
        if not isinstance(function_or_class, ClassType):
            return ()
        return (
            function_or_class.methods[method.name]
            for method in definition.body
            if isinstance(method, ast.FunctionDef) and method not in self.excluded
        )


def _definitions(source: Source) -> dict[str, Definition]:
    body = parse.syntax_tree(source).body
    return {node.name: node for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)}


def _syntax_nodes(definition: Definition) -> Iterable[ast.AST]:
    """Return the syntax nodes to search: a function itself, or the statements of a class body."""
    return (definition,) if isinstance(definition, ast.FunctionDef) else definition.body


def _kind_of_name(name: str) -> tuple[str, str]:
    """Return the kind of an undefined name ("backend" or "class"), and the name of that backend or class."""
    if name.startswith(_BACKENDS):
        return "backend", name.removeprefix(_BACKENDS).partition(".")[0]
    if name.startswith(CUSTOM_CLASS_PREFIX):
        return "class", ".".join(name.split(".")[:5])
    if name.endswith("LoweredModule"):
        return "backend", name.rpartition(".")[2].removesuffix("LoweredModule")
    return "class", name.removesuffix(".__new__")


def _operator_at(range: SourceRange) -> str:
    """Return the operator that the source text at `range` names: `torch.relu` -> `aten::relu`."""
    match range.text().split("."):
        case ["torch", name]:
            return f"aten::{name}"
        case ["ops", space, name]:
            return f"{space}::{name}"
    return range.text()


def _format_location(range: SourceRange) -> str:
    return f"{range.source.filename}:{range.line}"
