"""Archive summary (model summary, parameter counts) for `ts info`.

Input: the path of an archive. Output: a list of section titles, each with its lines. Example:

    [("file", ["model.pt, 2.2 MiB, 71 records"]), ("version", ["3"]), ("producer", ["PyTorch"]),
     ("methods", ["forward(Tensor x, int sr) -> Tensor"]),
     ("takes", ["x: Tensor", "sr: int"]), ("operators", ["aten::add  12", ...]),
     ("parameters", ["309,633 in 15 tensors, 1.2 MiB", "encoder  ...", "  weight  float32[128, 129, 3]"]),
     ("missing", ["nothing"])]

Code of the archive is not executed. If a dependency is missing, all sections that do not need the model are
still reported.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import ts
from ts.archive.module_reader import read_sources
from ts.archive.zip_records import ZipRecords
from ts.cli.errors import ProgramError, report_read_errors
from ts.cli.input_signature import arguments
from ts.cli.targets import is_exported, load_archive
from ts.errors import FrontendError
from ts.frontend import parse
from ts.frontend.dependencies import find_dependencies
from ts.frontend.source_ranges import Ranges
from ts.ir.source import Source
from ts.runtime.module import ScriptModule, method_names

Section = tuple[str, list[str]]
_MAX_LISTED_ITEMS: Final = 20  # maximum number of missing features, and of archive entries, that are listed
# Flag of a ZIP entry: its name is encoded in UTF-8. Python's zipfile does not set it for ASCII names.
_UTF8_NAME_FLAG: Final = 0x800


def summarize(path: Path) -> list[Section]:
    """Return the summary sections of an archive or exported program."""
    if is_exported(path):
        return _summarize_exported(path)
    with report_read_errors(path), open(path, "rb") as file, ZipRecords(file) as records:
        sources = read_sources(records)
        sections: list[Section] = [
            ("file", [f"{path}, {format_bytes(path.stat().st_size)}, {len(records.entries)} records"]),
            ("version", [str(records.version)]),
            ("producer", [producer(records)]),
        ]
        operators = Counter(_operators(sources))
        extra = sorted(name.removeprefix("extra/") for name in records.entries if name.startswith("extra/"))
    if extra:
        sections.append(("extra files", [", ".join(extra)]))
    with report_read_errors(path):
        missing = ts.jit.missing(path)
    try:
        module = load_archive(path)
    except ProgramError as error:
        if not missing:
            raise
        sections.append(("model", [f"cannot be loaded: {str(error).partition(': ')[2]}"]))
    else:
        sections += _model(module)
    width = max(map(len, operators), default=0)
    sections.append(
        ("operators", [f"{name:{width}}  {n}" for name, n in sorted(operators.items())] or ["none"])
    )
    lines = [line for requirement in missing[:_MAX_LISTED_ITEMS] for line in str(requirement).splitlines()]
    if len(missing) > _MAX_LISTED_ITEMS:
        lines.append(f"and {len(missing) - _MAX_LISTED_ITEMS} more")
    sections.append(("missing", lines or ["nothing"]))
    return sections


def format_bytes(size: float) -> str:
    """Format a number of bytes with a suitable unit."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"


def producer(records: ZipRecords) -> str:
    """Identify the producer of an archive by the ZIP metadata of its first entry."""
    first = next(iter(records.entries.values()))
    if first.create_version == 0 and first.flag_bits & _UTF8_NAME_FLAG:
        return "PyTorch, for mobile devices" if records.has("bytecode.pkl") else "PyTorch"
    if first.create_system == 3 and first.extra.startswith(b"FB"):
        return "ts"
    return "unknown: the zip metadata matches neither PyTorch nor ts"


