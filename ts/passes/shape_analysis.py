"""Shape inference (shape propagation): dtype, rank and device of tensors from a graph's inputs.

The pass replaces the types on the left by the types on the right:

    graph(%x : Tensor):                          graph(%x : Float(*, *, requires_grad=0, device=cpu)):
      %y : Tensor = aten::mul(%x, %x, %c)   =>     %y : Float(*, *, requires_grad=0, device=cpu) = ...

Each operator runs once on meta tensors. Sizes are unknown (`*`), because they are specific to the example
inputs. `complete_shape_analysis` also sets sizes and strides. The values of computed numbers are unknown.
Types are unknown for tensors that may share memory with a tensor whose shape changes. If an iteration may
change the shape of a loop-carried tensor, only its dtype and device are known.

`propagate_types` starts from the declared types of the graph's inputs. Each unknown
size of a type with known sizes becomes a unique placeholder. If an operator copies sizes, its result has the
placeholders. If an operator computes with sizes, only the rank of its result is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from ts._core.value.ivalue import object_get
from ts._core.value.objects import Object
from ts.analysis.alias import AliasDb
from ts.analysis.effects import has_side_effects, reshapes
from ts.dtypes import BY_CODE
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import TENSOR, TensorType, TupleType, Type
from ts.ops import aten
from ts.ops.registry import field_by_name
from ts.passes.constant_evaluation import NOT_EVALUATED, evaluate

RANK_BY_SIZES: Final = field_by_name("rank_by_sizes")
_CONTAINERS: Final = (list, tuple)
_UNKNOWN_LENGTH: Final = 1009
_COPIES_SIZES: Final = field_by_name("copies_sizes")
_LIST_AND_TUPLE_KINDS: Final = "ListConstruct TupleConstruct ListUnpack TupleUnpack TupleIndex"
_COPYING_KINDS: Final = frozenset(f"prim::{name}" for name in _LIST_AND_TUPLE_KINDS.split())
_NUMBERS: Final = {"IntType": 1, "FloatType": 1.0, "BoolType": True}
_RANK: Final = 1
_DTYPE: Final = 2

infer_size = aten._infer_size  # operator that returns the broadcast shape of two shapes


def propagate_shapes(graph: Graph, inputs: Sequence[Any], with_grad: bool = False) -> Graph:
    """Return a copy of the graph annotated with the tensor types for example inputs.

    An example input is a tensor, or None for an unknown input.
    """
    copy = graph.copy()
    Analysis(copy, complete=False).run(inputs, with_grad)
    return copy


def rank_types(graph: Graph, input_types: Mapping[int, Type]) -> Graph:
    """Set the types of inputs and derive the other tensor types in `graph`.

    `input_types` is a dict from input index to type.

    Return `graph`.
    """
    for i, type in input_types.items():
        if graph.inputs()[i].type().is_subtype_of(TENSOR):
            graph.inputs()[i].set_type(type)
    Analysis(graph, complete=False).run_on_types()
    return graph


def complete_shape_analysis(graph: Graph, inputs: Sequence[Any], with_grad: bool = False) -> None:
    """Set the types of the graph's tensors for example inputs, with sizes and strides."""
    Analysis(graph, complete=True).run(inputs, with_grad)


def propagate_types(graph: Graph) -> bool:
    """Set the types of the graph's tensors, including known sizes, from the types of its inputs."""
    before = [value.type() for node in graph.all_nodes() for value in node.outputs()]
    Analysis(graph, complete=True).run_on_types()
    return before != [value.type() for node in graph.all_nodes() for value in node.outputs()]


def type_of_result(node: Node) -> TensorType | None:
    """Return the type of the only output of `node`, inferred from its input types.

    Return None if the output is not a tensor.
    """
    graph = Graph()
    copies: dict[Value, Value] = {}
    for value in node.inputs():
        if value.node().kind() == "prim::Constant":
            copies[value] = graph.append_node(graph.create_clone(value.node(), {})).output()
        elif value not in copies:
            copies[value] = graph.add_input(type=value.type())
    copy = graph.append_node(graph.create_clone(node, copies))
    copy.output().set_type(TENSOR)
    propagate_types(graph)
    output_type = copy.output().type()
    return output_type if isinstance(output_type, TensorType) else None


