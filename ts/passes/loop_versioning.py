"""Loop versioning (loop multiversioning) of loops over tensor elements, with run-time checks.

`make_versions` replaces a `prim::Loop` by nested ifs. The dtypes and ranks of the tensors select a version.
The last version is the original loop. `make_versions` returns False if no version is profitable.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import BOOL, FLOAT, INT, Type
from ts.passes.element_access_analysis import (
    NUMBER,
    READS_NUMBER,
    ROLE,
    SELECTION,
    Elements,
    Source,
    View,
    views_in,
)
from ts.passes.hoist_element_sizes import hoist_size_queries
from ts.passes.insert_type_checks import insert_all
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import BODY_INPUTS, LOOP_INPUTS, constant_value, walk_nodes

FLOAT32_CODE: Final = 6  # PyTorch's ScalarType number of float32
FLOAT64_CODE: Final = 7
INT64_CODE: Final = 4
_MAX_LOOP_NODES: Final = 400  # larger loops get no versions, because each version is a copy of the loop
# floats with a magnitude below this limit can be converted to int64 without overflow
_EXACT_FLOAT_LIMIT: Final = 2.0**62


def make_versions(loop: Node) -> bool:
    """Add specialized versions of a loop if the analysis of its element accesses predicts a gain."""
    body = loop.blocks()[0]
    if (
        next(views_in(body), None) is None
        or sum(1 for _ in walk_nodes(body)) > _MAX_LOOP_NODES
        or _has_versions(loop)
    ):
        return False
    elements = Elements(loop)
    if elements.rejection_reason or elements.gain <= 0 or not elements.ranks.keys() & elements.loaded.keys():
        return False
    if not optimization_allowed("scalarize_loops"):
        return False
    update("scalarize_loops", "Versions for elements of {}", loop)
    graph = loop.owning_graph()
    choices = []
    for dtypes in _versions(elements):
        choice = _guard(graph, loop, elements, dtypes)
        choices.append(choice)
        version = graph.create_clone(loop, _Same())
        choice.blocks()[0].append_node(version)
        _LoopVersion(version, Elements(version, elements.fresh), dtypes).write()
        hoist_size_queries(graph, version, {x: elements.ranks.get(x, 0) for x in elements.loaded})
    _nest_ifs(loop, choices)
    return True


def _has_versions(loop: Node) -> bool:
    """Return whether `loop` already has versions, and is the original loop in the ifs that select them."""
    choice = loop.owning_block().owning_node()
    if choice is None or choice.kind() != "prim::If" or loop.owning_block() is not choice.blocks()[1]:
        return False
    condition = choice.input().node()
    while condition.kind() == "prim::If":
        condition = condition.input().node()
    return condition.kind() == "prim::HasElements"


class _Same(dict[Value, Value]):
    """Map from values to their copies. Values without a copy map to themselves."""

    def __missing__(self, value: Value) -> Value:
        return value


class _Dtypes(NamedTuple):
    """Dtypes of a loop version: the tensors `ints` have dtype int64, all others the dtype `floats`."""

    floats: int
    ints: frozenset[Value]  # tensors from outside the loop that have dtype int64

    def of(self, elements: Elements, member: Value) -> int:
        dtype_set = elements.find_set(member)
        return (
            INT64_CODE if any(elements.find_set(tensor) is dtype_set for tensor in self.ints) else self.floats
        )


def _versions(elements: Elements) -> Iterator[_Dtypes]:
    """Yield the dtypes of each version to create. They follow from the uses of the tensors."""
    floats = {elements.find_set(member) for member in elements.floats}
    indices = {elements.find_set(member) for member in elements.indices} - floats
    tensors = frozenset(elements.loaded)
    ints = frozenset(tensor for tensor in tensors if elements.find_set(tensor) in indices)
    either = frozenset(tensor for tensor in tensors if elements.find_set(tensor) not in floats)
    for int_tensors in dict.fromkeys((ints, either)):
        if int_tensors == tensors:
            yield _Dtypes(FLOAT64_CODE, int_tensors)
        else:
            yield _Dtypes(FLOAT32_CODE, int_tensors)
            yield _Dtypes(FLOAT64_CODE, int_tensors)


def _guard(graph: Graph, loop: Node, elements: Elements, dtypes: _Dtypes) -> Node:
    """Insert a check of the version's dtypes and ranks before `loop`, and an `if` on its result."""

    def insert_has_elements(tensor: Value) -> Value:
        node = graph.create("prim::HasElements", [tensor])
        node.set("dtype", dtypes.of(elements, tensor), "i")
        node.set("rank", elements.ranks.get(tensor, 0), "i")
        node.set("written", int(tensor in elements.written), "i")
        return graph.insert_node(node).output().set_type(BOOL)

    with graph.inserting_before(loop), graph.at_range(loop.range):
        condition = insert_all(graph, [partial(insert_has_elements, tensor) for tensor in elements.loaded])
        choice = graph.insert_node(graph.create_if(condition, loop.outputs_size()))
    choice.copy_metadata(loop)
    for output, original in zip(choice.outputs(), loop.outputs(), strict=True):
        output.copy_metadata(original)
    return choice


