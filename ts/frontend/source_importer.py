"""Import of archive source: types and functions, created at the first use of their names.

The file `code/__torch__/model.py` of an archive defines the names that begin with `__torch__.model.`. Each
line shows a call and its result:

    unit = ArchiveUnit(sources, constants, version)
    unit.find("__torch__.model.Net")        a `ModuleType` with slots, parameters, buffers, methods
    unit.find("__torch__.model.helper")     a scripted function
    unit.find("__torch__.model.Mode")       an `EnumType`, a named tuple's `TupleType`, an `InterfaceType`
    unit.find("__torch__.model")            None, because the name is a namespace
    unit.type("Dict[str, __torch__.model.Mode]")

Classes with equal names in two archives are different types. Methods and functions are compiled at their
first call.
"""

from __future__ import annotations

import ast
import threading
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Final

import numpy as np

from ts._core.tensor.tensor import Tensor
from ts.errors import CompilationError, FrontendError
from ts.frontend import classes, naming, parse, python_syntax
from ts.frontend.annotations import to_type
from ts.frontend.defaults import NO_DEFAULT
from ts.frontend.enums import read_enum_type
from ts.frontend.load_policy import UNRESTRICTED, LoadPolicy
from ts.frontend.modules import ConcreteModule
from ts.frontend.parse import ParsedFunction
from ts.frontend.serialized_resolver import SerializedResolver
from ts.frontend.serialized_source import PrintedFile
from ts.frontend.signatures import Parameter, signature
from ts.ir.attributes import type_of_constant
from ts.ir.hashing import blake2b
from ts.ir.schema import Argument, FunctionSchema
from ts.ir.source import Source
from ts.ir.types import (
    CUSTOM_CLASSES,
    TENSOR,
    ClassType,
    EnumType,
    InterfaceType,
    ModuleType,
    OptionalType,
    TupleType,
    Type,
)

# If the constants of an archive have more bytes, the source of the archive gets no fingerprint.
_MAX_HASHED_BYTES: Final = 16 << 20
_MARKS: Final = ("__parameters__", "__buffers__", "__forward_pre_hooks__", "__forward_hooks__")


class ImportedModule(ConcreteModule):
    """Description of a module class loaded from an archive, without an instance."""

    def __init__(self, python_class: type, type: ModuleType) -> None:
        super().__init__(python_class, compiled=True)
        self.type = type

    def method(self, name: str) -> Any | None:
        """Return method `name` of the class in the archive, or None for unknown names."""
        return self.type.methods.get(name)

    def python_function(self, name: str) -> Any | None:
        """Return None: methods come from printed source, not from Python functions."""
        return None

    def is_static(self, name: str) -> bool:
        """Return False, since printed source has no static methods."""
        return False

    def overloads(self, name: str) -> list[Any]:
        """Return an empty list, since calls in printed source name the compiled methods."""
        return []

    def entry_points(self) -> Iterator[Any]:
        """Return an empty iterator: no methods are compiled when `script` is called on a loaded module."""
        return iter(())


