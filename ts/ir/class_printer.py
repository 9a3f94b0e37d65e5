"""Printing of classes, modules, named tuples, enumerations and interfaces as source of an archive.

Input: a type with a name. Output: the definition of the type in PyTorch's layout. Example::

    class Net(Module):
      __parameters__ = ["weight", ]
      __buffers__ = []
      weight : Tensor
      training : bool
      __annotations__["0"] = __torch__.Layer
      steps : Final[int] = 3
      def forward(self: __torch__.Net,
        x: Tensor) -> Tensor:
        ...

`ArchiveNamespace` assigns unique names to types and functions. An archive must define all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from keyword import iskeyword
from typing import Any

from ts.errors import FrontendError
from ts.ir.attributes import type_of_constant
from ts.ir.graph_printer import format_value
from ts.ir.python_print import to_source
from ts.ir.schema import FunctionSchema
from ts.ir.source_map import SourceMap
from ts.ir.types import (
    ClassType,
    CustomClassType,
    EnumType,
    FunctionType,
    InterfaceType,
    ModuleType,
    TupleType,
    Type,
)
from ts.ir.types.nominal import NamedType


class ArchiveNamespace:
    """Unique names for the types and functions of one archive.

    The names in the program are not sufficient, because several types or functions may have the same name.
    """

    def __init__(self) -> None:
        self.definitions: list[Any] = []  # types and functions in the order of their first use
        self._named: dict[Any, str] = {}
        self._used_names: set[str] = set()

    def format_type(self, type: Type) -> str:
        """Return `type` as annotation text, with the names that its classes have in the archive."""
        definition = _definition_of(type)
        if definition is not None:
            return self.name(definition)
        contained_types = type.contained_types()
        if not contained_types:
            return type.annotation_str
        return type.with_contained([self._spelled(contained) for contained in contained_types]).annotation_str

    def name(self, definition: Any) -> str:
        """Return the name in the archive of a class, named tuple, enumeration, interface or function."""
        if isinstance(definition, CustomClassType):
            return definition.qualified_name()  # a built-in class, which archives do not define
        unique_name = self._named.get(definition)
        if unique_name is None:
            qualified_name: Any = (
                definition.name if isinstance(definition, TupleType) else definition.qualified_name
            )
            unique_name = self._named[definition] = self._unique(
                qualified_name() if callable(qualified_name) else qualified_name
            )
            self.definitions.append(definition)
        return unique_name

    def _spelled(self, type: Type) -> Type:
        """Return a type whose annotation is the text of `type` in the archive.

        This is `type` itself, or a `NamedType` if the archive has another name for a class in `type`.
        """
        spelling = self.format_type(type)
        return type if spelling == type.annotation_str else NamedType(spelling)

    def _unique(self, name: str) -> str:
        # A keyword of Python gets an underscore, because Python cannot parse it in a dotted name.
        name = ".".join(
            [f"{component}_" if iskeyword(component) else component for component in name.split(".")]
        )
        prefix, _, last = name.rpartition(".")
        suffix = 0
        while name in self._used_names:
            name = f"{prefix}.___torch_mangle_{suffix}.{last}"
            suffix += 1
        self._used_names.add(name)
        return name


def _definition_of(type: Type) -> Any:
    """Return the function, class or named tuple that a type refers to, or None."""
    if isinstance(type, FunctionType):
        return type.function
    if isinstance(type, NamedType) or (isinstance(type, TupleType) and type.fields and type.name):
        return type
    return None


class DefinitionPrinter:
    """Printer of the type and function definitions of one source file in an archive."""

    def __init__(self, names: ArchiveNamespace, constants: list[Any], check: Callable[[Any], None]) -> None:
        """Set up a printer. `check` raises an error for each function that cannot be printed."""
        self.names = names
        self.constants = constants
        self.check = check
        self.next_suffixes: dict[str, int] = {}
        self.marks = SourceMap()

    def definition(self, definition: Any) -> str:
        """Return the source of the definition of a type or function.

        The source contains source map marks, whose source ranges are in `self.marks`.
        """
        name = self.names.name(definition).rpartition(".")[2]
        if isinstance(definition, ModuleType):
            return self._class(f"{name}(Module)", [*_marks(definition), *self._members(definition)])
        if isinstance(definition, ClassType):
            return self._class(name, self._members(definition))
        if isinstance(definition, TupleType):
            fields = zip(definition.fields or (), definition.elems, strict=True)
            return self._class(f"{name}(NamedTuple)", [self._attribute(f, t) for f, t in fields])
        if isinstance(definition, EnumType):
            members = [f"{member} = {format_value(value)}" for member, value in definition.members]
            return self._class(f"{name}(Enum)", members)
        if isinstance(definition, InterfaceType):
            base = "ModuleInterface" if definition.is_module_interface else "Interface"
            return self._class(f"{name}({base})", [self._declaration(s) for s in definition.methods.values()])
        return self.function(definition, name)

    def function(self, function: Any, name: str) -> str:
        """Return the source of a function or method definition."""
        self.check(function)
        return to_source(
            function.graph,
            name,
            function.schema,
            self.constants,
            format_type=self.names.format_type,
            next_suffixes=self.next_suffixes,
            marks=self.marks,
        )

    def _class(self, head: str, members: Iterable[str]) -> str:
        lines = "".join(members_line for member in members for members_line in _indented(member))
        return f"class {head}:\n{lines or '  pass' + chr(10)}"

    def _members(self, type: ClassType) -> Iterable[str]:
        for name, attribute in type.attributes.items():
            yield self._attribute(name, attribute)
        for name, value in type.constants.items():
            constant = type_of_constant(value)
            if constant is not None:
                yield f"{name} : Final[{self.names.format_type(constant)}] = {format_value(value, constant)}"
        for name, method in list(type.methods.items()):
            try:
                method.ensure_compiled()
            except FrontendError:
                if isinstance(type, ModuleType):
                    raise
                continue  # a method that does not compile is omitted, because only its callers need it
            yield self.function(method, name)

    def _attribute(self, name: str, type: Type) -> str:
        spelling = self.names.format_type(type)
        if name.isidentifier() and not iskeyword(name):
            return f"{name} : {spelling}"
        return f'__annotations__["{name}"] = {spelling}'

    def _declaration(self, schema: FunctionSchema) -> str:
        parameters = [f"{a.name}: {self.names.format_type(a.type)}" for a in schema.arguments[1:]]
        result = self.names.format_type(schema.returns[0].type)
        return f"def {schema.name}({', '.join(['self', *parameters])}) -> {result}:\n  pass"


def _marks(type: ModuleType) -> list[str]:
    """Return the class body lines that list the names of a module's parameters, buffers and hooks."""
    concrete = type.concrete
    marks = {"__parameters__": concrete.parameters, "__buffers__": concrete.buffers}
    for mark, hooks in (("__forward_pre_hooks__", concrete.pre_hooks), ("__forward_hooks__", concrete.hooks)):
        if hooks:
            marks[mark] = [hook.__name__ for hook in hooks]
    return [
        f"{mark} = [{''.join([f'{chr(34)}{name}{chr(34)}, ' for name in names])}]"
        for mark, names in marks.items()
    ]


def _indented(source: str) -> list[str]:
    return [f"  {line}\n" for line in source.rstrip("\n").split("\n")]
