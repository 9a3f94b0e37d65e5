"""Decorator that generates the constructors of modules from their annotated hyperparameters.

Example:

    @hyperparameters
    class Threshold(Module):
        threshold: float
        value: float
        inplace: bool = False

The decorator defines `Threshold.__init__(self, threshold, value, inplace=False)`. The constructor stores each
argument as an attribute. The decorator also sets `Threshold.__constants__` to the names of these attributes.

As in `dataclasses`, arguments after `_: KW_ONLY` are keyword-only. An argument annotated as `InitVar` is not
stored. If the class has a method `__post_init__`, the constructor finally calls it with the `InitVar`
arguments. A decorated class must not have a decorated base class.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, dataclass_transform, overload

from ts.nn.modules.module import Module
from ts.nn.modules.ntuple import constructor_text

M = TypeVar("M", bound=type[Module])


@overload
def hyperparameters(cls: M, /) -> M: ...
@overload
def hyperparameters(*, kw_only: bool = False) -> Callable[[M], M]: ...
@dataclass_transform()
def hyperparameters(cls: Any = None, /, *, kw_only: bool = False) -> Any:
    """Generate the constructor of a module class from its annotations."""
    if cls is None:
        return lambda decorated: _add_constructor(decorated, kw_only)
    return _add_constructor(cls, kw_only)


def _add_constructor(cls: Any, kw_only: bool) -> Any:
    for base in cls.__mro__[1:]:
        if vars(base).get("_hyperparameters"):
            raise TypeError(f"{cls.__name__}: the base class {base.__name__} is decorated, too")
    arguments = {name: text for name, text in cls.__annotations__.items() if not text.startswith("ClassVar[")}
    constructor = _Constructor(cls, arguments, kw_only)
    for name in {*constructor.init_only, *(arguments.keys() - constructor.annotations.keys())}:
        del cls.__annotations__[name]
    for name in constructor.defaults:
        delattr(cls, name)
    cls._hyperparameters = tuple(constructor.stored)
    if "__constants__" not in vars(cls):
        cls.__constants__ = constructor.stored
    cls.__init__ = constructor
    return cls


class _Constructor:
    """Descriptor in place of `__init__`. At the first access, it compiles the constructor.

    The constructor then replaces the descriptor in the class.
    """

    def __init__(self, owner: type[Module], arguments: dict[str, str], kw_only: bool) -> None:
        self.owner = owner
        separators = [i for i, text in enumerate(arguments.values()) if text == "KW_ONLY"]
        self.positional_count = 0 if kw_only else separators[0] if separators else len(arguments)
        arguments = {name: text for name, text in arguments.items() if text != "KW_ONLY"}
        self.init_only = [name for name, text in arguments.items() if text.startswith("InitVar[")]
        self.stored = [name for name in arguments if name not in self.init_only]
        self.annotations = {
            name: text[len("InitVar[") : -1] if name in self.init_only else text
            for name, text in arguments.items()
        }
        self.defaults = {name: vars(owner)[name] for name in arguments if name in vars(owner)}

    def __get__(self, instance: Module | None, owner: type[Module]) -> Any:
        constructor = self._compile()
        self.owner.__init__ = constructor  # type: ignore[method-assign]
        return constructor if instance is None else constructor.__get__(instance, owner)

    def _compile(self) -> Any:
        owner, names = self.owner, list(self.annotations)
        positional, keyword_only = names[: self.positional_count], names[self.positional_count :]
        parameters = ", ".join(["self", *positional, *["*"][: len(keyword_only)], *keyword_only])
        lines = [f"    def __init__({parameters}):", "        super(owner, self).__init__()"]
        lines += [f"        self.{name} = {name}" for name in self.stored]
        if hasattr(owner, "__post_init__"):
            init_only = "".join(f", {name}={name}" for name in self.init_only)
            lines.append(f"        owner.__post_init__(self{init_only})")
        text = "\n".join(["def define(owner):", *lines, "    return __init__", ""])
        file = f"<constructor of {owner.__name__}>"
        source_lines = text.splitlines(keepends=True)
        # `inspect` and tracebacks read the source from `linecache`
        linecache.cache[file] = len(text), None, source_lines, file
        namespace: dict[str, Any] = {}
        # evaluate annotations with the globals of the module that defines the class
        exec(compile(text, file, "exec"), vars(sys.modules[owner.__module__]), namespace)
        constructor = namespace["define"](owner)
        constructor.__module__ = owner.__module__
        constructor.__qualname__ = f"{owner.__qualname__}.__init__"
        constructor.__annotations__ = {**self.annotations, "return": "None"}
        constructor.__defaults__ = tuple(self.defaults[name] for name in positional if name in self.defaults)
        constructor.__kwdefaults__ = {
            name: self.defaults[name] for name in keyword_only if name in self.defaults
        }
        return constructor


class PrintedModule(Module):
    """Base class of modules whose `repr` shows all hyperparameters as `name=value`."""

    _hyperparameters: ClassVar[tuple[str, ...]] = ()

    def extra_repr(self) -> str:
        return constructor_text(self, *self._hyperparameters)
