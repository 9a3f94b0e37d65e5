"""Construction of frozen modules: new types, objects and methods; see `ts.passes.freezing`.

In: a `Frozen`.  Out: an object of a new class, for `ts.runtime.module.module_of`.
"""

from __future__ import annotations

from typing import Any

from ts._core.value.ivalue import new_object, object_get, object_set
from ts._core.value.objects import Object
from ts.bytecode.typespec import object_class
from ts.frontend.imported import ReadModule
from ts.frontend.naming import unique_name
from ts.ir.graph import Graph
from ts.ir.schema import Argument, FunctionSchema
from ts.ir.types import ModuleType
from ts.passes.freezing import Frozen


def frozen_object(frozen: Frozen) -> Object:
    """Return the object of a frozen module."""
    return _Assembly(frozen).run()


class _Assembly:
    def __init__(self, frozen: Frozen) -> None:
        self.frozen = frozen
        self.made: dict[int, Object | None] = {}  # by id of the original; None: empty

    def run(self) -> Object:
        made = self.object(self.frozen.root)
        if made is None:
            made = self._new(self.frozen.root, {})
        for value, owner in self.frozen.owners.items():
            now = made if owner is self.frozen.root else self.made.get(id(owner))
            if now is not None:
                value.set_type(now.cls.type)
        self._add_methods(self.frozen.root, made, self.frozen.graphs)
        for key, graphs in self.frozen.submethods.items():
            below = self.made.get(key)
            if below is not None:
                self._add_methods(self.frozen.objects[key], below, graphs)
        return made

    def _add_methods(self, before: Object, now: Object, graphs: dict[str, Graph]) -> None:
        """Add the frozen methods of an object to the type of its frozen copy."""
        type = now.cls.type
        for name, graph in graphs.items():
            method = before.cls.type.methods[name]
            receiver, *others = method.schema.arguments
            arguments = (Argument(receiver.name, type), *others)
            schema = FunctionSchema(name, "", arguments, method.schema.returns)
            type.methods[name] = method.with_graph(graph, f"{type.qualified_name()}.{name}", schema)

    def object(self, owner: Object) -> Object | None:
        """Return the frozen copy of an object; None if no attribute or method of it is left."""
        if id(owner) in self.frozen.whole:
            return owner
        if id(owner) not in self.made:
            self.made[id(owner)] = None  # one that holds itself, by way of others
            left: dict[str, Any] = {}
            for name in owner.cls.names:
                value = object_get(owner, owner.cls.slot(name), False)
                if isinstance(value, Object) and isinstance(value.cls.type, ModuleType):
                    below = self.object(value)
                    if below is not None:
                        left[name] = below
                elif name in self.frozen.kept[id(owner)]:
                    left[name] = object_get(owner, owner.cls.slot(name))
            if left or id(owner) in self.frozen.submethods:
                self.made[id(owner)] = self._new(owner, left)
        return self.made[id(owner)]

    def _new(self, owner: Object, left: dict[str, Any]) -> Object:
        before = owner.cls.type
        type = ModuleType(unique_name(before.qualified_name()))
        for name, value in left.items():
            is_module = isinstance(value, Object) and isinstance(value.cls.type, ModuleType)
            type.attributes[name] = value.cls.type if is_module else before.attributes[name]
        concrete = type.concrete = ReadModule(before.concrete.python_class, type)
        concrete.attributes = type.attributes
        concrete.parameters = [name for name in before.concrete.parameters if name in left]
        concrete.buffers = [name for name in before.concrete.buffers if name in left]
        concrete.submodules = {
            name: value.cls.type.concrete
            for name, value in left.items()
            if isinstance(value, Object) and isinstance(value.cls.type, ModuleType)
        }
        made = new_object(object_class(type))
        for slot, value in enumerate(left.values()):
            object_set(made, slot, value)
        return made