class Analysis:
    """Propagation of samples (meta tensors that stand for run-time tensors) and of types through a graph."""

    def __init__(self, graph: Graph, complete: bool) -> None:
        self.graph = graph
        self.complete = complete
        # dict from value to _RANK or _DTYPE, for values whose sample has only the correct rank or only the
        # correct dtype
        self.valid_property: dict[Value, int] = {}
        self.samples: dict[Value, Any] = {}  # value -> meta tensor, constant, or container of these
        self.unknown: set[int] = set()  # placeholders for unknown sizes in samples
        self.reshaped = [node.input(0) for node in graph.all_nodes() if reshapes(node)]
        self.by_inputs = True  # False if the analysis starts from types instead of example inputs
        self.assigned = {node.get("name") for node in graph.find_all_nodes("prim::SetAttr")}
        self.aliases = graph.analysis(AliasDb)

    def run(self, inputs: Sequence[Any], with_grad: bool) -> None:
        """Derive the types of all values from example inputs, including requires_grad if `with_grad`."""
        self.with_grad = with_grad
        self.reshaped += _out_arguments(self.graph)
        for value, argument in zip(self.graph.inputs(), inputs, strict=True):
            self.enter_argument(value, argument)
        self.visit(self.graph.block())

    def run_on_types(self) -> None:
        """Run the analysis from the declared types of the inputs."""
        self.by_inputs = False
        for value in self.graph.inputs():
            declared = value.type()
            if (
                isinstance(declared, TensorType)
                and declared.scalar_type is not None
                and declared.dim() is not None
            ):
                device = declared.device()
                sample = self.blank(declared)
                self.record_sample(
                    value, sample, None if device is None else str(device), declared._requires_grad
                )
        self.visit(self.graph.block())

    def blank(self, tensor_type: TensorType) -> Any:
        """Return a meta tensor for a type with known rank and dtype."""
        sizes = [self.unknown_length() if n is None else n for n in tensor_type._sizes or ()]
        dtype = BY_CODE[tensor_type.scalar_type]  # type: ignore[index]
        strides = tensor_type.strides()
        if strides is not None and tensor_type.sizes() is not None:
            return aten.empty_strided(sizes, strides, dtype=dtype, device="meta")
        return aten.empty(sizes, dtype=dtype, device="meta")

    def unknown_length(self) -> int:
        """Return a new placeholder for an unknown size."""
        length = _UNKNOWN_LENGTH + len(self.unknown)
        self.unknown.add(length)
        return length

    def enter_argument(self, value: Value, argument: Any) -> None:
        """Record that `value`, an argument or attribute, is `argument`, a tensor or a script object."""
        if isinstance(argument, Object):
            self.samples[value] = argument
        elif getattr(argument, "device", None) is not None and value.type().is_subtype_of(TENSOR):
            is_grad_static = self.with_grad or self.complete or not argument.requires_grad
            requires_grad = bool(argument.requires_grad) if is_grad_static else None
            self.record_sample(value, argument.to("meta"), str(argument.device), requires_grad)

    def visit_attribute(self, node: Node) -> None:
        """Record the value of the attribute that `node` reads, unless the program assigns this attribute."""
        owner, name = self.samples.get(node.input()), node.get("name")
        type: Any = node.input().type()
        if isinstance(owner, Object) and name in type.attributes and name not in self.assigned:
            self.enter_argument(node.output(), object_get(owner, type.slot(name), deep=False))

    def record_sample(
        self, value: Value, sample: Any, device: str | None, requires_grad: bool | None
    ) -> None:
        """Record `sample` as the sample of `value`, and set the type of `value`."""
        if isinstance(sample, _CONTAINERS) and self.aliases.has_writers(value):
            return
        if any(self.aliases.may_alias(value, tensor) for tensor in self.reshaped):
            return
        self.samples[value] = sample
        if hasattr(sample, "is_meta") and value.type().is_subtype_of(TENSOR):
            valid_property = self.valid_property.get(value, None if self.complete else _RANK)
            sizes, strides = sample.shape, sample.stride()
            if valid_property is not None:
                sizes, strides = None if valid_property == _DTYPE else [None] * sample.dim(), None
            elif self.is_partial(sample):
                sizes, strides = [None if n in self.unknown else n for n in sizes], None
            value.set_type(TensorType(sample.dtype.code, sizes, strides, device, requires_grad))

    def visit(self, block: Block) -> None:
        """Derive the types of a block's nodes in program order, including nested blocks."""
        for node in block.nodes():
            if node.kind() == "prim::Constant":
                self.samples[node.output()] = node.output().to_ivalue()
            elif node.kind() == "prim::GetAttr":
                self.visit_attribute(node)
            elif node.kind() == "prim::If":
                self.visit_if(node)
            elif node.kind() == "prim::Loop":
                self.visit_loop(node)
            elif not node.blocks():
                self.visit_node(node)
            else:
                for inner in node.blocks():
                    self.visit(inner)

    def visit_if(self, node: Node) -> None:
        """Visit both branches, then join the types of their outputs."""
        for block in node.blocks():
            self.visit(block)
        for output, first, second in zip(node.outputs(), *(b.outputs() for b in node.blocks()), strict=True):
            a, b = first.type(), second.type()
            if (
                isinstance(a, TensorType)
                and isinstance(b, TensorType)
                and output.type().is_subtype_of(TENSOR)
            ):
                merged = a.merge(b)
                output.set_type(merged)
                if merged.scalar_type is not None and first in self.samples:
                    self.samples[output] = self.samples[first]
                    valid_property = [self.valid_property.get(value, 0) for value in (first, second)]
                    if merged.dim() is None:
                        self.valid_property[output] = _DTYPE
                    elif any(valid_property):
                        self.valid_property[output] = max(valid_property)
                    elif merged.sizes() is None and self.complete:
                        self.samples[output] = self.blank(merged)
                    elif merged.sizes() is None:
                        self.valid_property[output] = _RANK

    def visit_loop(self, node: Node) -> None:
        """Visit the body until the types of carried values reach a fixed point."""
        (body,) = node.blocks()
        for start, carried in zip(node.inputs()[2:], body.inputs()[1:], strict=True):
            self.copy_sample(start, carried)
        changed = True
        while changed:
            self.visit(body)
            has_changed = [
                self.join(*pair) for pair in zip(body.inputs()[1:], body.outputs()[1:], strict=True)
            ]
            changed = any(has_changed)
        for carried, output in zip(body.inputs()[1:], node.outputs(), strict=True):
            self.copy_sample(carried, output)

    def copy_sample(self, source: Value, target: Value) -> None:
        """Copy sample and type of a tensor from `source` to `target`.

        Other values are not copied, because they vary between iterations.
        """
        if source in self.samples and isinstance(source.type(), TensorType):
            target.set_type(source.type())
            self.samples[target] = self.samples[source]
            if source in self.valid_property:
                self.valid_property[target] = self.valid_property[source]

    def join(self, carried: Value, returned: Value) -> bool:
        """Discard known properties of the loop-carried value `carried` that its next value does not have.

        `returned` is the next value. Return True if `carried` has lost a property.
        """
        carried_type, after = carried.type(), returned.type()
        if carried not in self.samples or not isinstance(carried_type, TensorType):
            return False
        merged = carried_type.merge(after) if isinstance(after, TensorType) else TENSOR
        if merged == carried_type:
            return False
        rank = merged.dim()
        if rank is None:
            self.valid_property[carried] = _DTYPE
        elif not self.complete or self.valid_property.get(carried):
            self.valid_property[carried] = _RANK
            merged = merged.with_(sizes=[None] * rank, strides=None)
        elif merged.scalar_type is not None:
            merged = merged.with_(strides=merged.strides() if merged.sizes() is not None else None)
            self.samples[carried] = self.blank(merged)
        if merged.scalar_type is None:
            del self.samples[carried]
            merged = TENSOR
        carried.set_type(merged)
        return True

    def visit_node(self, node: Node) -> None:
        """Evaluate an operator on sample tensors and set the types of its outputs."""
        inputs = node.inputs()
        if RANK_BY_SIZES[node.kind()] or has_side_effects(node):
            return
        if node.kind() == "prim::TupleConstruct" and getattr(node.output().type(), "name", None) is None:
            node.output().set_type(TupleType([value.type() for value in inputs]))
        arguments = self.arguments(node)
        if arguments is None:
            self.discard_properties(node)
            return
        valid_property = max(
            (self.valid_property[value] for value in inputs if value in self.valid_property), default=None
        )
        results = self.results(node, arguments)
        if results is NOT_EVALUATED:
            results = self.unsized_result(node, arguments)
        if results is NOT_EVALUATED:
            self.discard_properties(node)
            return
        tensors = [type for type in _types(inputs) if isinstance(type, TensorType)]
        device = self.device_of_results(node, tensors)
        if not tensors and self.complete:
            valid_property = _RANK  # without tensor inputs, numbers determine the sizes, and they may vary
        # As in PyTorch, the results of elementwise operators of several tensors have unknown
        # `requires_grad`, and unknown sizes if the tensors have several dtypes, among them an integer dtype.
        is_promoted = self.by_inputs and is_elementwise(node) and len(tensors) > 1
        dtypes = {type.scalar_type for type in tensors}
        has_integers = any(code is not None and not BY_CODE[code].is_floating_point for code in dtypes)
        if self.complete and is_promoted and len(dtypes) > 1 and has_integers:
            valid_property = max(valid_property or 0, _RANK)
        grads = {type._requires_grad for type in tensors} if not (self.complete and is_promoted) else {None}
        for output, sample in zip(node.outputs(), results, strict=True):
            if hasattr(sample, "is_meta") or (isinstance(sample, _CONTAINERS) and valid_property != _DTYPE):
                if valid_property is not None:
                    self.valid_property[output] = valid_property
                self.record_sample(output, sample, device, False if grads == {False} else None)

    def unsized_result(self, node: Node, arguments: list[Any]) -> Any:
        """Return a sample of the result with unknown sizes.

        Its dtype and rank are determined by the operator's record (`unsized`).

        Return NOT_EVALUATED if the record has no such field.
        """
        describe = getattr(getattr(node.operator(), "record", None), "unsized", None)
        if describe is None:
            return NOT_EVALUATED
        dtype, rank = describe(*arguments)
        return [self.blank(TensorType(dtype.code, [None] * rank))]

    def device_of_results(self, node: Node, tensors: list[TensorType]) -> str | None:
        """Return the common device of the input tensors, or the device argument if there are no tensors.

        Return None if the tensors are on several devices.
        """
        devices = {type.device() for type in tensors} if tensors else {_requested_device(node.inputs())}
        return devices.pop() if len(devices) == 1 else None

    def is_partial(self, sample: Any) -> bool:
        """Return whether a sample tensor has unknown sizes."""
        return bool(self.unknown) and any(length in self.unknown for length in sample.shape)

    def results(self, node: Node, arguments: list[Any]) -> Any:
        """Return samples of the node's results, with unknown sizes if the sizes cannot be inferred."""
        results = evaluate(node, arguments)
        partial = [x for x in tensors_in(arguments) if self.is_partial(x)] if self.unknown else []
        if not partial:
            return results
        if results is not NOT_EVALUATED and (
            is_elementwise(node) or node.kind() in _COPYING_KINDS or _COPIES_SIZES[node.kind()]
        ):
            return results
        # If the operator rejects the placeholder sizes, evaluate it with sizes of other arguments instead.
        # Then only the rank and dtype of the result are valid.
        if results is NOT_EVALUATED:
            sizes_by_dim = {
                i: n for x in tensors_in(arguments) for i, n in enumerate(x.shape) if n not in self.unknown
            }
            results = evaluate(node, _map_tensors(arguments, lambda x: self.with_lengths(x, sizes_by_dim)))
        return results if results is NOT_EVALUATED else _map_tensors(results, self.with_rank_only)

    def with_lengths(self, sample: Any, sizes: dict[int, int]) -> Any:
        """Return a copy of `sample` without unknown sizes.

        The size of dimension i, if unknown, becomes sizes[i], or 1 if `sizes` has no such key.
        """
        new_sizes = [sizes.get(i, 1) if n in self.unknown else n for i, n in enumerate(sample.shape)]
        return aten.empty(new_sizes, dtype=sample.dtype, device="meta") if self.is_partial(sample) else sample

    def with_rank_only(self, sample: Any) -> Any:
        """Return a meta tensor with the dtype and rank of `sample`, and unknown sizes."""
        return self.blank(TensorType(sample.dtype.code, [None] * sample.dim()))

    def arguments(self, node: Node) -> list[Any] | None:
        """Return samples of the inputs, or None if an input is unknown.

        For an elementwise operator, an unknown number is no obstacle: an arbitrary number of the same type is
        its sample.
        """
        samples = [self.samples.get(value, NOT_EVALUATED) for value in node.inputs()]
        if any(sample is NOT_EVALUATED for sample in samples) and is_elementwise(node):
            schema = node.schema()
            assert schema is not None
            for i, (value, argument) in enumerate(zip(node.inputs(), schema.arguments, strict=False)):
                if samples[i] is NOT_EVALUATED and argument.type.kind() == "NumberType":
                    samples[i] = _NUMBERS.get(value.type().kind(), NOT_EVALUATED)
        return None if any(sample is NOT_EVALUATED for sample in samples) else samples

    def discard_properties(self, node: Node) -> None:
        """Discard the properties of a node's results from an earlier iteration."""
        for output in node.outputs():
            if self.samples.pop(output, None) is not None and isinstance(output.type(), TensorType):
                output.set_type(TENSOR)


