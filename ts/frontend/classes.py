"""Classes of Python to script classes.

In: a class of Python.  Out: its `ClassType`: the attributes that `__init__` assigns, and the methods.

    class Counter:
        def __init__(self, start: int):          class_type(Counter).attributes == {"n": INT}
            self.n = start                       class_type(Counter).methods    == {"__init__", "next"}
        def next(self) -> int: ...

A class is declared when a scripted function first names it; `__init__` is compiled then, since it says which
attributes there are.  Every other method is parsed and compiled when it is first called from a script, so
that one which does not compile hurts only who calls it.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, Final
from weakref import WeakValueDictionary

from ts._core.value.turns import my_turn
from ts.frontend import parse
from ts.frontend.markers import modifier_of
from ts.frontend.parse import ParsedFunction
from ts.ir.types import ClassType, Property
from ts.ir.types.nominal import NamedType

# (name, qualified name, what parses it) -> the method: a function of the runtime, which is above this module.
MakeMethod = Callable[[str, str, Callable[[], ParsedFunction]], Any]
_make_method: MakeMethod | None = None

ATTRIBUTE: Final = "__ts_type__"  # where a class keeps its type, so that the two live and die together
_names: Final[dict[str, object]] = {}  # those without a number
_live: WeakValueDictionary[str, object] = WeakValueDictionary()
_mangles = itertools.count()


def install(make_method: MakeMethod) -> None:
    """Say what methods are: a scripted function of that name, compiled on demand."""
    global _make_method
    _make_method = make_method


def class_type(cls: type) -> ClassType:
    """The script class behind a class of Python, declared now if it was not before."""
    found = cls.__dict__.get(ATTRIBUTE)
    if isinstance(found, ClassType) and found.declared:
        return found
    with my_turn():
        found = cls.__dict__.get(ATTRIBUTE)
        return found if isinstance(found, ClassType) else _declare_class(cls)


def _declare_class(cls: type) -> ClassType:
    type = ClassType(unique_name(qualified_name(cls)))
    note_live(type)
    type.python_class = cls
    type.declared = False
    setattr(cls, ATTRIBUTE, type)
    try:
        declare_methods(type, cls)
        if "__init__" in type.methods:
            type.methods["__init__"].ensure_compiled()
    except BaseException:
        delattr(cls, ATTRIBUTE)
        raise
    type.declared = True
    return type


def named_type(cls: type) -> NamedType:
    """What the name of a class means as a type: an interface, or a script class."""
    found = cls.__dict__.get(ATTRIBUTE)
    if isinstance(found, NamedType) and not isinstance(found, ClassType):
        return found
    return class_type(cls)


def text_class(name: str, definitions: list[ParsedFunction]) -> ClassType:
    """A class that was given as text: it has no class in Python."""
    type = ClassType(unique_name(f"__torch__.{name}"))
    note_live(type)
    for definition in definitions:
        declare_text(type, definition)
    return type


def compile_class(cls: type) -> ClassType:
    """The same, with the methods compiled now that its author wrote: what `script(cls)` asks for."""
    type = class_type(cls)
    from ts.frontend.compile import compile_all

    compile_all(method for name, method in type.methods.items() if not _is_generated(cls, name))
    return type


def _is_generated(cls: type, name: str) -> bool:
    member = cls.__dict__.get(name)
    return isinstance(member, FunctionType) and _made_by_dataclass(cls, member)


def _made_by_dataclass(cls: type, function: Any) -> bool:
    """Whether `@dataclass` made the method."""
    if not is_dataclass(cls):
        return False
    from ts.frontend.data_classes import is_generated

    return is_generated(function)


def is_dataclass(cls: type) -> bool:
    """The answer of `dataclasses`, which is imported by who has one."""
    return hasattr(cls, "__dataclass_fields__")


def declare_methods(type: ClassType, cls: type) -> None:
    """Enter methods and properties of the class's own body, to be compiled when they are asked for."""
    unused = getattr(cls, "__jit_unused_properties__", ())
    for name, member in sorted(vars(cls).items(), key=_constructor_first):
        if isinstance(member, FunctionType):
            if _made_by_dataclass(cls, member):
                from ts.frontend import data_classes

                if name in data_classes.SUPPORTED:
                    _declare(type, cls, name, partial(data_classes.generated_method, cls, name))
            elif not is_marked(member):
                declare_method(type, cls, name, member)
        elif isinstance(member, classmethod):
            declare_method(type, cls, name, member.__func__, is_classmethod=True)
        elif isinstance(member, property) and name not in unused and not is_marked(member.fget):
            getter = declare_method(type, cls, f"__{name}_getter", member.fget)
            setter = None
            if member.fset is not None:
                setter = declare_method(type, cls, f"__{name}_setter", member.fset)
            type.properties[name] = Property(getter, setter)