def _operators(sources: dict[str, Source]) -> Iterator[str]:
    """Yield the names of the operators that the code calls, with repetitions."""
    for source in sources.values():
        ranges = Ranges(source, whole_subscripts=True)
        for definition in parse.syntax_tree(source).body:
            if isinstance(definition, ast.ClassDef):
                statements: list[ast.stmt] = definition.body
            else:
                statements = [definition]
            for statement in statements:
                if isinstance(statement, ast.FunctionDef):
                    yield from (
                        requirement.name
                        for requirement in find_dependencies(statement, ranges)
                        if requirement.kind == "operator"
                    )


def _summarize_exported(path: Path) -> list[Section]:
    from ts.cli import pt2_target
    from ts.export.pt2_format.container import Container

    with report_read_errors(path), open(path, "rb") as file, Container(file) as container:
        records = container.records
        sections: list[Section] = [
            ("file", [f"{path}, {format_bytes(path.stat().st_size)}, {len(records.entries)} records"]),
            ("producer", [producer(records)]),
        ]
        extra = sorted(name.removeprefix("extra/") for name in records.entries if name.startswith("extra/"))
    if extra:
        sections.append(("extra files", [", ".join(extra)]))
    function = pt2_target.load_exported(path)
    program = function.program
    sections.append(("program", [pt2_target.describe_inputs(function)]))
    sections.append(("sizes", [line.strip() for line in pt2_target.ranges(program)] or ["all static"]))
    sections.append(("conditions", pt2_target.conditions(program) or ["none"]))
    sections += _tensors(("parameters", program.named_parameters()), ("buffers", program.named_buffers()))
    counts = pt2_target.operators(program)
    width = max(map(len, counts), default=0)
    sections.append(("operators", [f"{name:{width}}  {n}" for name, n in sorted(counts.items())] or ["none"]))
    return sections


def _model(module: ScriptModule) -> list[Section]:
    sections: list[Section] = [("model", [module.original_name]), ("methods", _methods(module) or ["none"])]
    if argument_lines := arguments(module):
        sections.append(("takes", argument_lines))
    return sections + _tensors(("parameters", module.named_parameters()), ("buffers", module.named_buffers()))


def _tensors(*groups: tuple[str, Any]) -> list[Section]:
    """Return sections with the number, size and module tree of each group of tensors."""
    sections: list[Section] = []
    for title, tensors in groups:
        named = dict(tensors)
        count = sum(x.numel() for x in named.values())
        size = sum(x.numel() * x.element_size() for x in named.values())
        if named:
            heading = f"{count:,} in {len(named)} tensor{'s' * (len(named) > 1)}, {format_bytes(size)}"
            sections.append((title, [heading, *_tree(named)]))
        else:
            sections.append((title, ["none"]))
    return sections


def _methods(module: ScriptModule) -> list[str]:
    """Return the signature of each method, or a note for a method that fails to compile."""
    lines = []
    for name in method_names(module):
        try:
            schema = module.archived().cls.type.methods[name].schema
        except FrontendError:  # the output's section `missing` states the reason
            lines.append(f"{name}: does not compile")
            continue
        parameters = ", ".join(map(str, schema.arguments[1:]))
        lines.append(
            f"{name}({parameters}) -> {', '.join(str(result) for result in schema.returns) or 'None'}"
        )
    return lines


def kind(tensor: Any) -> str:
    """Format the dtype and the shape of a tensor, such as `float32[3, 4]`."""
    return f"{str(tensor.dtype).rpartition('.')[2]}{list(tensor.shape)}"


def _tree(named: dict[str, Any]) -> Iterator[str]:
    """Yield lines that list the tensors as a tree of modules."""
    parents: list[str] = []
    width = max(2 * name.count(".") + len(name.rpartition(".")[2]) for name in named)
    for name, tensor in named.items():
        *modules, last = name.split(".")
        shared = 0
        while shared < min(len(parents), len(modules)) and parents[shared] == modules[shared]:
            shared += 1
        for depth in range(shared, len(modules)):
            yield "  " * depth + modules[depth]
        parents = modules
        yield f"{'  ' * len(modules) + last:{width}}  {kind(tensor)}"