class ArchiveUnit:
    """Compilation unit of one archive, which contains its types and functions."""

    def __init__(
        self,
        sources: Mapping[str, Source],
        constants: Sequence[object],
        version: int,
        policy: LoadPolicy = UNRESTRICTED,
    ) -> None:
        self.sources = sources
        self.constants = constants
        self.version = version
        self.policy = policy
        self._files: dict[str, PrintedFile | None] = {}
        self._imported: dict[str, Any] = {}
        self._definitions_in_progress: set[tuple[int, str]] = (
            set()
        )  # (thread, name) of definitions in progress
        self.names = SerializedResolver(constants, self.find, version, policy)

    def find(self, name: str) -> Any:
        """Return the type, class or function with qualified name `name`, or None for a namespace."""
        definition_type = self._imported.get(name) or CUSTOM_CLASSES.get(name)
        if definition_type is None:
            prefix, _, last = name.rpartition(".")
            file = self._file(prefix)
            definition = None if file is None else file.definition(last)
            import_key = threading.get_ident(), name
            if (
                file is not None
                and definition is not None
                and import_key not in self._definitions_in_progress
            ):
                self._definitions_in_progress.add(import_key)
                try:
                    definition_type = self._imported[name] = self._define(name, definition, file)
                except FrontendError:
                    # Remove the incomplete type, so that the next lookup raises the error again
                    self._imported.pop(name, None)
                    raise
                finally:
                    self._definitions_in_progress.discard(import_key)
        return definition_type

    @cached_property
    def fingerprint(self) -> str | None:
        """Digest of the sources and constants, which determine the compiled code.

        It is None if the constants are too large to hash.
        """
        digest = blake2b(repr(self.version).encode(), digest_size=32)
        for name, source in sorted(self.sources.items()):
            digest.update(f"{name}\0{source.text}\0".encode("utf-8", "surrogatepass"))
        remaining_bytes = _MAX_HASHED_BYTES
        for value in self.constants:
            if not isinstance(value, Tensor):
                digest.update(f"{type(value).__name__} {value!r}\0".encode("utf-8", "surrogatepass"))
                continue
            remaining_bytes -= value.numel() * value.element_size()
            if remaining_bytes < 0 or value.device.type != "cpu":
                return None
            digest.update(f"{value.dtype} {value.shape} {value.stride()}\0".encode())
            digest.update(np.ascontiguousarray(value._host()).tobytes())
        return digest.hexdigest()

    def function(self, name: str) -> Any | None:
        """Return the function or method with qualified name `name`, or None."""
        prefix, _, last = name.rpartition(".")
        owner = self.find(prefix)
        return owner.methods.get(last) if isinstance(owner, ClassType) else self.find(name)

    def type(self, annotation: str) -> Type:
        """Return the type of an annotation in an archive."""
        return to_type(python_syntax.expression(annotation), self.names)

    def _file(self, prefix: str) -> PrintedFile | None:
        if prefix not in self._files:
            source = self.sources.get(f"code/{prefix.replace('.', '/')}.py")
            self._files[prefix] = None if source is None else PrintedFile(source)
        return self._files[prefix]

    # ---- import of definitions -----------------------------------------------------------------------

    def _define(self, name: str, node: ast.ClassDef | ast.FunctionDef, file: PrintedFile) -> Any:
        if isinstance(node, ast.FunctionDef):
            parse_it = partial(parse.parse_definition, node, file.ranges, self.names)
            return self._on_terms(naming.make_function(node.name, name, parse_it))
        base = ast.unparse(node.bases[0]) if node.bases else ""
        define = _DEFINE.get(base)
        if define is None:
            raise CompilationError(
                f"classes derived from {base} are not supported in archives", file.ranges.of(node)
            )
        return define(self, name, node, file)

    def _class(self, name: str, node: ast.ClassDef, file: PrintedFile) -> ClassType:
        type = ClassType(name)
        type.unit = self
        # Store the type before its attributes and methods are read, because they may refer to the type.
        self._imported[name] = type
        for attribute, annotation, value in _attributes(node, file):
            self._attribute(type, file, attribute, annotation, value)
        self._methods(type, node, file)
        return type

    def _module(self, name: str, node: ast.ClassDef, file: PrintedFile) -> ModuleType:
        type = ModuleType(name)
        python_class = _class_named(name.rpartition(".")[2])
        concrete = type.concrete = ImportedModule(python_class, type)
        concrete.attributes = type.attributes
        concrete.constants = type.constants
        marks: dict[str, list[str]] = {mark: [] for mark in _MARKS}
        for attribute, annotation, value in _attributes(node, file):
            if attribute in marks and value is not None:
                marks[attribute] = _names(value, file)
            else:
                self._attribute(type, file, attribute, annotation, value)
        concrete.parameters, concrete.buffers = marks["__parameters__"], marks["__buffers__"]
        for attribute in concrete.parameters + concrete.buffers:
            if not _may_be_tensor(type.attributes.get(attribute)):
                message = f"the class has no tensor '{attribute}' that could be a parameter or a buffer"
                raise CompilationError(message, file.ranges.of(node))
        for attribute, attribute_type in type.attributes.items():
            if isinstance(attribute_type, ModuleType):
                concrete.submodules[attribute] = attribute_type.concrete
        self._methods(type, node, file)
        for mark in ("__forward_pre_hooks__", "__forward_hooks__"):
            for hook in marks[mark]:
                if hook not in type.methods:
                    raise CompilationError(f"the class has no hook '{hook}'", file.ranges.of(node))
        concrete.pre_hooks, concrete.hooks = (
            tuple(type.methods[hook] for hook in marks[mark])
            for mark in ("__forward_pre_hooks__", "__forward_hooks__")
        )
        return type

    def _attribute(
        self, type: ClassType, file: PrintedFile, name: str, annotation: ast.expr, value: ast.expr | None
    ) -> None:
        final = isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Final"
        if final and value is not None:
            type.constants[name] = self._constant(value, file)
        else:
            type.attributes[name] = to_type(annotation, self.names, file.ranges)

    def _constant(self, node: ast.expr, file: PrintedFile) -> object:
        """Evaluate a constant expression in a class body. Raise CompilationError for other expressions."""
        try:
            value = self.names.evaluate(node)
        except KeyError:
            raise CompilationError("this is not a constant", file.ranges.of(node)) from None
        is_long = type(value) is int and not -(1 << 63) <= value < 1 << 63
        if is_long or type_of_constant(value) is None:
            raise CompilationError("this value is not supported as a constant", file.ranges.of(node))
        return value

    def _methods(self, type: ClassType, node: ast.ClassDef, file: PrintedFile) -> None:
        for method, syntax in file.methods(node.name):
            self._on_terms(classes.declare_later(type, method, partial(self._method, syntax, file)))

    def _method(self, syntax: Callable[[], ast.FunctionDef], file: PrintedFile) -> ParsedFunction:
        return parse.parse_definition(syntax(), file.ranges, self.names)

    def _on_terms(self, function: Any) -> Any:
        function.policy = self.policy
        function.unit = self
        function.waits = True
        return function

    def _interface(self, name: str, node: ast.ClassDef, file: PrintedFile) -> InterfaceType:
        is_module = ast.unparse(node.bases[0]) == "ModuleInterface"
        type = self._imported[name] = InterfaceType(name, is_module_interface=is_module, unit=self)
        for member in node.body:
            if isinstance(member, ast.FunctionDef):
                parsed = parse.parse_definition(member, file.ranges, self.names)
                parsed.self_type = type
                type.methods[member.name] = _declared(parsed)
        return type

    def _named_tuple(self, name: str, node: ast.ClassDef, file: PrintedFile) -> TupleType:
        attributes = list(_attributes(node, file))
        fields = [field for field, _, _ in attributes]
        try:
            namedtuple(node.name, fields)
        except ValueError as error:  # `namedtuple` rejects some names, such as keywords
            raise CompilationError(str(error), file.ranges.of(node)) from None
        types = [to_type(annotation, self.names, file.ranges) for _, annotation, _ in attributes]
        return TupleType(types, name, fields)

    def _enum(self, name: str, node: ast.ClassDef, file: PrintedFile) -> EnumType:
        members = {}
        for member in node.body:
            if not isinstance(member, ast.Assign) or not isinstance(member.targets[0], ast.Name):
                raise CompilationError("an enumeration may only contain members", file.ranges.of(member))
            if member.targets[0].id in members:
                raise CompilationError("duplicate member of an enumeration", file.ranges.of(member))
            members[member.targets[0].id] = self._constant(member.value, file)
        return read_enum_type(name, members, file.ranges.of(node))


