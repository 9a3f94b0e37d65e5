"""Import graph of the modules of `ts`, read from Python and Cython sources and headers.

    edges()         every import: Import("ts.passes.dce", "ts.ir.graph", in_function=False, line=12)
    cycles(pairs)  the strongly connected components of these imports

`from ts import x`, relative imports, `cimport` and `importlib.import_module("ts.x")` are included. An
attribute of `import ts` counts as an import of its defining module: `ts.jit.annotate` is an import of
`ts.frontend.compile_directives`.  Imports for type checkers only do not count.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import ts

ROOT = Path(__file__).parent.parent
_CYTHON_IMPORT = re.compile(r"( *)(?:from +(\S+) +c?import +(.*)|c?import +(.*))")


class Import(NamedTuple):
    importer: str
    imported: str
    in_function: bool
    line: int


class ImportStatement(NamedTuple):
    """An import statement: the module, and the imported names or None for the module itself."""

    module: str
    names: list[str] | None
    in_function: bool
    line: int


@cache
def files() -> dict[Path, str]:
    """Return the source files with their module names; a header belongs to the module of its `.pyx`."""
    results = {}
    for top in ("ts", "backends"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in (".py", ".pyx", ".pxd"):
                parts = path.relative_to(ROOT).with_suffix("").parts
                parts = ("ts", *parts) if top == "backends" else parts
                results[path] = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return results


@cache
def edges() -> tuple[Import, ...]:
    """Return each import of one module of `ts` by another."""
    modules = set(files().values())
    imports = []
    for path, importer in files().items():
        package = importer if path.stem == "__init__" else importer.rpartition(".")[0]
        read = _in_python if path.suffix == ".py" else _in_cython
        for module, names, in_function, line in read(path.read_text()):
            module = _absolute(module, package)
            if module != "ts" and not module.startswith("ts."):
                continue
            inside = [f"{module}.{name}" for name in names or () if f"{module}.{name}" in modules]
            targets = inside if names is not None and len(inside) == len(names) else [*inside, module]
            imports += [Import(importer, each, in_function, line) for each in targets if each != importer]
    return tuple(imports)


def with_packages(imports: Iterable[Import]) -> Iterator[tuple[str, str]]:
    """Yield pairs (importer, imported), including the parent packages of each imported module."""
    for importer, imported, *_ in imports:
        yield importer, imported
        parts = imported.split(".")
        for length in range(2, len(parts)):
            package = ".".join(parts[:length])
            if not f"{importer}.".startswith(f"{package}."):
                yield importer, package


def cycles(pairs: Iterable[tuple[str, str]]) -> list[set[str]]:
    """Return the import cycles, the strongly connected components of more than one module (Tarjan)."""
    after: dict[str, set[str]] = defaultdict(set)
    for importer, imported in pairs:
        after[importer].add(imported)
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    results = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        stack.append(module)
        for other in after.get(module, ()):
            if other not in number:
                visit(other)
            if other in stack:
                lowest[module] = min(lowest[module], lowest[other])
        if lowest[module] == number[module]:
            at = stack.index(module)
            component = set(stack[at:])
            del stack[at:]
            if len(component) > 1:
                results.append(component)

    for module in list(after):
        if module not in number:
            visit(module)
    return results


# ---- parsing ----------------------------------------------------------------------------------------------


def _absolute(module: str, package: str) -> str:
    name = module.lstrip(".")
    dot_count = len(module) - len(name)
    if not dot_count:
        return module
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - dot_count + 1], *([name] if name else [])])


def _in_python(text: str) -> Iterator[ImportStatement]:
    tree = ast.parse(text)
    inside: set[ast.AST] = set()
    for_checkers: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            inside |= set(ast.walk(node)) - {node}
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for_checkers |= {each for statement in node.body for each in ast.walk(statement)}
    for node in ast.walk(tree):
        if node in for_checkers:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield ImportStatement(alias.name, None, node in inside, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield ImportStatement(module, [alias.name for alias in node.names], node in inside, node.lineno)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            if isinstance(node.args[0], ast.Constant) and node.args[0].value != "ts":
                yield ImportStatement(str(node.args[0].value), None, True, node.lineno)
        elif isinstance(node, ast.Attribute):
            module_name = _defining_module(ast.unparse(node))
            if module_name is not None:
                yield ImportStatement(module_name, None, True, node.lineno)  # in a function or not: unknown


def _defining_module(text: str) -> str | None:
    """Return the module that defines the public name `ts.NAME` or `ts.jit.NAME`, or None for other texts."""
    match = re.fullmatch(r"ts\.(jit\.)?(\w+)", text)
    if match is None or match[2] == "jit":
        return None
    if match[1]:
        return ts.jit._NAME_TO_MODULE.get(match[2], (f"ts.jit.{match[2]}",))[0]
    if match[2] in ts._MODULES:
        return f"ts.{match[2]}"
    return ts._NAME_TO_MODULE.get(match[2])


def _in_cython(text: str) -> Iterator[ImportStatement]:
    lines = enumerate(re.sub(r'""".*?"""', lambda m: "\n" * m[0].count("\n"), text, flags=re.S).split("\n"), 1)
    for number, line in lines:
        match = _CYTHON_IMPORT.match(line.partition("#")[0])
        if match is None:
            continue
        indent, module, names, module_only = match.groups()
        if module_only is not None:
            for each in module_only.split(","):
                yield ImportStatement(each.split(" as ")[0].strip(), None, bool(indent), number)
            continue
        while names.count("(") > names.count(")"):
            names += next(lines)[1].partition("#")[0]
        each = [name.split(" as ")[0].strip() for name in names.strip("() ").split(",")]
        yield ImportStatement(module, [name for name in each if name], bool(indent), number)