def _constructor_first(item: tuple[str, object]) -> tuple[bool, str]:
    return item[0] != "__init__", item[0]


def is_marked(function: Any) -> bool:
    """Whether a function is marked as one that scripts do not compile."""
    return modifier_of(function) in ("ignore", "unused")


def declare_method(type: ClassType, cls: type, name: str, function: Any, is_classmethod: bool = False) -> Any:
    """Enter one method; a class method is one that does not look at its object."""
    return _declare(type, cls, name, lambda: parse.function_def(function, name), is_classmethod)


def declare_overload(type: ClassType, cls: type, name: str, function: Any, declaration: Any) -> Any:
    """Enter a method with the types of one of its declarations."""
    from ts.frontend.overloads import parse_overload

    def parsed() -> ParsedFunction:
        definition = parse_overload(function, declaration)
        definition.name = name
        parameters, returns = definition.signature
        definition.signature = [parameters[0]._replace(type=type), *parameters[1:]], returns
        return definition

    return _declare(type, cls, name, parsed)


def declare_text(type: ClassType, definition: ParsedFunction) -> Any:
    """Enter a method that was given as text."""
    return _declare(type, type.python_class, definition.name, lambda: definition)


def declare_later(type: ClassType, name: str, parse_it: Callable[[], ParsedFunction]) -> Any:
    """Enter a method that is parsed when it is first asked for."""
    return _declare(type, None, name, parse_it)


def make_function(name: str, qualified_name: str, parse_it: Callable[[], ParsedFunction]) -> Any:
    """A function that is parsed when it is first asked for."""
    assert _make_method is not None
    return _make_method(name, qualified_name, parse_it)


def live_type(name: str) -> NamedType | None:
    """The type of that name that a class of Python has, while it lives."""
    found = live(name)
    return found if isinstance(found, NamedType) else None


def live(name: str) -> object | None:
    """The type or the scripted function of that name, while it lives."""
    return _live.get(name)


def note_live(named: Any) -> None:
    """Let `live` find a type or a function."""
    name = named.qualified_name
    _live[name if isinstance(name, str) else name()] = named


def _declare(
    type: ClassType,
    cls: type | None,
    name: str,
    parse_it: Callable[[], ParsedFunction],
    is_classmethod: bool = False,
) -> Any:
    assert _make_method is not None  # the runtime has been imported: it asks for classes

    def parsed() -> ParsedFunction:
        definition = parse_it()
        definition.self_type = type
        definition.is_classmethod = is_classmethod
        if cls is not None:
            definition.resolver.fallback[cls.__name__] = cls
        return definition

    method = _make_method(name, f"{type.qualified_name()}.{name}", parsed)
    type.methods[name] = method
    return method


def static_method(cls: type, name: str) -> Any | None:
    """The function of Python behind a static method; None if there is none of that name."""
    member = inspect.getattr_static(cls, name, None)
    return member.__func__ if isinstance(member, staticmethod) else None


# ---- names -----------------------------------------------------------------------------------------------


def qualified_name(named: Any) -> str:
    """`__torch__.package.module.Name` of a class or a function; what `__main__` defines stands at the top."""
    module = named.__module__ or "__main__"
    if module.startswith("ts."):  # the modules of `ts.nn` have PyTorch's names, also in archives
        module = f"torch.{module.removeprefix('ts.')}"
        if module.startswith("torch.nn.functional."):
            module = "torch.nn.functional"
    prefix = "" if module == "__main__" else f"{module}."
    name = vars(named).get("__ts_name__", named.__name__)
    return f"__torch__.{prefix}{name}".replace("<", "_").replace(">", "_")


def clear_names() -> None:
    """Let new classes have the names of those before, as after a restart."""
    _names.clear()
    _live.clear()


def unique_name(name: str) -> str:
    """A name that nobody has had, changed as PyTorch changes it where that is needed.

    As there, it stays taken when its owner is gone or does not compile.
    """
    prefix, _, last = name.rpartition(".")
    asked = object()
    if _names.setdefault(name, asked) is not asked:  # in one step: other threads ask, too
        return f"{prefix}.___torch_mangle_{next(_mangles)}.{last}"
    return name
