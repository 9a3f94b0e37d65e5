"""Freezing: replace the attributes of a module by constants in the graphs of its methods.

The pass replaces the nodes on the left by the nodes on the right:

    %weight : Tensor = prim::GetAttr[name="weight"](%self)
    %y : Tensor = aten::mul(%x, %weight)                     =>
                              %self.weight : Float(2, 2) = prim::Constant[value=<Tensor>]()
                              %y : Tensor = aten::mul(%x, %self.weight)

Input: a module. Output: a `FrozenModule` with the remaining methods and attributes. All calls in the graphs
are inlined. An attribute remains if

- it is requested by name (`"weight"`, `"head.weight"`, `"head"`),
- a method assigns it, or may write to its memory or to memory that it shares,
- it is an argument or result of a forked task, or an argument of a call of an unknown function,
- its module is in training mode, or its value cannot be a constant of a graph.

`AliasDb` treats all attributes of a module as one location. The pass therefore computes the aliases of each
attribute itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ts._core.late_binding import resolve
from ts._core.value.ivalue import object_get
from ts._core.value.objects import Object
from ts.analysis.effects import may_return_self
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import ClassType, InterfaceType, ModuleType, OptionalType, TensorType, TupleType, Type
from ts.passes.constant_pooling import constant_pooling
from ts.passes.constant_propagation import constant_propagation, constant_propagation_immutable_types
from ts.passes.cse import eliminate_common_subexpressions
from ts.passes.dce import eliminate_dead_code
from ts.passes.inline import inline
from ts.passes.lower_tuples import lower_simple_tuples
from ts.passes.pass_logging import update
from ts.passes.pass_utils import walk_nodes
from ts.passes.peephole import simplify

Attribute = tuple[int, str]
"""An attribute of one object: the object's id, and the name."""

# Kinds of nodes whose outputs are identical to inputs, contain inputs, or are contained in inputs.
_ALIASING_KINDS: Final = frozenset(
    {
        "prim::TupleConstruct", "prim::ListConstruct", "prim::DictConstruct", "prim::TupleUnpack",
        "prim::ListUnpack", "prim::TupleIndex", "prim::TupleSlice", "prim::unchecked_cast",
        "prim::unchecked_unwrap_optional", "prim::annotate",
    }
)  # fmt: skip


@dataclass
class FrozenModule:
    """Result of freezing: graphs of the methods, and the attributes and submodules that remain."""

    root: Object
    graphs: dict[str, Graph] = field(default_factory=dict)  # method name -> graph
    # object id -> attributes that are preserved
    preserved_attributes: dict[int, set[str]] = field(default_factory=dict)
    # Object id of a submodule -> graphs of its preserved methods
    submethods: dict[int, dict[str, Graph]] = field(default_factory=dict)
    # Ids of objects preserved with all their attributes
    fully_preserved: set[int] = field(default_factory=set)
    # Dict from object id to object. The dict keeps the objects alive, so that their ids are not reused.
    objects: dict[int, Object] = field(default_factory=dict)
    owners: dict[Value, Object] = field(default_factory=dict)  # graph value that is a module -> module object


def freeze_module(
    module: Any,
    preserved_attrs: Iterable[str] = (),
    freeze_interfaces: bool = True,
    preserve_parameters: bool = False,
) -> Any:
    """Return a frozen copy of `module` with `forward` and the methods in `preserved_attrs`.

    Raise RuntimeError for unknown names, for modules that return themselves, and if a method writes to a
    container that shares memory with another attribute.
    """
    freezer = _Freezer(module.archived(), freeze_interfaces, preserve_parameters)
    return resolve("frozen_module")(freezer.run(list(preserved_attrs)))


