"""Tracer of programs on fake tensors: records a `ts.fx` graph with one node per operator.

The tracer receives the operators that its thread calls. Each line shows a statement and its effect:

    y = x + 1         records the node aten.add.Tensor(x, 1), with the fake tensor y
    n = x.shape[0]    creates a symbol for the size. If n is an argument later, it gets a node
    y.item()          creates an unbacked symbol, because the number depends on tensor elements

Parameters, buffers and constant tensors also have nodes and fake tensors.
"""

from __future__ import annotations

import operator as python_operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import ts
from ts import devices, dtypes
from ts._core.dispatch.overloads import overloads
from ts._core.dispatch_layers import level_stack
from ts._core.tensor import size_guards
from ts._core.tensor.sym_types import SymBool, SymFloat, SymInt, SymNumber
from ts._core.tensor.tensor import Size, Tensor
from ts._core.tensor.tensor_metadata import layer_of
from ts._core.tensor.unbacked_sizes import FakeContext, FakeImplCtx
from ts._core.value.objects import Object
from ts._functorch import predispatch
from ts._higher_order_ops.subgraph_checks import no_side_effects
from ts.export.autocast_on_fakes import cast_dtype, is_cast
from ts.export.contiguity_guards import guard_contiguity
from ts.export.data_dependent_bools import BOOL_OPERATORS
from ts.export.fake import Fake, device_of, fake_for, is_fake, plain, substitute_constants
from ts.export.gradients import ExportTape
from ts.export.graph_builder import FxGraphBuilder
from ts.export.intervals import ValueRange
from ts.export.node_arguments import readable
from ts.export.python_calls import overload_for_numbers, with_factory_options
from ts.export.python_operators import OPERATOR_SYMBOLS, is_sign
from ts.export.result_devices import result_device
from ts.export.shape_env import ShapeEnv
from ts.export.sym_node import symbol_of
from ts.export.sympy_import import sympy
from ts.fx.graph import Graph
from ts.fx.node import Node
from ts.ops import registry
from ts.ops.derivatives.formula_registry import derivative_of
from ts.ops.namespace import OpOverload, overload_named
from ts.tracing.indexing import RecordedIndexing
from ts.tracing.meta_execution import execute, tensors_in

# Name of a higher-order operator, or "vmap" -> function that records a call. `control_flow` fills the table.
CONTROL_FLOW: dict[str, Callable[..., Any]] = {}


class _DataScalars(NamedTuple):
    """Symbols of numbers that the program read from a tensor. A write to the tensor discards them."""

    tensor: Tensor
    base: Node  # node of `tensor`, or of its base if `tensor` is a view
    symbol: Any = None  # symbol of the tensor's only element, or None if it was not read
    count: Any = None  # symbol of the number of nonzero elements, or None if it was not read