def _out_arguments(graph: Graph) -> list[Value]:
    """Return the values that operators in `graph` get as `out=` arguments.

    The operators may change their shapes.
    """
    outputs = []
    for node in graph.all_nodes():
        record = getattr(node.operator(), "record", None)
        if record is not None and record.variant == "out":
            arguments = zip(node.inputs(), record.schema.arguments, strict=False)
            outputs += [value for value, argument in arguments if argument.is_out]
    return outputs


def tensors_in(samples: Sequence[Any]) -> Iterator[Any]:
    """Yield the tensors in samples, including those in nested lists and tuples."""
    for sample in samples:
        if isinstance(sample, _CONTAINERS):
            yield from tensors_in(sample)
        elif hasattr(sample, "is_meta"):
            yield sample


def _map_tensors(samples: Any, change: Callable[[Any], Any]) -> Any:
    """Apply `change` to all tensors in nested containers."""
    if isinstance(samples, _CONTAINERS):
        return type(samples)(_map_tensors(sample, change) for sample in samples)
    return change(samples) if hasattr(samples, "is_meta") else samples


def is_elementwise(node: Node) -> bool:
    """Return whether an operator is elementwise."""
    return bool(getattr(getattr(node.operator(), "record", None), "elementwise", False))


def _types(values: Sequence[Value]) -> Iterator[Type]:
    """Yield the types of `values`, and recursively the element types of constructed lists and tuples."""
    for value in values:
        yield value.type()
        if value.node().kind() in ("prim::ListConstruct", "prim::TupleConstruct"):
            yield from _types(value.node().inputs())


def _requested_device(values: Sequence[Value]) -> str:
    """Return the device requested by constant arguments, "cpu" by default."""
    device_values = (value for value in values if value.type().kind() == "DeviceObjType")
    constants = (value.to_ivalue() for value in device_values if value.node().kind() == "prim::Constant")
    return str(next(constants, "cpu"))