class _Freezer:
    def __init__(self, root: Object, freeze_interfaces: bool, preserve_parameters: bool) -> None:
        self.out = FrozenModule(root)
        self.root = root
        self.freeze_interfaces = freeze_interfaces
        self.paths: dict[int, str] = {}  # object id -> path such as `self.head`, a prefix of value names
        self.requested_attributes: set[Attribute] = set()  # attributes requested by name
        # (GetAttr node, object) for each read of an attribute that is not a module
        self.reads: list[tuple[Node, Object]] = []
        self.constants: dict[tuple[Graph, Attribute], Value] = {}
        self.copies: dict[int, Any] = {}  # id of a script class object -> its copy in the graphs
        # Dict from a constant to its sort key, which is the index of the first read of the constant's
        # attribute.
        self.order: dict[Value, int] = {}
        self._enter(root, "self", preserve_parameters)

    def run(self, preserved: list[str]) -> FrozenModule:
        methods = self.root.cls.type.methods
        for name in preserved:
            if name not in methods:
                self._preserve(name)
        for name in ("forward", *preserved):
            if name in methods and name not in self.out.graphs:
                self.out.graphs[name] = self._method_graph(self.root, name)
        # Fold immutable attributes first: with a constant `training`, branches that write to other attributes
        # may disappear.
        self._fold_all(lambda type: not type.mutable)
        for graph in self._graphs():
            constant_propagation_immutable_types(graph)
        self._preserve_written()
        self._fold_all(lambda type: True)
        for graph in self._graphs():
            lower_simple_tuples(graph)
            eliminate_common_subexpressions(graph)
            simplify(graph, folds_conv_dims=True)
            constant_propagation(graph)
            eliminate_dead_code(graph)
            constant_pooling(graph)
        for graph in self._method_graphs():
            self._remove_unread(graph)
        self._remove_unread_attributes()
        return self.out

    # ---- objects and their attributes ----------------------------------------------------------------

    def _enter(self, owner: Object, path: str, preserve_parameters: bool) -> None:
        """Register an object and its submodules recursively. The first path to an object becomes its name."""
        if id(owner) in self.paths:
            return
        self.paths[id(owner)] = path
        self.out.objects[id(owner)] = owner
        preserved_attributes = self.out.preserved_attributes.setdefault(id(owner), set())
        if preserve_parameters and isinstance(owner.cls.type, ModuleType):
            preserved_attributes.update(owner.cls.type.concrete.parameters)
            self.requested_attributes.update((id(owner), name) for name in preserved_attributes)
        for name in owner.cls.names:
            submodule = self._submodule(owner, name)
            if submodule is not None:
                self._enter(submodule, f"{path}.{name}", preserve_parameters)

    def _submodule(self, owner: Object, name: str) -> Object | None:
        """Return the submodule stored in an attribute, or None for other attributes."""
        if not isinstance(owner.cls.type.attributes[name], ModuleType | InterfaceType):
            return None
        value = object_get(owner, owner.cls.slot(name), False)
        return value if isinstance(value, Object) and isinstance(value.cls.type, ModuleType) else None

    def _preserve(self, name: str) -> None:
        """Preserve the attribute or submodule `name`, which may be a dotted path into a submodule."""
        owner: Object | None = self.root
        *prefix, last = name.split(".")
        for attribute in prefix:
            owner = (
                self._submodule(owner, attribute)
                if owner is not None and attribute in owner.cls.names
                else None
            )
        if owner is not None and last in owner.cls.type.methods:
            submethods = self.out.submethods.setdefault(id(owner), {})
            submethods[last] = self._method_graph(owner, last)
            return
        if owner is None or last not in owner.cls.names:
            raise RuntimeError(f"Unknown name: {name}")
        self._preserve_attribute(owner, last)
        self.requested_attributes.add((id(owner), last))

    def _preserve_attribute(self, owner: Object, name: str) -> None:
        _check_preserved_type(owner, name)
        submodule = self._submodule(owner, name)
        if submodule is not None:
            self._preserve_all(submodule)
        else:
            self.out.preserved_attributes[id(owner)].add(name)

    def _preserve_all(self, owner: Object) -> None:
        if owner is self.root:
            raise RuntimeError("attempted to freeze a module that return itself")
        self.out.fully_preserved.add(id(owner))
        for name in owner.cls.names:
            _check_preserved_type(owner, name)
            submodule = self._submodule(owner, name)
            if submodule is None:
                self.out.preserved_attributes[id(owner)].add(name)
            elif id(submodule) not in self.out.fully_preserved:
                self._preserve_all(submodule)

    # ---- graphs of methods and forked tasks ----------------------------------------------------------

    def _method_graph(self, owner: Object, name: str) -> Graph:
        """Return a copy of a method's graph with all calls inlined."""
        graph: Graph = owner.cls.type.methods[name].graph.copy()
        self.out.owners[graph.inputs()[0]] = owner
        self._resolve(graph)
        return graph

    def _method_graphs(self) -> Iterator[Graph]:
        """Yield the method graphs of the module and of its preserved submodules."""
        yield from self.out.graphs.values()
        for methods in self.out.submethods.values():
            yield from methods.values()

    def _graphs(self) -> Iterator[Graph]:
        """Yield the graphs of all methods and of their forked tasks."""
        for graph in self._method_graphs():
            yield graph
            yield from _forked_graphs(graph)

    def _resolve(self, graph: Graph) -> None:
        """Inline all calls, and find the module object of each module-typed value, also in forked tasks."""
        inline(graph)
        while self._record_modules(graph) and inline(graph):
            # Repeat, because calls of interface methods have become calls of class methods, which can now be
            # inlined.
            pass
        for node in walk_nodes(graph.block()):
            if node.kind() == "prim::ModuleContainerIndex":
                raise RuntimeError("Freezing modules containing prim::ModuleContainerIndex is not supported")
            owner = self.out.owners.get(node.inputs()[0]) if node.inputs() else None
            if node.kind() == "prim::GetAttr" and node.output() not in self.out.owners and owner is not None:
                self.reads.append((node, owner))
        for fork in graph.find_all_nodes("prim::fork"):
            task = fork.get("Subgraph")
            for inner, value in zip(task.inputs(), fork.inputs(), strict=True):
                if value in self.out.owners:
                    self.out.owners[inner] = self.out.owners[value]
            self._resolve(task)

    def _record_modules(self, graph: Graph) -> bool:
        """Record the module object of each module-typed value.

        Replace interface types by the types of the modules (devirtualization).

        Return True if an interface type was replaced.
        """
        owners = self.out.owners
        changed = False
        for node in walk_nodes(graph.block()):
            if node.kind() != "prim::GetAttr" or node.input() not in owners:
                continue
            submodule = self._submodule(owners[node.input()], node.get("name"))
            if submodule is None:
                continue
            if isinstance(node.output().type(), InterfaceType):
                if not self.freeze_interfaces:
                    raise RuntimeError("attempted to freeze a module that uses interface attributes")
                node.output().set_type(submodule.cls.type)
                changed = True
            owners[node.output()] = submodule
        for node in graph.find_all_nodes("prim::SetAttr"):
            target: Any = node.inputs()[0].type()
            if isinstance(target.attributes.get(node.get("name")), InterfaceType):
                raise RuntimeError(
                    "Freezing does not support SetAttr on an interface type. SetAttr is attempted on "
                    f"'{node.get('name')}'"
                )
        return changed

    def _preserve_written(self) -> None:
        followed = _AttributeEscapeAnalysis(self)
        for graph in self._method_graphs():
            followed.follow(graph)
        for attribute in followed.touched:
            self._preserve_attribute(self.out.objects[attribute[0]], attribute[1])
        for owner in followed.modules:
            self._preserve_all(owner)
        self._preserve_aliases(followed.written)

    def _preserve_aliases(self, written_attributes: set[Attribute]) -> None:
        """Preserve the attributes that share memory with one of `written_attributes`.

        Raise RuntimeError if a written attribute that shares memory is not a tensor.
        """
        memory = {
            (key, name): set(storages(object_get(owner, owner.cls.slot(name))))
            for key, owner in self.out.objects.items()
            for name in owner.cls.names
            if self._submodule(owner, name) is None
        }
        for key in written_attributes:
            is_tensor = _storage_of(object_get(self.out.objects[key[0]], self._slot(key))) is not None
            for other, others in memory.items():
                if other == key or not others & memory.get(key, set()):
                    continue
                if not is_tensor:
                    attribute_names = f"{key[1]} and {other[1]}"
                    raise RuntimeError(f"module contains attributes values that overlaps: {attribute_names}")
                self.out.preserved_attributes[other[0]].add(other[1])

    def _slot(self, key: Attribute) -> int:
        slot: int = self.out.objects[key[0]].cls.slot(key[1])
        return slot

    # ---- replacement of attributes by constants ------------------------------------------------------

    def _attributes_accessed_by(self, *kinds: str) -> set[Attribute]:
        """Return the attributes that nodes of the given kinds access, in all graphs."""
        return {
            (id(self.out.owners.get(node.inputs()[0])), node.get("name"))
            for graph in self._graphs()
            for kind in kinds
            for node in graph.find_all_nodes(kind)
        }

    def _fold_all(self, is_foldable: Callable[[Type], bool]) -> None:
        """Replace reads of attributes by constants if `is_foldable` accepts the attribute's type.

        A read remains if its attribute is preserved or assigned, if its module is in training mode, or if the
        value of the attribute cannot be a constant.
        """
        assigned = self._attributes_accessed_by("prim::SetAttr")
        for order, (node, owner) in enumerate(self.reads):
            key = id(owner), node.get("name") if node.in_block() else ""
            if node.in_block() and key not in assigned and is_foldable(node.output().type()):
                self._fold(node, owner, order)

    def _fold(self, node: Node, owner: Object, order: int) -> None:
        name = node.get("name")
        if name in self.out.preserved_attributes[id(owner)] or self._is_training(owner):
            self.out.preserved_attributes[id(owner)].add(name)
            return
        graph = node.owning_graph()
        key = graph, (id(owner), name)
        constant = self.constants.get(key)
        if constant is None:
            constant = self._constant(graph, owner, name, order)
            if constant is None:
                self.out.preserved_attributes[id(owner)].add(name)
                return
            self.constants[key] = constant
        update("freezing", "{} is a constant", constant.debug_name())
        node.output().replace_all_uses_with(constant)
        node.destroy()

    def _constant(self, graph: Graph, owner: Object, name: str, order: int) -> Value | None:
        type: Type = owner.cls.type.attributes[name]
        value = object_get(owner, owner.cls.slot(name), not isinstance(type, ClassType))
        if isinstance(value, Object):  # one copy for all graphs, since a method may assign its attributes
            copied = self.copies.get(id(value))
            value = self.copies[id(value)] = resolve("copy_object")(value, {}) if copied is None else copied
        value = _detach(value)
        with graph.inserting_before(self._find_insertion_point(graph, order)):
            # for these declared types, the type of the value may be more precise
            use_value_type = isinstance(type, TensorType | OptionalType | TupleType)
            constant = graph.try_insert_constant(value, None, None if use_value_type else type)
        if constant is not None:
            constant.set_debug_name(f"{self.paths[id(owner)]}.{name}")
            self.order[constant] = order
        return constant

    def _is_training(self, owner: Object) -> bool:
        """Return whether a module is in training mode, so that its attributes are preserved."""
        return "training" in owner.cls.names and bool(object_get(owner, owner.cls.slot("training")))

    def _find_insertion_point(self, graph: Graph, order: int) -> Node:
        """Return the node before which a new constant with sort key `order` is inserted."""
        for node in graph.nodes():
            if not node.outputs() or self.order.get(node.outputs()[0], order) >= order:
                return node
        return graph.return_node()

    def _remove_unread(self, graph: Graph) -> None:
        """Remove unused reads of module attributes, and unused module inputs of forked tasks."""
        for node in reversed(list(walk_nodes(graph.block()))):
            if node.kind() == "prim::fork":
                self._remove_unread(node.get("Subgraph"))
                self._remove_unread_captures(node)
            elif node.kind() == "prim::GetAttr" and not node.has_uses():
                self.out.owners.pop(node.output(), None)
                node.destroy()

    def _remove_unread_captures(self, fork: Node) -> None:
        task = fork.get("Subgraph")
        for i in reversed(range(len(task.inputs()))):
            inner = task.inputs()[i]
            if inner in self.out.owners and not inner.has_uses():
                del self.out.owners[inner]
                task.erase_input(i)
                fork.remove_input(i)

    def _remove_unread_attributes(self) -> None:
        """Remove attributes that no graph reads, unless they were requested by name."""
        mentioned = self._attributes_accessed_by("prim::GetAttr", "prim::SetAttr")
        for key, names in self.out.preserved_attributes.items():
            if key not in self.out.fully_preserved:
                names.intersection_update(
                    {name for name in names if (key, name) in mentioned | self.requested_attributes}
                )
        self._unify_attributes_by_class()

    def _unify_attributes_by_class(self) -> None:
        """Preserve an attribute in all remaining modules of a class if one module preserves it."""
        remaining_keys = [
            key
            for key, names in self.out.preserved_attributes.items()
            if names and key not in self.out.fully_preserved
        ]
        preserved_classes = {self.out.objects[key].cls for key in self.out.fully_preserved}
        by_class: dict[Any, set[str]] = {}
        for key in remaining_keys:
            by_class.setdefault(self.out.objects[key].cls, set()).update(self.out.preserved_attributes[key])
        for key in remaining_keys:
            owner = self.out.objects[key]
            if owner.cls in preserved_classes and owner is not self.root:
                self._preserve_all(owner)
            else:
                self.out.preserved_attributes[key].update(by_class[owner.cls])