class ExportTracer(FxGraphBuilder):
    """Tracer of a program on fake tensors: records operators, tensor methods and higher-order operators."""

    is_export = True
    has_elements = True
    records_higher_order = True

    def __init__(self, environment: ShapeEnv, graph: Graph | None = None) -> None:
        super().__init__(environment, graph)
        self.tape = ExportTape(self)
        # id of a tensor -> symbols of numbers that depend on its elements
        self._data_scalars: dict[int, _DataScalars] = {}
        # recorded calls of `squeeze`: (node, shape of the input, dimensions to squeeze). None means all
        # dimensions.
        self._squeezed: list[tuple[Node, Any, Any]] = []
        self._indexing = RecordedIndexing(to_number=self.element, differs=self._is_of_batch)

    # ---- recording of operators

    def operator(self, operators: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        """Record a call of one overload in `operators` and return its result.

        PyTorch would call the same overload.
        """
        with self.paused():
            op, values, _ = operators.resolve(args, kwargs or {})
        if ts.is_grad_enabled():
            self._check_written(op, values)
        if (
            not op.overload
            and len(args) + len(kwargs or {}) == 1
            and (moment := registry.find(f"{op.name}.correction")) is not None
        ):
            op, values = moment.operator, [values[0], None, None, False]
        elif len(operators.operators()) > 1:
            op = self.of_tensors(op)
        if not isinstance(operators, OpOverload) and operators.operators():
            values = with_factory_options(op, values)
        if (
            (sign := OPERATOR_SYMBOLS.get(op.name)) is not None
            and isinstance(values[0], Tensor)
            and is_sign(1)
        ):
            op = registry.operator(f"{sign}.{'Tensor' if isinstance(values[1], Tensor) else 'Scalar'}")
        if op.name == "aten::contiguous" and self._is_contiguous_in(values[0], values[1]):
            return values[0]
        result = self.run(op, values)
        if not hasattr(operators, "for_python"):
            return result
        return tuple(result) if type(result) is list else operators.for_python(op, result)

    def _check_written(self, op: Any, values: list[Any]) -> None:
        """Raise RuntimeError if `op` mutates a graph input that requires grad, or a view of such an input."""
        for p, value in zip(op.signature.parameters, values, strict=True):
            for x in tensors_in([value]) if p.written else ():
                fake_tensor = self.fake_of(x)
                if not fake_tensor.requires_grad:
                    continue
                node = base = self.node_of(fake_tensor)
                while base.op == "call_function" and _is_view(base.target):
                    base = base.args[0]
                if base.op == "placeholder" and base.meta["val"].requires_grad:
                    what = "a leaf" if base is node else "a view of a leaf"
                    raise RuntimeError(
                        f"{what} Variable that requires grad is being used in an in-place operation."
                    )

    def _base(self, x: Tensor) -> Node:
        """Return the node of the base of `x` if `x` is a view, else the node of `x`."""
        base: Any = self.node_of(x)
        while base.op == "call_function" and _aliases_first_argument(base.target):
            base = base.args[0]
        return base  # type: ignore[no-any-return]

    def _forget_elements(self, op: Any, values: list[Any]) -> None:
        """Discard the symbols of numbers that were read from tensors whose memory `op` writes."""
        if not self._data_scalars or not any(p.written for p in op.signature.parameters):
            return
        written = {
            self._base(x)
            for p, value in zip(op.signature.parameters, values, strict=True)
            for x in (tensors_in([value]) if p.written else ())
        }
        scalars = self._data_scalars
        self._data_scalars = {k: v for k, v in scalars.items() if v.base not in written}

    def _is_contiguous_in(self, x: Tensor, memory_format: Any) -> bool:
        """Return True if `x.contiguous(memory_format)` would return `x`."""
        with self.environment.guessing(), self.paused():
            return bool(self.fake_of(x).is_contiguous(memory_format=readable("MemoryFormat", memory_format)))

    def of_tensors(self, op: Any) -> Any:
        """Return the overload that PyTorch's Python API calls for `op`.

        For example, return `add.Tensor` for `add.Scalar`, and `split_with_sizes` for `split.sizes`. For most
        operators, return `op` itself.
        """
        record = op.record
        if record is not None and record.traced_as and not op.schema.is_mutable:
            return registry.operator(record.traced_as)
        return overload_for_numbers(op)

    def run(self, op: Any, values: list[Any]) -> Any:
        """Record an operator and return its result."""
        if _CONSTRAINS_SIZE[op.name] and isinstance(values[0], SymInt):
            return self._constrained(op, values)
        if (truth := BOOL_OPERATORS.get(op.name)) is not None:
            return truth(*values)
        values = [self._with_fakes(x) for x in values]
        self._require_lengths(op, values)
        if (simpler := self.tape.simplified(op, values)) is not None:
            return simpler
        target = overload_named(op.name, op.overload)
        values = _with_example_sizes(target, values)
        if op.record is not None and op.record.asserts_metadata and not self.is_decomposition:
            self._assert_metadata(values[0])
        arguments, options = self._arguments(op, values)
        shape = values[0].array.shape if _RANK_BY_SIZES[op.name] else ()
        self._forget_elements(op, values)
        size_mask = _SIZE_MASK[op.name]
        mask = None if size_mask is None else size_mask(*values)
        with self.paused():
            result = self.run_on_fakes(op, values, self._mask_counter(mask))
        node = self._call(target, arguments, result, options)
        self._bind(node, result)
        self.tape.record_operator(op, values, result)
        if _RANK_BY_SIZES[op.name]:
            self._squeezed.append((node, shape, None if len(values) == 1 else values[1]))
        return result

    def _require_lengths(self, op: Any, values: list[Any]) -> None:
        """Require each data-dependent size in the operator's arguments to be at least 0."""
        for p, value in zip(op.signature.parameters, values, strict=True):
            if p.name in _SHAPE_PARAMETERS and isinstance(value, list):
                for n in filter(size_guards.is_symbol, value):
                    size_guards.check_length(n)

    def _constrained(self, op: Any, values: list[Any]) -> None:
        """Require `low <= n <= high` for the arguments `values` = (n, low, high) of an operator.

        None means that there is no bound, but the lower bound of a size is at least 0.
        """
        n, low, high = values
        low = 0 if low is None and op.name.endswith("size") else low
        for end, relation in ((low, sympy.Ge), (high, sympy.Le)):
            if end is not None:
                self.environment.require(relation(n.node.expr, end))

    def guard_squeezed_sizes(self) -> None:
        """Add guards that exclude size 1 for the dimensions that `squeeze` has kept in the export."""
        for node, shape, dims in self._squeezed:
            if all(user.op == "output" for user in node.users):
                continue
            named = range(len(shape)) if dims is None else [dims] if isinstance(dims, int) else dims
            for n in [shape[d] for d in named] if shape else ():
                if isinstance(n, SymInt):
                    self.environment.compare_with_one(n.node.expr)

    def _with_fakes(self, x: Any) -> Any:
        if isinstance(x, Tensor):
            return self.fake_of(x)
        return [self._with_fakes(y) for y in x] if isinstance(x, list) else x

    def _arguments(self, op: Any, values: list[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the positional and keyword arguments of a node. Omit arguments that have default values.

        A positional argument with its default value is kept if a later positional argument has another value
        than its default.
        """
        positional: list[Any] = []
        options: dict[str, Any] = {}
        needed = 0
        for p, x in zip(op.signature.parameters, values, strict=True):
            is_default = p.has_default and not isinstance(x, Tensor | SymNumber) and _same(x, p.default)
            argument = self.node_of(readable(p.kind, x))
            if p.keyword_only:
                if not is_default and x is not None:
                    options[p.name] = argument
            else:
                positional.append(argument)
                needed = needed if is_default else len(positional)
        return tuple(positional[:needed]), options

    def _mask_counter(self, mask: Tensor | None) -> Callable[[int, Any], Any] | None:
        """Return a function that creates the symbol for the number of true elements of `mask`.

        All functions for the same mask return the same symbol. Return None if `mask` is None.
        """
        if mask is None:
            return None

        def count(lower: int, upper: Any) -> Any:
            scalar = self._data_scalars.get(id(mask))
            if scalar is not None and scalar.tensor is mask and scalar.count is not None:
                return scalar.count
            size = self._new_size(lower, upper)
            self._data_scalars[id(mask)] = _DataScalars(mask, self._base(mask), count=size)
            return size

        return count

    def run_on_fakes(
        self, op: Any, values: list[Any], new_size: Callable[[int, Any], Any] | None = None
    ) -> Any:
        """Run an operator on fake tensors, without recording, and return its result.

        `new_size(lower, upper)` creates symbols for sizes that depend on elements.
        """
        inner: dict[int, Tensor] = {}
        cast = cast_dtype(op, values)
        writes = any(p.written for p in op.signature.parameters)

        device = result_device(op, values)
        requires_grad = ts.is_grad_enabled() and any(x.requires_grad for x in tensors_in(values))
        requires_grad = requires_grad and not ((row := derivative_of(op.record)) is not None and row.reason)
        new_sizes: list[Any] = []

        def to_meta(x: Tensor) -> Tensor:
            below = plain(x)
            if cast is not None and is_cast(below, cast):
                return below.to(cast)
            inner[id(below)] = x
            return below

        def noted_size(lower: int, upper: Any) -> Any:
            new_sizes.append((new_size or self._new_size)(lower, upper))
            return new_sizes[-1]

        def call(arguments: list[Any]) -> Any:
            context = FakeImplCtx(op.name, noted_size, self._new_unbacked)
            with ts.no_grad(), level_stack.no_transforms(), FakeContext(context):
                return self._item(arguments[0]) if op.name == "aten::item" else op.call_list(arguments)

        examples = [
            _example_number(x) if _is_value(op, p.kind, x) else x
            for p, x in zip(op.signature.parameters, values, strict=True)
        ]
        with self.environment.guessing():
            output = execute(op, examples, call, device, to_meta)

        def raised(x: Any) -> Any:
            if isinstance(x, Tensor):
                original = inner.get(id(x))
                if original is not None and writes:
                    if original.array is not x.array:
                        self._save_meta(original)
                        original.data = x
                    return original
                # The result is `original` itself, or a new tensor.
                requires = requires_grad if original is None else original.requires_grad
                differentiable = requires and (x.is_floating_point() or x.is_complex())
                is_known = bool(new_sizes) or original is not None
                array = x.array if is_known else substitute_constants(x.array)
                return fake_for(array, device, differentiable)
            if (isinstance(x, tuple) and hasattr(x, "_fields")) or type(x).__module__ == "torch.return_types":
                return type(x)([raised(y) for y in x])
            return type(x)(map(raised, x)) if isinstance(x, list | tuple) else x

        return raised(output)

    def _item(self, x: Tensor) -> Any:
        """Return the only element of a tensor as an unbacked symbol."""
        if x.ndim:
            x = x.reshape(())
        return self._new_unbacked(x.array.dtype.kind)

    def _new_unbacked(self, kind: str) -> Any:
        """Create an unbacked number.

        `kind` is the kind of its dtype in NumPy: "f", "b", or a kind of ints.
        """
        environment = self.environment
        if kind == "f":
            return symbol_of(environment.unbacked_float(), environment)
        return symbol_of(environment.unbacked_truth() if kind == "b" else environment.unbacked(), environment)

    def _new_size(self, lower: int, upper: Any) -> Any:
        """Create an unbacked size with the range [lower, upper] for a shape rule."""
        environment = self.environment
        if isinstance(upper, SymNumber):
            upper = environment.value_range(upper.node.expr).high
        symbol = environment.unbacked(is_size=True)
        # During a replay, `symbol` is a symbol of the exported program, and its range is known already.
        if environment.frozen:
            return symbol_of(symbol, environment)
        if upper is None:
            environment.ranges[symbol] = ValueRange(lower)
        else:
            environment.ranges[symbol] = environment.ranges[symbol].intersection(ValueRange(lower, upper))
        return symbol_of(symbol, environment)

    def _save_meta(self, x: Tensor) -> None:
        """Replace `x` in the metadata of its node by a copy, before the shape of `x` changes in place."""
        entry = self._tensors.get(id(x))
        if entry is not None and entry[1].meta.get("val") is x:
            entry[1].meta["val"] = fake_for(x.array, device_of(x), x.requires_grad)

    # ---- recording of gradients

    def gradients(
        self, roots: list[Any], root_gradients: list[Any], inputs: list[Any], create: bool
    ) -> list[Tensor | None]:
        """Record the computation of the gradients of `roots` with respect to `inputs`, and return them."""
        return self.tape.gradients(roots, root_gradients, inputs, create)  # type: ignore[no-any-return]

    def backward(
        self, roots: list[Any], root_gradients: list[Any], inputs: list[Any] | None, create: bool
    ) -> None:
        """Add the gradients of `roots` to the `grad` of their leaves, or of `inputs` if given."""
        self.tape.backward(roots, root_gradients, inputs, create)

    def record_requires_grad(self, x: Tensor) -> Tensor:
        """Record an alias of `x` that requires grad, and return it."""
        alias: Tensor = overloads("alias")(self.fake_of(x))
        return alias._marked(True)  # type: ignore[attr-defined, no-any-return]

    def _bind(self, node: Node, result: Any) -> None:
        """Store `node` as the node of `result`.

        If `result` is a list, create a `getitem` node for each element.
        """
        if isinstance(result, Tensor):
            self._tensors[id(result)] = result, node
            self._layers[id(result)] = layer_of(result)
            if not self.environment.frozen:
                source = node.args[0] if node.target is python_operator.getitem else node
                guard_contiguity(self.environment, result, is_view=_is_view(source.target))
        elif isinstance(result, SymNumber):
            self._size_nodes.setdefault(result.node.expression, node)
        elif isinstance(result, list | tuple):
            for k, item in enumerate(result):
                if isinstance(item, Tensor | SymNumber):
                    self._bind(self._call(python_operator.getitem, (node, k), item), item)

    def _same_memory(self, x: Tensor) -> Tensor | None:
        shared_fake = super()._same_memory(x)
        if shared_fake is not None:
            self.tape.separate(shared_fake)
            if x.requires_grad:
                shared_fake._marked(True)  # type: ignore[attr-defined]
        return shared_fake

    # ---- recording of tensor methods

    def size(self, x: Tensor, dim: Any = None) -> Any:
        """Return `x.size(dim)` as a symbolic int."""
        shape = self.shape(x)
        return shape if dim is None else shape[self.unrecorded(x._dimension, dim)]

    def shape(self, x: Tensor) -> Any:
        """Return `x.shape` with symbolic ints."""
        return Size(x.array.shape)

    def numel(self, x: Tensor) -> Any:
        """Return `x.numel()` as a symbolic int."""
        with self.paused():
            count = x.array.size
        if isinstance(count, SymNumber) and count.node.has_hint() and count.node.expr not in self._size_nodes:
            node = self._call(overload_named("aten::sym_numel", ""), (self.node_of(x),), count)
            self._size_nodes[count.node.expr] = node
        return count

    def get(self, x: Tensor, index: Any) -> Any:
        """Record and return `x[index]`."""
        return self._indexing.get(x, index)

    def put(self, x: Tensor, index: Any, value: Any) -> None:
        """Record `x[index] = value`."""
        if isinstance(value, int | float | complex):
            with self.paused():
                constant = ts.tensor(value, dtype=x.dtype, device=device_of(self.fake_of(x)))
            value = self.run(overload_named("aten::lift_fresh_copy", "").operator, [constant])
        elif isinstance(value, SymNumber):
            value = self.tensor_of_symbols(value, x.dtype, device_of(self.fake_of(x)))
        self._indexing.put(x, index, value)

    def _is_of_batch(self, x: Tensor) -> bool:
        """Return True if a tensor depends on an element of a surrounding `vmap` batch."""
        return self.batches > 0 and self.follows_from_batch(self.node_of(x))

    def follows_from_batch(self, node: Node) -> bool:
        """Return True if a node depends on an element of a `vmap` batch."""
        waiting, seen = [node], {node}
        while waiting:
            each = waiting.pop()
            if each.target is predispatch._add_batch_dim or self.is_batch_element(each):
                return True
            waiting += [n for n in each.all_input_nodes if n not in seen]
            seen.update(each.all_input_nodes)
        return False

    def is_batch_element(self, node: Node) -> bool:
        """Return False: an input of a program is no element of a `vmap` batch."""
        return False

    def iterate(self, x: Tensor) -> Iterator[Tensor]:
        """Return an iterator over the slices of `x` along its first dimension."""
        return iter(overloads("unbind")(x, 0))

    def _assert_metadata(self, x: Tensor) -> None:
        """Record an assertion on the dtype, device and layout of a tensor."""
        target = overload_named("aten::_assert_tensor_metadata", "")
        options = {"dtype": x.dtype, "device": device_of(x), "layout": dtypes.strided}
        self._call(target, (self.node_of(x),), None, options, "_assert_tensor_metadata_default")

    def record_constructed(self, x: Tensor, function: str) -> Any:
        """Record a tensor that the program makes from Python numbers, as a constant that each run copies."""
        with self.paused():
            constant = x.clone()
        copied_tensor = self.run(overload_named("aten::lift_fresh_copy", "").operator, [constant])
        if function != "as_tensor":
            self.run(overload_named("aten::detach_", "").operator, [copied_tensor])
        self.record_alias(x, copied_tensor)
        return copied_tensor

    def tensor_of_symbols(self, data: Any, dtype: Any = None, device: Any = None) -> Tensor | None:
        """Create a tensor from nested lists of numbers and symbols.

        Return None if the lists contain no symbol.
        """
        numbers = list(_flat([data]))
        if not any(isinstance(x, SymNumber) for x in numbers):
            return None
        device = devices.CPU if device is None else devices.as_device(device)
        kind = _dtype_of(numbers) if dtype is None else dtypes.as_dtype(dtype)
        converted_tensor = self._stacked(data, kind, device).to(device, kind)
        return self.run(overload_named("aten::detach_", "").operator, [converted_tensor])  # type: ignore[no-any-return]

    def _stacked(self, data: Any, dtype: Any, device: Any) -> Tensor:
        if isinstance(data, list | tuple):
            stacked_tensor = ts.ops.aten.stack([self._stacked(x, dtype, device) for x in data])
        else:
            stacked_tensor = ts.ops.aten.scalar_tensor(data, dtype=dtype, device=device, pin_memory=False)
        return stacked_tensor  # type: ignore[no-any-return]

    def record_tolist(self, x: Tensor) -> Any:
        """Return `x.tolist()` with unbacked numbers, or None for a real tensor."""
        if not is_fake(x):
            return None
        if x.ndim == 0:
            return self.element(x)
        return [self.record_tolist(row) for row in overloads("unbind")(x, 0)]

    def literal(self, x: Tensor) -> Tensor:
        """Record a constant tensor for numbers in an index or an assignment."""
        return self.run(overload_named("aten::lift_fresh_copy", "").operator, [x])  # type: ignore[no-any-return]

    def record_escape(self, x: Tensor, kind: str, python_value: Any) -> None:
        """Do nothing: for a fake tensor, `element` has already recorded the conversion to a Python value."""

    def element(self, x: Tensor) -> Any:
        """Return the symbol of the only element of `x`.

        Until a write to `x`, all calls return the same symbol.
        """
        scalar = self._data_scalars.get(id(x))
        if scalar is not None and scalar.tensor is x and scalar.symbol is not None:
            return scalar.symbol
        symbol = self.run(overload_named("aten::item", "").operator, [x])
        self._data_scalars[id(x)] = _DataScalars(x, self._base(x), symbol=symbol)
        return symbol

    # ---- recording of scripted functions, modules and control flow

    def higher_order(self, operator: Any, args: tuple[Any, ...]) -> Any:
        """Record a higher-order operator (`ts._higher_order_ops`)."""
        rule = CONTROL_FLOW.get(operator.name)
        if rule is None:
            return operator.run(*args)
        with no_side_effects(operator.name, filter(callable, args)):
            return rule(self, *args)

    def vmap(self, call: Any, *operands: Any) -> Any:
        """Record a call of a batched function (`ts.func.vmap`)."""
        return CONTROL_FLOW["vmap"](self, call, *operands)

    def function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call of a scripted function by running the Python function that was scripted.

        For a method, or for a function from an archive, run the script graph instead.
        """
        written = getattr(function, "__wrapped__", None)
        if written is None or (args and isinstance(args[0], Object)):
            from ts.export import torchscript_capture

            return torchscript_capture.call(self, function, args, kwargs)
        return written(*args, **kwargs)

    def forward_of(self, module: Any) -> Callable[..., Any]:
        """Return a module's `forward`, wrapped to record `nn_module_stack`."""
        return module.forward if self.calls is None else self.calls.forward(module, self)


def _flat(values: Any) -> Iterator[Any]:
    for x in values:
        if isinstance(x, list | tuple):
            yield from _flat(x)
        else:
            yield x


def _dtype_of(numbers: list[Any]) -> Any:
    """Return the dtype of a tensor made of `numbers`."""
    if any(isinstance(x, float | SymFloat) for x in numbers):
        return ts.get_default_dtype()
    return dtypes.bool_ if all(isinstance(x, bool | SymBool) for x in numbers) else dtypes.int64


_SIZES_FROM_NUMBERS = registry.field_by_name("sizes_from_numbers")
_CONSTRAINS_SIZE = registry.field_by_name("constrains_size")
_RANK_BY_SIZES = registry.field_by_name("rank_by_sizes")
_SIZE_MASK = registry.field_by_name("size_mask")
_SHAPE_PARAMETERS = frozenset(("size", "shape", "repeats"))


def _is_value(op: Any, kind: str, x: Any) -> bool:
    """Return True if `x` is a symbolic number that determines elements of the result, but no sizes."""
    return isinstance(x, SymNumber) and kind in ("Tensor", "Scalar") and not _SIZES_FROM_NUMBERS[op.name]


def _with_example_sizes(target: Any, values: list[Any]) -> list[Any]:
    """Return `values`, in which example values replace the symbolic sizes for `int` parameters of the schema.

    Symbolic sizes for `SymInt` parameters remain.
    """

    def number(x: Any) -> Any:
        return list(map(number, x)) if isinstance(x, list) else int(x) if isinstance(x, SymInt) else x

    if not any(isinstance(y, SymInt) for x in values for y in (x if isinstance(x, list) else [x])):
        return values
    declared = [a.real_type.str().rstrip("?").partition("[")[0] for a in target._schema.arguments]
    return [number(x) if kind == "int" else x for kind, x in zip(declared, values, strict=True)]


def _example_number(x: SymNumber) -> Any:
    """Return an arbitrary number of the same type as `x`."""
    return 2 if isinstance(x, SymInt) else 0.5 if isinstance(x, SymFloat) else True


def _is_view(target: Any) -> bool:
    """Return True if an operator returns a view of its first argument and mutates nothing."""
    if not isinstance(target, OpOverload):
        return False
    first = target.operator.signature.parameters[:1]
    return any(p.alias and not p.written for p in first)


def _aliases_first_argument(target: Any) -> bool:
    """Return True if the first argument of an operator has an alias annotation."""
    return isinstance(target, OpOverload) and any(p.alias for p in target.operator.signature.parameters[:1])


def _same(x: Any, default: Any) -> bool:
    return (type(x) is type(default) and bool(x == default)) or (x is None and default is None)


__all__ = ["ExportTracer", "Fake"]
