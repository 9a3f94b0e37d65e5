"""Analysis of loops over tensor elements, which finds the 0-dim tensors that can be replaced by numbers.

Input: a loop. Output: an `Elements` object, from which `passes.loop_versioning` creates a version of the
loop. The right columns describe the tensors of this loop:

    for i in range(1, n):                     a     a 1-d tensor from outside, written in the loop
        a[i] = t * (a[i - 1] + a[i])          a[i]  a view of one element of a, which is read and written
        t = t + a[i]                          t     a loop-carried number with the dtype of a

The analysis does not determine dtypes, but groups tensors that must have the same dtype. Unknown operators
are not converted. A number that they read is converted to a tensor again (`boxed`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum, auto
from typing import Final, NamedTuple

from ts.analysis.effects import reshapes
from ts.analysis.mutation import written_inputs
from ts.fusion.fusion_rules import is_number, is_tensor
from ts.ir.graph import Block, Node, Value
from ts.ops.registry import field_by_name
from ts.passes.pass_utils import BODY_INPUTS, LOOP_INPUTS, constant_value, walk_nodes

# Dict from the kind of a tensor operator to the role of the number operator that can replace it for 0-dim
# operands. Both operators return the same result, which is exact or rounded once.
ROLE: Final = field_by_name("element_role")
_OPERATIONS: Final = ("arithmetic", "unary", "minimum", "maximum")  # roles of operators that compute a number
_PROMOTION: Final = field_by_name("promotion")
READS_NUMBER: Final = field_by_name("reads_number")
SELECTION: Final = "aten::select"
_CALLS: Final = frozenset(
    {
        "prim::CallFunction",
        "prim::CallMethod",
        "prim::PythonOp",
        "prim::IgnoredPythonOp",
        "prim::Enter",
        "prim::Exit",
        "prim::fork",
        "aten::wait",
    }
)


class Source(NamedTuple):
    """Classification of a tensor that is defined outside of the loop. The tensor is `value`."""

    value: Value


class View(NamedTuple):
    """Classification of a view of `source` that selects one index in each of the first `depth` dimensions."""

    source: Value
    depth: int


class UnknownTensor(Enum):
    """Classification of tensors that are neither sources nor views."""

    NUMBER = auto()  # the result of arithmetic on elements
    TRUTH = auto()  # the result of a comparison, read only by `bool`
    UNKNOWN = auto()


Kind = Source | View | UnknownTensor
NUMBER, TRUTH, UNKNOWN = UnknownTensor.NUMBER, UnknownTensor.TRUTH, UnknownTensor.UNKNOWN


class Elements:
    """Analysis of one loop: the origin of each tensor (`Kind`), and the elements that it reads and writes."""

    def __init__(self, loop: Node, fresh: frozenset[Value] | None = None) -> None:
        self.loop = loop
        self.body = loop.blocks()[0]
        self.kinds: dict[Value, Kind] = {}
        self.ranks: dict[Value, int] = {}  # outer tensor -> number of indices that select an element
        self.fresh = fresh_inputs(loop) if fresh is None else fresh
        self.loaded: dict[Value, None] = {}  # outer tensors whose elements the loop accesses
        self.written: set[Value] = set()
        # numbers and elements that must be converted to tensors, because a use requires a tensor
        self.boxed: set[Value] = set()
        # tensors that cannot have an integer dtype: their sets (`find_set`) have a floating-point dtype
        self.floats: set[Value] = set()
        # tensors whose elements are converted to ints: their sets probably have an integer dtype
        self.indices: set[Value] = set()
        # number of nodes that are converted to operations on numbers, minus a cost for each value in `boxed`
        self.gain = 0
        self.rejection_reason = ""
        self._parents: dict[Value, Value] = {}
        self._inside = {*self.body.inputs()}
        for node in walk_nodes(self.body):
            self._inside.update(node.outputs())
            for block in node.blocks():
                self._inside.update(block.inputs())
        self._count_indices()
        while self._visit(self.body):
            pass
        self._collect_constraints()

    # ---- queries of the analysis -----------------------------------------------------------------------

    def kind(self, value: Value) -> Kind | None:
        """Return the origin of a tensor: a `Source` outside the loop, a `View` of one, or `UnknownTensor`.

        Return None if the origin is not determined yet.
        """
        return self.kinds.get(value) if value in self._inside else Source(value)

    def member(self, value: Value) -> Value | None:
        """Return the source tensor of `value`, an element of this tensor.

        Return `value` itself if it is a NUMBER. Return None for other values.
        """
        if not is_tensor(value):
            return None
        kind = self.kind(value)
        if isinstance(kind, View):
            return kind.source if kind.depth == self.ranks.get(kind.source) else None
        if isinstance(kind, Source):
            return None if self.ranks.get(kind.value) or _has_dimensions(kind.value) else kind.value
        return value if kind is NUMBER else None

    def find_set(self, member: Value) -> Value:
        """Return the representative of the set of `member` (union-find).

        All tensors in a set have one dtype.
        """
        while member in self._parents:
            member = self._parents[member]
        return member

    def base_and_indices(self, value: Value) -> tuple[Value, list[Value]]:
        """Return (tensor, indices) if `value` is an element that is selected outside of the loop.

        For other values, return (value, []).
        """
        indices: list[Value] = []
        tensor = value
        while _is_element_selection(tensor.node()):
            indices.insert(0, tensor.node().input(2))
            tensor = tensor.node().input()
            if self.ranks.get(tensor) == len(indices):
                return tensor, indices
        return value, []

    def is_converted(self, node: Node) -> bool:
        """Return whether a loop version replaces `node` by an operation on numbers."""
        role = ROLE[node.kind()]
        if role == "conversion":
            return node.inputs_size() == 1 and self._is_element(node.input())
        if role == "comparison":
            return node.outputs_size() == 1 and self.kinds.get(node.output()) is TRUTH
        if role in ("in-place", "assignment"):
            return self._written_member(node) is not None
        if role == "store" or role in _OPERATIONS:
            return node.outputs_size() == 1 and self.kinds.get(node.output()) is NUMBER
        return False

    def operands(self, node: Node) -> list[Value]:
        """Return the elements and numbers that a converted node reads."""
        values = node.inputs()
        role = ROLE[node.kind()]
        if role == "assignment":
            return list(values[1:2])
        return list(values[:1] if role in ("conversion", "unary", "store") else values[:2])

    # ---- classification of tensors ---------------------------------------------------------------------

    def _count_indices(self) -> None:
        for node in walk_nodes(self.body):
            if not _is_element_selection(node):
                continue
            depth, value = 0, node.output()
            while value in self._inside and _is_element_selection(value.node()):
                depth, value = depth + 1, value.node().input()
            if value not in self._inside:
                self.ranks[value] = max(depth, self.ranks.get(value, 0))

    def _visit(self, block: Block) -> bool:
        changed = False
        if block is self.body:
            changed |= self._join(self.loop, block)
        for node in block.nodes():
            if node.kind() == "prim::Loop":
                changed |= self._join(node, node.blocks()[0])
            for inner in node.blocks():
                changed |= self._visit(inner)
            if node.kind() == "prim::Loop":
                changed |= self._join(node, node.blocks()[0])
                variables = node.blocks()[0].inputs()[BODY_INPUTS:]
                for output, value in zip(node.outputs(), variables, strict=True):
                    changed |= self._meet(output, self.kinds.get(value))
            elif node.kind() == "prim::If":
                for output, *values in _zip_if_outputs(node):
                    for value in values:
                        changed |= self._meet(output, self.kind(value))
            else:
                for output in node.outputs():
                    changed |= self._meet(output, self._kind_of(node) if is_tensor(output) else None)
        return changed

    def _join(self, loop: Node, body: Block) -> bool:
        """Classify carried values of `loop` by their initial and next values.

        Return whether a classification changed.
        """
        changed = False
        carried = body.inputs()[BODY_INPUTS:]
        for value, initial, result in zip(
            carried, loop.inputs()[LOOP_INPUTS:], body.outputs()[BODY_INPUTS:], strict=True
        ):
            kind = NUMBER if loop is self.loop and initial in self.fresh else self.kind(initial)
            changed |= self._meet(value, kind)
            changed |= self._meet(value, self.kind(result))
        return changed

    def _meet(self, value: Value, kind: Kind | None) -> bool:
        before = self.kinds.get(value)
        if kind is None or before is UNKNOWN or before == kind or not is_tensor(value):
            return False
        self.kinds[value] = kind if before is None else self._merge_kinds(before, kind)
        return self.kinds[value] != before

    def _merge_kinds(self, a: Kind, b: Kind) -> Kind:
        """Merge two different classifications: a view if both describe the same view, else UNKNOWN."""
        for source, view in ((a, b), (b, a)):
            if isinstance(source, Source) and isinstance(view, View):
                tensor, indices = self.base_and_indices(source.value)
                if tensor is view.source and len(indices) == view.depth:
                    return view
        return UNKNOWN

    def _kind_of(self, node: Node) -> Kind | None:
        """Classify the result of a node. Return None if an input is not classified yet."""
        role, values = ROLE[node.kind()], node.inputs()
        if _is_element_selection(node):
            base = self.kind(values[0])
            if isinstance(base, View):
                return View(base.source, base.depth + 1)
            return View(base.value, 1) if isinstance(base, Source) else base and UNKNOWN
        if role in ("in-place", "assignment"):
            return self._kind_of_written(node)
        if role == "store":
            return self._stored_kind(node)
        if (role != "comparison" and role not in _OPERATIONS) or not _is_plain(node):
            return UNKNOWN
        operands = self.operands(node)
        if any(is_tensor(value) and self.kind(value) is None for value in operands):
            return None
        if not all(self._is_operand(value) for value in operands) or not any(map(is_tensor, operands)):
            return UNKNOWN
        if role != "comparison":
            return NUMBER
        readers = [use.user.kind() for use in node.output().uses()]
        return TRUTH if all(READS_NUMBER[kind] == "bool" for kind in readers) else UNKNOWN

    def _kind_of_written(self, node: Node) -> Kind | None:
        target, *rest = node.inputs()
        operands = [value for value in rest[:1] if is_tensor(value)]
        if any(self.kind(value) is None for value in (target, *operands)):
            return None
        if self.member(target) is None or not _is_plain(node) or not self._is_operand(rest[0]):
            return UNKNOWN
        return self.kind(target)

    def _stored_kind(self, node: Node) -> Kind | None:
        """Classify the result of `aten::tensor`.

        For the arguments `(number, dtype(x), device(x), False)`, where x is an element, the class is NUMBER.
        """
        scalar, dtype, device, requires_grad_flag = node.inputs()
        if dtype.node().kind() != "prim::dtype" or device.node().kind() != "prim::device":
            return UNKNOWN
        like = dtype.node().input()
        if self.kind(like) is None:
            return None
        if like is not device.node().input() or self.member(like) is None:
            return UNKNOWN
        return NUMBER if constant_value(requires_grad_flag) is False and is_number(scalar) else UNKNOWN

    def _is_element(self, value: Value) -> bool:
        return self.member(value) is not None or self.kinds.get(value) is TRUTH

    def _is_operand(self, value: Value) -> bool:
        if self.member(value) is not None or is_number(value):
            return True
        return value.node().kind() == "aten::item" and self._is_element(value.node().input())

    def _written_member(self, node: Node) -> Value | None:
        """Return the tensor to whose element `node` writes, or the NUMBER that it writes, or else None."""
        kind = self.kinds.get(node.output())
        return None if kind is UNKNOWN or kind is None else self.member(node.input())

    # ---- sets of equal dtype, and numbers that must be tensors ------------------------------------------

    def _collect_constraints(self) -> None:
        self._constrain_block(self.body)
        self._constrain_carried(self.loop)
        self.gain -= 3 * len(self.boxed)
        updated = any(self._is_updated(value) for value, kind in self.kinds.items() if kind is NUMBER)
        if updated and self.boxed:
            self._reject("an element that is updated in place is also used as a tensor")

    def _is_updated(self, value: Value) -> bool:
        return any(ROLE[use.user.kind()] == "in-place" and use.offset == 0 for use in value.uses())

    def _constrain_block(self, block: Block) -> None:
        for node in block.nodes():
            for inner in node.blocks():
                self._constrain_block(inner)
            if self.is_converted(node):
                self._constrain_node(node)
            elif node.kind() == "prim::Loop":
                self._constrain_carried(node)
            elif node.kind() == "prim::If":
                for output, *values in _zip_if_outputs(node):
                    self._constrain_equal(output, values)
            else:
                self._require_tensor_inputs(node)

    def _constrain_node(self, node: Node) -> None:
        self.gain += 1
        role = ROLE[node.kind()]
        operands = self.operands(node)
        members = [self.member(value) for value in operands]
        for value in operands:
            self._load(value)
        if role == "conversion":
            if READS_NUMBER[node.kind()] == "int" and members[0] is not None:
                self.indices.add(members[0])
            return
        if role in ("in-place", "assignment"):
            target = node.input()
            if role == "in-place":
                self._load(target)
            self._write(node, target)
            members.append(self.member(target))
        elif role == "store":
            members = [self.member(node.inputs()[1].node().input()), node.output()]
        elif role != "comparison":
            members.append(node.output())
        present = [member for member in members if member is not None]
        for member in present[1:]:
            self._merge(present[0], member)
        gives_floats = _PROMOTION[node.kind()] == "float"  # True for `sqrt`: floats even for integers
        if gives_floats or any(value.type().kind() == "FloatType" for value in operands):
            self.floats.add(present[0])

    def _write(self, node: Node, target: Value) -> None:
        kind = self.kind(target)
        if kind is NUMBER:
            if target.use_count() > 1:
                self._reject("an element is read after it was updated in place")
            return
        source = self.member(target)
        assert source is not None
        self.written.add(source)
        self.loaded[source] = None

    def _load(self, value: Value) -> None:
        member = self.member(value)
        if member is not None and self.kind(value) is not NUMBER:
            self.gain += 1
            self.loaded[member] = None

    def _constrain_carried(self, loop: Node) -> None:
        body = loop.blocks()[0]
        variables = body.inputs()[BODY_INPUTS:]
        for value, initial, result in zip(
            variables, loop.inputs()[LOOP_INPUTS:], body.outputs()[BODY_INPUTS:], strict=True
        ):
            self._constrain_equal(value, [initial, result])
            if loop is self.loop and self.kinds.get(value) is NUMBER and initial in self.fresh:
                self.loaded[initial] = None
                self.written.add(initial)
        for output, value in zip(loop.outputs(), body.inputs()[BODY_INPUTS:], strict=True):
            if loop is not self.loop:
                self._constrain_equal(output, [value])

    def _constrain_equal(self, value: Value, others: Iterable[Value]) -> None:
        """Record that `value`, such as an `if` output, gets its value from one of `others`.

        If `value` is a NUMBER, it has the same dtype as each of `others`. If `value` is UNKNOWN or TRUTH,
        each of `others` must exist as a tensor.
        """
        kind = self.kinds.get(value)
        for other in others:
            if kind is NUMBER:
                member = other if other in self.fresh else self.member(other)
                assert member is not None
                self._merge(value, member)
            elif not isinstance(kind, View | Source):
                self._box(other)

    def _require_tensor_inputs(self, node: Node) -> None:
        """Record that the inputs of `node`, which is not converted, must exist as tensors.

        Reject the loop if the node may reshape tensors or write to numbers.
        """
        if node.kind() in ("prim::dtype", "prim::device"):
            return
        if node.kind() in _CALLS or reshapes(node):
            self._reject(f"{node.kind()} may change the shape of a tensor")
        written_values = set(written_inputs(node)) if node.schema() is not None else set()
        for value in node.inputs():
            if value in written_values and self.kind(value) is NUMBER:
                self._reject(f"{node.kind()} writes to an element")
            self._box(value)

    def _box(self, value: Value) -> None:
        """Record that `value`, a number or view returned by an `if` or loop, must exist as a tensor."""
        kind = self.kind(value)
        is_merged_view = isinstance(kind, View) and not _is_element_selection(value.node())
        if is_tensor(value) and value in self._inside and (kind is NUMBER or is_merged_view):
            self.boxed.add(value)

    def _merge(self, a: Value, b: Value) -> None:
        a, b = self.find_set(a), self.find_set(b)
        if a is not b:
            self._parents[b] = a

    def _reject(self, reason: str) -> None:
        self.rejection_reason = self.rejection_reason or reason


def fresh_inputs(loop: Node) -> frozenset[Value]:
    """Return the initial values of carried variables that are new tensors and used only by the loop.

    Tensors that provably have dimensions are excluded.
    """
    fresh = set()
    for value in loop.inputs()[LOOP_INPUTS:]:
        node = value.node()
        is_made = is_tensor(value) and not node.blocks() and _is_used_only_by_loop(value, loop)
        operator = node.operator() if is_made else None
        if operator is None or any(returned.alias_info is not None for returned in operator.schema.returns):
            continue
        if not _has_dimensions(value):
            fresh.add(value)
    return frozenset(fresh)


def _is_used_only_by_loop(value: Value, loop: Node) -> bool:
    """Return whether `loop` uses `value` once, and all other users are comparisons before it in its block."""
    for use in value.uses():
        compares = ROLE[use.user.kind()] == "comparison" and use.user.owning_block() is loop.owning_block()
        if use.user is not loop and not (compares and use.user.is_before(loop)):
            return False
    return value.use_count() - sum(use.user is not loop for use in value.uses()) == 1


def views_in(block: Block) -> Iterator[Node]:
    """Return the nodes in a block and its nested blocks that select an index of dimension 0."""
    return (node for node in walk_nodes(block) if _is_element_selection(node))


def _zip_if_outputs(choice: Node) -> Iterator[tuple[Value, ...]]:
    """Yield each `prim::If` output with the corresponding outputs of both branches."""
    return zip(choice.outputs(), *(block.outputs() for block in choice.blocks()), strict=True)


def _is_element_selection(node: Node) -> bool:
    if node.kind() != SELECTION:
        return False
    dim = constant_value(node.input(1))
    return isinstance(dim, int) and dim == 0


def _has_dimensions(value: Value) -> bool:
    """Return whether a tensor certainly has a rank above 0. Return False if the rank is unknown."""
    node = value.node()
    schema = node.schema()
    # the rank is known only for `zeros` and other operators with a size as first argument
    if schema is None or not schema.arguments or schema.arguments[0].name != "size":
        return False
    size = node.input().node()
    return bool(size.inputs() if size.kind() == "prim::ListConstruct" else constant_value(node.input()))


def _is_plain(node: Node) -> bool:
    """Return whether `node` has no rounding mode, and no scale factor (`alpha`) or the factor 1."""
    kind, values = node.kind(), node.inputs()
    schema = node.schema()
    if schema is not None and any(argument.name == "alpha" for argument in schema.arguments):
        scale = constant_value(values[2]) if len(values) == 3 else 1
        return len(values) <= 3 and scale == 1 and not isinstance(scale, bool)
    if kind == "aten::copy_":
        return constant_value(values[2]) is False
    return len(values) == (1 if ROLE[kind] == "unary" else 2)