_Define = Callable[[ArchiveUnit, str, ast.ClassDef, PrintedFile], Any]
_DEFINE: Final[dict[str, _Define]] = {
    "": ArchiveUnit._class,
    "Module": ArchiveUnit._module,
    "Interface": ArchiveUnit._interface,
    "ModuleInterface": ArchiveUnit._interface,
    "NamedTuple": ArchiveUnit._named_tuple,
    "Enum": ArchiveUnit._enum,
}


def _attributes(node: ast.ClassDef, file: PrintedFile) -> Iterator[tuple[str, ast.expr, ast.expr | None]]:
    """Yield (name, annotation, value) of each assignment in a class body.

    For an assignment to a name in `_MARKS`, such as `__parameters__`, yield (name, value, value). For an
    assignment `__annotations__["x"] = T`, yield ("x", T, None).
    """
    for member in node.body:
        match member:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                yield name, annotation, value
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in _MARKS:
                yield name, value, value
            case ast.Assign(targets=[ast.Name(id="__annotations__")]) | ast.Pass() | ast.FunctionDef():
                pass
            case ast.Assign(
                targets=[
                    ast.Subscript(value=ast.Name(id="__annotations__"), slice=ast.Constant(value=str(name)))
                ],
                value=annotation,
            ):
                yield name, annotation, None
            case _:
                raise CompilationError(
                    "this statement is not allowed in a class of an archive", file.ranges.of(member)
                )


def _may_be_tensor(type: Type | None) -> bool:
    """Return whether `type` is Tensor, Optional[Tensor] or NoneType."""
    return type is not None and type.is_subtype_of(OptionalType(TENSOR))


def _names(node: ast.expr, file: PrintedFile) -> list[str]:
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            names = [element.value for element in elements if isinstance(element, ast.Constant)]
            if len(names) == len(elements):
                return list(map(str, names))
    raise CompilationError("expected a list of names", file.ranges.of(node))


def _declared(parsed: ParsedFunction) -> FunctionSchema:
    """Return the schema of `parsed`, a method of an interface."""
    parameters, returns = signature(parsed)
    if returns is None:
        raise CompilationError("a method of an interface must have a return type", parsed.range(parsed.node))
    return FunctionSchema(parsed.name, "", tuple(map(_argument, parameters)), (Argument("", returns),))


def _argument(parameter: Parameter) -> Argument:
    if parameter.default is NO_DEFAULT:
        return Argument(parameter.name, parameter.type)
    return Argument(parameter.name, parameter.type, default=parameter.default, has_default=True)


def _class_named(name: str) -> type:
    """Create an empty Python class called `name`, because the original class of the module is unavailable."""
    return type(name, (), {})