def _nest_ifs(loop: Node, choices: list[Node]) -> None:
    """Nest the ifs `choices`, each in the false branch of its predecessor.

    Move `loop` to the false branch of the last one.
    """
    first, *others = choices
    for original, output in zip(loop.outputs(), first.outputs(), strict=True):
        original.replace_all_uses_with(output)
    last = first
    for choice in others:
        _move_between(first, choice, last.blocks()[1])
        for output in choice.outputs():
            last.blocks()[1].register_output(output)
        last = choice
    loop.move_before(last.blocks()[1].return_node())
    for output in loop.outputs():
        last.blocks()[1].register_output(output)


def _move_between(first: Node, last: Node, block: Block) -> None:
    """Move the nodes after `first`, up to and including `last`, to the end of a block."""
    node = first.next()
    while True:
        following = node.next()
        node.move_before(block.return_node())
        if node is last:
            return
        node = following


class _LoopVersion:
    """Builder of one version of a loop: converts nodes on tensors to nodes on numbers."""

    def __init__(self, loop: Node, elements: Elements, dtypes: _Dtypes) -> None:
        self.loop = loop
        self.elements = elements
        self.dtypes = dtypes
        self.graph = loop.owning_graph()
        self.numbers: dict[Value, Value] = {}  # tensors that are replaced by numbers -> these numbers
        self.indices: dict[Value, list[Value]] = {}  # views that select an element -> indices of the element
        # Dict from (tensor, *indices) to the number of the element, for elements loaded since the last write
        self.loaded_values: dict[tuple[Value, ...], Value] = {}
        # Replaced tensor nodes, which `_remove_replaced` removes if they are unused
        self.replaced_nodes: list[Node] = []
        # Replaced outputs of ifs and loops, which `_remove_replaced` removes
        self.slots: list[tuple[Node, Value]] = []

    def write(self) -> None:
        """Convert the nodes of the loop to nodes on numbers.

        The results of the loop become outputs of its block.
        """
        block = self.loop.owning_block()
        outputs = list(self.loop.outputs())
        self._loop(self.loop)
        for output in outputs:
            block.register_output(self._result(output, block.return_node()))
        self._remove_replaced()

    # ---- loads and stores of elements, conversion of operands --------------------------------------------

    def _dtype(self, member: Value) -> int:
        return self.dtypes.of(self.elements, member)

    def _type(self, member: Value) -> Type:
        return INT if self._dtype(member) == INT64_CODE else FLOAT

    def _indices_of(self, value: Value) -> list[Value]:
        """Return the indices of the element that view `value` selects."""
        if value not in self.indices:
            self.indices[value] = self.elements.base_and_indices(value)[1]
        return self.indices[value]

    def _base_and_indices(self, value: Value) -> tuple[Value, list[Value]]:
        """Return the tensor and the indices of an element in memory."""
        kind = self.elements.kind(value)
        if isinstance(kind, View):
            return kind.source, self._indices_of(value)
        assert isinstance(kind, Source)
        return kind.value, []

    def _read(self, value: Value, before: Node) -> Value:
        """Return the number in element `value`.

        If the element is not loaded yet, insert a load before the node `before`.
        """
        if value in self.numbers:
            return self.numbers[value]
        source, indices = self._base_and_indices(value)
        key = (source, *indices)
        if key not in self.loaded_values:
            self.loaded_values[key] = self._load(source, indices, before)
        return self.loaded_values[key]

    def _load(self, source: Value, indices: list[Value], before: Node) -> Value:
        node = self._new("prim::LoadElement", [source, *indices], before, self._type(source))
        return node.set("dtype", self._dtype(source), "i").output()

    def _store(self, scalar: Value, source: Value, indices: list[Value], before: Node) -> None:
        node = self._new("prim::StoreElement", [scalar, source, *indices], before, None)
        node.set("dtype", self._dtype(source), "i")
        self.loaded_values = {(source, *indices): scalar}

    def _operand(self, value: Value, member: Value, before: Node) -> Value:
        """Return the number for operand `value` of an operator, converted to the dtype of `member`."""
        if self.elements.member(value) is not None:
            return self._read(value, before)
        scalar = self.numbers.get(value, value)
        if self._dtype(member) == INT64_CODE:
            return scalar
        constant = constant_value(scalar)
        if isinstance(constant, int | float):
            return self._constant(self._round_constant(float(constant), member), before)
        if scalar.type() is INT:
            scalar = self._new("aten::Float", [scalar], before, FLOAT).output()
        return self._round(scalar, member, before)

    def _round_constant(self, scalar: float, member: Value) -> float:
        return _as_float32(scalar) if self._dtype(member) == FLOAT32_CODE else scalar

    def _round(self, scalar: Value, member: Value, before: Node) -> Value:
        if self._dtype(member) != FLOAT32_CODE:
            return scalar
        return self._new("prim::RoundFloat32", [scalar], before, FLOAT).output()

    def _constant(self, value: object, before: Node) -> Value:
        with self.graph.inserting_before(before):
            return self.graph.insert_constant(value)

    def _new(self, kind: str, inputs: list[Value], before: Node, type: Type | None) -> Node:
        node = self.graph.create(kind, inputs, 0 if type is None else 1).insert_before(before)
        node.copy_metadata(before if before is not before.owning_block().return_node() else self.loop)
        if type is not None:
            node.output().set_type(type)
        return node

    # ---- conversion of blocks --------------------------------------------------------------------------

    def _block(self, block: Block) -> None:
        first = next(iter(block.nodes()), block.return_node())
        for value in block.inputs():
            self._materialize_tensor(value, first)
        for node in list(block.nodes()):
            following = node.next()
            self._node(node)
            for output in list(node.outputs()):
                self._materialize_tensor(output, following)

    def _node(self, node: Node) -> None:
        kind = node.kind()
        if kind == "prim::Constant":
            return
        if kind == "prim::Loop":
            self._loop(node)
        elif kind == "prim::If":
            self._choice(node)
        elif self.elements.is_converted(node):
            _LOOP_EMITTERS[ROLE[kind]](self, node)
            self.replaced_nodes.append(node)
        elif node.outputs_size() == 1 and isinstance(self.elements.kinds.get(node.output()), View):
            self._view(node)
        elif kind == "prim::dtype" and self.elements.member(node.input()) is not None:
            member = self.elements.member(node.input())
            assert member is not None
            node.output().replace_all_uses_with(self._constant(self._dtype(member), node))
            self.replaced_nodes.append(node)
        elif kind == "prim::device" and self.elements.member(node.input()) is not None:
            node.replace_input(0, next(iter(self.elements.loaded)))
            self.replaced_nodes.append(node)
        elif node.schema() is None or node.schema().is_mutable:  # type: ignore[union-attr]
            self.loaded_values = {}

    def _materialize_tensor(self, value: Value, before: Node) -> None:
        """Convert `value`, a number, to a tensor for the uses that accept no number (`Elements.boxed`)."""
        if value not in self.elements.boxed:
            return
        tensor = self._as_tensor(value, before)
        for use in list(value.uses()):
            if not self._accepts_scalar(use.user, use.offset):
                use.user.replace_input(use.offset, tensor)

    def _as_tensor(self, value: Value, before: Node) -> Value:
        kind = self.elements.kinds[value]
        with self.graph.inserting_before(before), self.graph.at_range(before.range):
            if isinstance(kind, View):
                tensor = kind.source
                for index in self.indices[value]:
                    tensor = self.graph.insert("aten::select", [tensor, 0, index])
                return tensor
            none = self.graph.insert_constant(None)
            return self.graph.insert(
                "aten::scalar_tensor", [self.numbers[value], self._dtype(value), none, none, none]
            )

    def _accepts_scalar(self, user: Node, offset: int) -> bool:
        """Return whether `user` accepts a number instead of the tensor at input `offset`."""
        kind = user.kind()
        if kind == "prim::Loop":
            user, carried = user.blocks()[0].param_node(), offset - LOOP_INPUTS + BODY_INPUTS
            is_number = self.elements.kinds.get(user.outputs()[carried]) is NUMBER
            return is_number or self._is_view(user, carried)
        if kind == "prim::Return":
            owner = user.owning_block().owning_node()
            assert owner is not None
            output_index = offset - BODY_INPUTS if owner.kind() == "prim::Loop" else offset
            is_number = self.elements.kinds.get(owner.outputs()[output_index]) is NUMBER
            return is_number or self._is_view(owner, output_index)
        # A number has no dimensions to select from, so `user` must select an index of a view.
        if kind == "aten::select":
            return self._is_view(user, 0)
        return self.elements.is_converted(user) or kind in ("prim::dtype", "prim::device")

    def _is_view(self, node: Node, i: int) -> bool:
        return isinstance(self.elements.kinds.get(node.outputs()[i]), View)

    # ---- conversion of operators -----------------------------------------------------------------------

    def _view(self, node: Node) -> None:
        """Record the indices of a view, and load the element if a later node reads it.

        The load is inserted at the place of the view, because an invalid index must raise its error there.
        """
        value, base = node.output(), self.elements.kind(node.input())
        before = self._indices_of(node.input()) if isinstance(base, View) else []
        self.indices[value] = [*before, node.input(2)]
        self.replaced_nodes.append(node)
        is_read = any(self.elements.is_converted(u.user) and _loads(u.user, u.offset) for u in value.uses())
        if is_read and self.elements.member(value) in self.elements.loaded:
            self._read(value, node)

    def _arithmetic(self, node: Node) -> None:
        role, name = ROLE[node.kind()], node.kind().removesuffix("_")
        member = self._member_of(node)
        x, y = (self._operand(value, member, node) for value in self.elements.operands(node))
        if name == "aten::rsub":
            name, x, y = "aten::sub", y, x
        if role in ("minimum", "maximum"):
            selects_first = "aten::lt" if role == "minimum" else "aten::gt"
            result = self._insert_choice(selects_first, x, y, node)
        else:
            result = self._round(self._new(name, [x, y], node, x.type()).output(), member, node)
        if role == "in-place":
            self._write(node, result)
        else:
            self.numbers[node.output()] = result

    def _member_of(self, node: Node) -> Value:
        values = (*self.elements.operands(node), node.output())
        return next(m for m in map(self.elements.member, values) if m is not None)

    def _insert_choice(self, comparison: str, x: Value, y: Value, node: Node) -> Value:
        """Insert nodes that return `x` if `comparison` of `x` and `y` holds or `x` is NaN, else `y`."""
        first = self._new(comparison, [x, y], node, BOOL).output()
        if x.type() is FLOAT:
            is_nan = self._new("aten::ne", [x, x], node, BOOL).output()
            first = self._new("aten::__or__", [first, is_nan], node, BOOL).output()
        choice = self.graph.create_if(first, 1).insert_before(node)
        choice.copy_metadata(node)
        for block, value in zip(choice.blocks(), (x, y), strict=True):
            block.register_output(value)
        return choice.output().set_type(x.type())

    def _unary(self, node: Node) -> None:
        member, x = self._member_of(node), self._read(node.input(), node)
        if node.kind() == "aten::reciprocal":
            quotient = self._new("aten::div", [self._constant(1.0, node), x], node, FLOAT).output()
            self.numbers[node.output()] = self._round(quotient, member, node)
        # Exact also for float32: rounding the float64 root has the same result as a float32 root.
        elif node.kind() == "aten::sqrt":
            root = self._new(node.kind(), [x], node, FLOAT).output()
            self.numbers[node.output()] = self._round(root, member, node)
        else:
            name = "prim::abs" if node.kind() == "aten::abs" else node.kind()
            self.numbers[node.output()] = self._new(name, [x], node, x.type()).output()

    def _comparison(self, node: Node) -> None:
        member = self._member_of(node)
        x, y = (self._operand(value, member, node) for value in self.elements.operands(node))
        self.numbers[node.output()] = self._new(node.kind(), [x, y], node, BOOL).output()

    def _store_number(self, node: Node) -> None:
        self.numbers[node.output()] = self._operand(node.input(), node.output(), node)

    def _copy(self, node: Node) -> None:
        member = self.elements.member(node.input())
        assert member is not None
        self._write(node, self._operand(node.input(1), member, node))

    def _write(self, node: Node, result: Value) -> None:
        """Store `result` of in-place operator `node` in the target element.

        If the target is a NUMBER, only record `result` as its new number.
        """
        target = node.input()
        if self.elements.kind(target) is NUMBER:
            self.numbers[node.output()] = result
            return
        source, indices = self._base_and_indices(target)
        self._store(result, source, indices, node)
        node.output().replace_all_uses_with(target)

    def _conversion(self, node: Node) -> None:
        """Replace a node that converts an element to a Python number."""
        result, scalar = READS_NUMBER[node.kind()], self._read(node.input(), node)
        if result == "bool" and scalar.type() is not BOOL:
            zero = self._constant(0 if scalar.type() is INT else 0.0, node)
            scalar = self._new("aten::ne", [scalar, zero], node, BOOL).output()
        elif result == "float" and scalar.type() is INT:
            scalar = self._new("aten::Float", [scalar], node, FLOAT).output()
        elif result == "int" and scalar.type() is FLOAT:
            is_implicit = node.kind() == "aten::IntImplicit"
            convert = self._raise_float_to_int if is_implicit else self._float_to_int
            scalar = convert(node, scalar)
        elif result == "any":  # the output of `aten::item` has type Scalar
            any_number = self._new("prim::unchecked_cast", [scalar], node, node.output().type())
            self.replaced_nodes.append(any_number)
            self.numbers[any_number.output()] = scalar
            scalar = any_number.output()
        node.output().replace_all_uses_with(scalar)

    def _float_to_int(self, node: Node, scalar: Value) -> Value:
        """Insert nodes that convert a float to an int.

        NaN and large floats are converted by a tensor operator.
        """
        insert = self.graph.insert
        with self.graph.inserting_before(node), self.graph.at_range(node.range):
            is_small = insert("aten::lt", [insert("prim::abs", [scalar]), _EXACT_FLOAT_LIMIT])
            choice = self.graph.insert_node(self.graph.create_if(is_small, 1))
            small_block, large_block = choice.blocks()
            with self.graph.inserting_at_end(small_block):
                small_block.register_output(insert("aten::Int", [scalar]))
            with self.graph.inserting_at_end(large_block):
                none = self.graph.insert_constant(None)
                tensor = insert("aten::scalar_tensor", [scalar, none, none, none, none])
                large_block.register_output(insert("aten::Int", [tensor]))
        return choice.output().set_type(INT)

    def _raise_float_to_int(self, node: Node, scalar: Value) -> Value:
        """Insert operators that raise PyTorch's error for the implicit conversion of a float to an int."""
        member = self.elements.member(node.input())
        assert member is not None
        with self.graph.inserting_before(node), self.graph.at_range(node.range):
            none = self.graph.insert_constant(None)
            tensor = self.graph.insert("aten::scalar_tensor", [scalar, self._dtype(member), none, none, none])
            return self.graph.insert("aten::IntImplicit", [tensor])

    # ---- ifs and loops: tensor elements become numbers -------------------------------------------------

    def _choice(self, node: Node) -> None:
        """Convert the branches of an `if`. Outputs that are elements become numbers or indices."""
        loaded_before = self.loaded_values
        for block in node.blocks():
            self.loaded_values = dict(loaded_before)
            self._block(block)
        self.loaded_values = {}
        for i, output in enumerate(list(node.outputs())):
            kind = self.elements.kinds.get(output)
            results = [block.outputs()[i] for block in node.blocks()]
            if kind is NUMBER:
                return_nodes = [block.return_node() for block in node.blocks()]
                scalars = [
                    self._read(value, return_node)
                    for value, return_node in zip(results, return_nodes, strict=True)
                ]
                self.numbers[output] = _add_result(node, scalars)
            elif isinstance(kind, View):
                indices_per_branch = zip(*map(self._indices_of, results), strict=True)
                self.indices[output] = [_add_result(node, list(values)) for values in indices_per_branch]
            elif isinstance(kind, Source):
                output.replace_all_uses_with(kind.value)
            else:
                continue
            self.slots.append((node, output))

    def _loop(self, loop: Node) -> None:
        """Convert the body of a loop. Carried values that are elements become numbers or indices."""
        body = loop.blocks()[0]
        variables = list(zip(body.inputs()[BODY_INPUTS:], loop.outputs(), strict=True))
        for i, (value, output) in enumerate(variables):
            kind, initial = self.elements.kinds.get(value), loop.input(LOOP_INPUTS + i)
            if kind is NUMBER:
                self.numbers[value] = _carry(loop, self._initial(loop, initial))
            elif isinstance(kind, View):
                self.indices[value] = [_carry(loop, index) for index in self._indices_of(initial)]
            elif isinstance(kind, Source):
                value.replace_all_uses_with(kind.value)
                output.replace_all_uses_with(kind.value)
        self.loaded_values = {}
        self._block(body)
        for i, (value, output) in enumerate(variables):
            kind, result = self.elements.kinds.get(value), body.outputs()[BODY_INPUTS + i]
            if kind is NUMBER:
                (self.numbers[output],) = _return_results(loop, [self._read(result, body.return_node())])
            elif isinstance(kind, View):
                self.indices[output] = _return_results(loop, self._indices_of(result))
            elif not isinstance(kind, Source):
                continue
            self.slots.append((loop, output))
        self.loaded_values = {}

    def _initial(self, loop: Node, initial: Value) -> Value:
        if loop is self.loop and initial in self.elements.fresh:
            return self._load(initial, [], loop)
        return self._read(initial, loop)

    def _result(self, output: Value, before: Node) -> Value:
        """Return the tensor that this version of the loop returns for `output` of the loop."""
        i = self.loop.outputs().index(output)
        kind = self.elements.kinds.get(self.loop.blocks()[0].inputs()[BODY_INPUTS + i])
        if isinstance(kind, Source):
            return kind.value
        if isinstance(kind, View):
            self.elements.kinds[output] = kind
            return self._as_tensor(output, before)
        if kind is NUMBER:
            initial = self.loop.input(LOOP_INPUTS + i)
            self._store(self.numbers[output], initial, [], before)
            return initial
        return output

    def _remove_replaced(self) -> None:
        """Remove replaced tensor nodes, and replaced outputs of ifs and loops."""
        placeholder = next(iter(self.elements.loaded))
        for node, output in self.slots:
            i = node.outputs().index(output)
            if node.kind() == "prim::Loop":
                node.replace_input(LOOP_INPUTS + i, placeholder)
                node.blocks()[0].replace_output(BODY_INPUTS + i, placeholder)
            else:
                for block in node.blocks():
                    block.replace_output(i, placeholder)
        for node in reversed(self.replaced_nodes):
            if not any(output.has_uses() for output in node.outputs()):
                node.destroy()
        for node, output in reversed(self.slots):
            i = node.outputs().index(output)
            if node.kind() == "prim::Loop":
                body = node.blocks()[0]
                body.erase_output(BODY_INPUTS + i)
                body.erase_input(BODY_INPUTS + i)
                node.remove_input(LOOP_INPUTS + i)
            else:
                for block in node.blocks():
                    block.erase_output(i)
            node.erase_output(i)