class _Origin:
    """Module attributes that a value may alias, contain or be contained in.

    aliases      attributes that the value may alias
    elements     attributes that may be elements of the value
    containers   attributes that may contain the value, or an element of it
    """

    def __init__(
        self,
        aliases: set[Attribute] | None = None,
        elements: set[Attribute] | None = None,
        containers: set[Attribute] | None = None,
    ) -> None:
        self.aliases = aliases or set()
        self.elements = elements or set()
        self.containers = containers or set()

    def __len__(self) -> int:
        return len(self.aliases) + len(self.elements) + len(self.containers)

    def all(self) -> set[Attribute]:
        """Return the attributes that the value may alias, contain or be contained in."""
        return self.aliases | self.elements | self.containers

    def update(self, other: _Origin) -> None:
        """Add the attributes in the sets of `other` to the sets of this object."""
        self.aliases |= other.aliases
        self.elements |= other.elements
        self.containers |= other.containers

    def of_alias(self) -> _Origin:
        """Return the `_Origin` of an alias of this value."""
        return self

    def of_container(self) -> _Origin:
        """Return the `_Origin` of a container that contains this value."""
        return _Origin(None, self.aliases | self.elements, set(self.containers))

    def of_element(self) -> _Origin:
        """Return the `_Origin` of an element of this value."""
        return _Origin(set(self.elements), set(self.elements), self.aliases | self.containers)


