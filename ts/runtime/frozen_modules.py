"""Construction of frozen modules with new types, objects and methods.

Input: a `FrozenModule`, the result of `ts.passes.freezing`. Output: the module of a script object of a new
class.
"""

from __future__ import annotations

from typing import Any

from ts._core.value.ivalue import new_object, object_get, object_set
from ts._core.value.objects import Object
from ts.bytecode.typespec import object_class
from ts.frontend.naming import unique_name
from ts.frontend.source_importer import ImportedModule
from ts.ir.graph import Graph
from ts.ir.schema import Argument, FunctionSchema
from ts.ir.types import ModuleType
from ts.passes.freezing.freeze import FrozenModule
from ts.runtime.module import ScriptModule, module_of


def frozen_module(frozen: FrozenModule) -> ScriptModule:
    """Return the scripted module for a frozen module."""
    return module_of(_FrozenModuleBuilder(frozen).run())


class _FrozenModuleBuilder:
    def __init__(self, frozen: FrozenModule) -> None:
        self.frozen = frozen
        # Id of an object -> its frozen copy, or None if none of its attributes and methods remain
        self.copies: dict[int, Object | None] = {}

    def run(self) -> Object:
        root = self.object(self.frozen.root)
        if root is None:
            root = self._new(self.frozen.root, {})
        for value, owner in self.frozen.owners.items():
            copied = root if owner is self.frozen.root else self.copies.get(id(owner))
            if copied is not None:
                value.set_type(copied.cls.type)
        self._add_methods(self.frozen.root, root, self.frozen.graphs)
        for key, graphs in self.frozen.submethods.items():
            copied = self.copies.get(key)
            if copied is not None:
                self._add_methods(self.frozen.objects[key], copied, graphs)
        return root

    def _add_methods(self, original: Object, copied: Object, graphs: dict[str, Graph]) -> None:
        """Add the frozen methods of the object `original` to the type of its copy."""
        type = copied.cls.type
        for name, graph in graphs.items():
            method = original.cls.type.methods[name]
            receiver, *others = method.schema.arguments
            arguments = (Argument(receiver.name, type), *others)
            schema = FunctionSchema(name, "", arguments, method.schema.returns)
            type.methods[name] = method.with_graph(graph, f"{type.qualified_name()}.{name}", schema)

    def object(self, owner: Object) -> Object | None:
        """Return the frozen copy of an object, or None if no attribute or method of the object remains."""
        if id(owner) in self.frozen.fully_preserved:
            return owner
        if id(owner) not in self.copies:
            # objects may refer to each other in cycles: the recursion ends at this entry
            self.copies[id(owner)] = None
            attributes: dict[str, Any] = {}
            for name in owner.cls.names:
                value = object_get(owner, owner.cls.slot(name), False)
                if isinstance(value, Object) and isinstance(value.cls.type, ModuleType):
                    submodule = self.object(value)
                    if submodule is not None:
                        attributes[name] = submodule
                elif name in self.frozen.preserved_attributes[id(owner)]:
                    attributes[name] = object_get(owner, owner.cls.slot(name))
            if attributes or id(owner) in self.frozen.submethods:
                self.copies[id(owner)] = self._new(owner, attributes)
        return self.copies[id(owner)]

    def _new(self, owner: Object, attributes: dict[str, Any]) -> Object:
        original_type = owner.cls.type
        type = ModuleType(unique_name(original_type.qualified_name()))
        for name, value in attributes.items():
            is_module = isinstance(value, Object) and isinstance(value.cls.type, ModuleType)
            type.attributes[name] = value.cls.type if is_module else original_type.attributes[name]
        concrete = type.concrete = ImportedModule(original_type.concrete.python_class, type)
        concrete.attributes = type.attributes
        concrete.parameters = [name for name in original_type.concrete.parameters if name in attributes]
        concrete.buffers = [name for name in original_type.concrete.buffers if name in attributes]
        concrete.submodules = {
            name: value.cls.type.concrete
            for name, value in attributes.items()
            if isinstance(value, Object) and isinstance(value.cls.type, ModuleType)
        }
        created = new_object(object_class(type))
        for slot, value in enumerate(attributes.values()):
            object_set(created, slot, value)
        return created