def _loads(user: Node, offset: int) -> bool:
    """Return whether `user` reads the number in its input `offset`, an element.

    Return False if it only writes the element.
    """
    kind = user.kind()
    return offset > 0 or (
        ROLE[kind] != "assignment" and kind not in (SELECTION, "prim::dtype", "prim::device")
    )


def _add_result(choice: Node, results: list[Value]) -> Value:
    for block, value in zip(choice.blocks(), results, strict=True):
        block.register_output(value)
    return choice.add_output(type=results[0].type())


def _carry(loop: Node, initial: Value) -> Value:
    loop.add_input(initial)
    return loop.blocks()[0].add_input(type=initial.type())


def _return_results(loop: Node, results: list[Value]) -> list[Value]:
    for value in results:
        loop.blocks()[0].register_output(value)
    return [loop.add_output(type=value.type()) for value in results]


def _as_float32(x: float) -> float:
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)
    return rounded


_LoopEmitter = Callable[[_LoopVersion, Node], None]

# Role of a tensor operator that the loop applies to single elements (`OperatorRecord.element_role`) -> method
# that replaces the node of this operator by nodes that compute with numbers.
_LOOP_EMITTERS: Final[dict[str, _LoopEmitter]] = {
    **dict.fromkeys(("arithmetic", "in-place", "minimum", "maximum"), _LoopVersion._arithmetic),
    "unary": _LoopVersion._unary,
    "comparison": _LoopVersion._comparison,
    "conversion": _LoopVersion._conversion,
    "assignment": _LoopVersion._copy,
    "store": _LoopVersion._store_number,
}