_NO_ORIGIN: Final = _Origin()
_CONTAINER_ORIGINS: Final[dict[str, Callable[[_Origin], _Origin]]] = {
    "prim::TupleConstruct": _Origin.of_container,
    "prim::ListConstruct": _Origin.of_container,
    "prim::DictConstruct": _Origin.of_container,
    "prim::TupleUnpack": _Origin.of_element,
    "prim::ListUnpack": _Origin.of_element,
    "prim::TupleIndex": _Origin.of_element,
}


class _AttributeEscapeAnalysis:
    """Escape analysis of attributes.

    The analysis finds attributes that nodes may modify, and attributes whose values reach unknown code.
    """

    def __init__(self, freezer: _Freezer) -> None:
        self._owners = freezer.out.owners
        self._origins: dict[Value, _Origin] = {}
        # Attributes that must remain attributes, for one of these reasons: a node assigns the attribute, an
        # operator writes to its value in place, or its value escapes to unknown code.
        self.touched: set[Attribute] = set()
        self.written: set[Attribute] = set()  # attributes to whose values operators write in place
        self.modules: list[Object] = []  # modules that are passed to unknown code

    def follow(self, graph: Graph) -> None:
        """Visit the nodes of `graph` until nothing changes, as loops pass results back to earlier nodes."""
        before = -1
        while before != (before := sum(map(len, self._origins.values())) + len(self.touched)):
            self._visit(graph.block())
        # Only modules in the results are recorded. As in PyTorch, other returned attributes may become
        # constants, although callers can write to them.
        for value in graph.outputs():
            self._mark_escaped(value, of_module_only=True)

    def _visit(self, block: Block) -> None:
        for node in block.nodes():
            for inner in node.blocks():
                self._visit(inner)
            self._visit_node(node)

    def _visit_node(self, node: Node) -> None:
        kind = node.kind()
        if kind == "prim::GetAttr":
            owner = self._owners.get(node.input())
            if owner is None:  # the object is a script object, not a module
                self._add_origins(node.output(), self._origin_of(node.input()).of_element())
            elif node.output().type().mutable and node.output() not in self._owners:
                self._add_origins(node.output(), _Origin({(id(owner), node.get("name"))}))
        elif kind == "prim::SetAttr":
            self._assign(node)
        elif kind == "prim::Loop":
            body = node.blocks()[0]
            for inner, initial, result, output in zip(
                body.inputs()[1:], node.inputs()[2:], body.outputs()[1:], node.outputs(), strict=True
            ):
                self._add_origins(inner, self._origin_of(initial), self._origin_of(result))
                self._add_origins(output, self._origin_of(inner))
        elif kind == "prim::If":
            for inner_block in node.blocks():
                for output, value in zip(node.outputs(), inner_block.outputs(), strict=True):
                    self._add_origins(output, self._origin_of(value))
        elif kind == "prim::fork":
            task = node.get("Subgraph")
            for value in (*node.inputs(), *task.outputs()):
                if value not in self._owners:  # a task gets modules, but their attributes need not escape
                    self._mark_escaped(value)
            self._visit(task.block())
        elif kind in _ALIASING_KINDS:
            self._propagate_origins(node)
        elif node.schema() is not None:
            self._operator(node)
        elif kind != "prim::Constant":
            for value in node.inputs():
                self._mark_escaped(value)

    def _origin_of(self, value: Value) -> _Origin:
        return self._origins.get(value, _NO_ORIGIN)

    def _add_origins(self, value: Value, *origins: _Origin) -> None:
        if value.type().mutable and any(map(len, origins)):
            existing = self._origins.setdefault(value, _Origin())
            for origin in origins:
                existing.update(origin)

    def _propagate_origins(self, node: Node) -> None:
        for value in node.inputs():
            if value in self._owners:  # the node creates a container with this module as an element
                self._mark_escaped(value)
        transfer = _CONTAINER_ORIGINS.get(node.kind(), _Origin.of_alias)
        for output in node.outputs():
            self._add_origins(output, *(transfer(self._origin_of(value)) for value in node.inputs()))

    def _assign(self, node: Node) -> None:
        target, value = node.inputs()
        owner = self._owners.get(target)
        if owner is not None:
            self.touched.add((id(owner), node.get("name")))
        self._mark_escaped(value)

    def _mark_escaped(self, value: Value, of_module_only: bool = False) -> None:
        """Record that `value` escapes to unknown code.

        If `of_module_only`, record it only if it is a module.
        """
        if value.type().mutable and not of_module_only:
            self.touched |= self._origin_of(value).all()
        owner = self._owners.get(value)
        if owner is not None and owner not in self.modules:
            self.modules.append(owner)

    def _operator(self, node: Node) -> None:
        """Record the writes and the result aliases of an operator, as annotated in its schema."""
        schema = node.schema()
        assert schema is not None
        origins: list[_Origin] = []
        stored: list[_Origin] = []
        changed: list[Value] = []
        for argument, value in zip(schema.arguments, node.inputs(), strict=False):
            origin = self._origin_of(value)
            alias = argument.alias
            if alias is None:
                continue
            origins.append(origin)
            if alias.is_write:
                changed.append(value)
                self.touched |= origin.aliases
                self.written |= origin.aliases | origin.containers
            if "*" in alias.after:
                stored.append(origin.of_container())
        for value in changed:
            self._add_origins(value, *stored)
        if may_return_self(node):
            origins.append(self._origin_of(node.inputs()[0]))
        unpacked = [self._origin_of(value).of_element() for value in node.inputs()]
        for result, output in zip(schema.returns, node.outputs(), strict=False):
            if result.alias is not None and "*" in result.alias.before:
                self._add_origins(output, *unpacked)
            elif result.alias is not None or may_return_self(node):
                self._add_origins(output, *origins)


def _check_preserved_type(owner: Object, name: str) -> None:
    """Raise RuntimeError if attribute `name`, which must be preserved, has an interface type."""
    if isinstance(owner.cls.type.attributes[name], InterfaceType):
        raise RuntimeError(f"failed to freeze interface attribute '{name}'")


def _forked_graphs(graph: Graph) -> Iterator[Graph]:
    """Yield the graphs of forked tasks, recursively."""
    for fork in graph.find_all_nodes("prim::fork"):
        yield fork.get("Subgraph")
        yield from _forked_graphs(fork.get("Subgraph"))


def storages(value: Any) -> Iterator[int]:
    """Yield the storage addresses of all tensors in a value."""
    storage = _storage_of(value)
    if storage is not None:
        yield storage
    elif isinstance(value, list | tuple | dict):
        for item in (*value.keys(), *value.values()) if isinstance(value, dict) else value:
            yield from storages(item)


def _detach(value: Any) -> Any:
    """Detach a tensor, or the tensors in a container. PyTorch rejects constants that require grad."""
    if hasattr(value, "detach"):
        return value.detach()
    if isinstance(value, dict):
        return {_detach(key): _detach(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_detach(item) for item in value]
    if isinstance(value, tuple):
        items = [_detach(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def _storage_of(value: Any) -> int | None:
    storage = getattr(value, "untyped_storage", None)
    return None if storage is None else storage()._cdata
