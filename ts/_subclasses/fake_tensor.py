"""Fake tensors, which have shape, dtype and device, but no memory for elements.

The example computes the size of a model without memory for its parameters:

    with ts.fake():
        model = Huge()
        y = model(ts.empty(8, 4096, device="cuda"))
    sum(p.nbytes for p in model.parameters())

Operators run on the meta device. Their results have the requested device, which need not exist. Operations
that depend on elements raise an error.

A fake tensor has an array of the meta device and the layer `Fake(device, mode)`. The mode (`FakeTensorMode`)
intercepts all operators in its `with` block. Because of the layer, it also intercepts operators with fake
arguments outside of the block.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import TracebackType
from typing import Any, ClassVar

import ts
from ts import devices
from ts._core.autograd.engine import reaches_all_leaves
from ts._core.dispatch_layers import level_stack
from ts._core.tensor.tensor import Tensor, rebind_array
from ts._core.tensor.tensor_metadata import layer_of, set_layer
from ts._core.thread.context import TracingScope, current_tracer
from ts._core.value.objects import Object
from ts._subclasses import constant_propagation, control_flow
from ts.errors import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorDeviceMismatchError,
    UserError,
)
from ts.export import torchscript_capture
from ts.export.fake import Fake, device_of, is_fake
from ts.export.fake import fake as fake_of
from ts.export.result_devices import result_device
from ts.ops.derivatives.formulas import Inputs
from ts.tracing.meta_execution import execute, tensors_in
from ts.tracing.meta_tracer import MetaTracer
from ts.unsupported import names_for

__all__ = [
    "DataDependentOutputException",
    "DynamicOutputShapeException",
    "FakeTensor",
    "FakeTensorDeviceMismatchError",
    "FakeTensorMode",
    "UnsupportedFakeTensorException",
]
__getattr__ = names_for(__name__)


class UnsupportedFakeTensorException(RuntimeError):
    """Raised for a tensor that cannot be converted to a fake tensor."""


class _FakeOfMode(Fake):
    """Layer of fake tensors.

    To save time, operators search their arguments for this layer only under one condition: a fake tensor
    exists, or a program is in the `with` block of a mode.
    """

    alive: ClassVar = 0  # number of instances that have not been freed
    entered: ClassVar = 0  # number of `with` blocks of fake modes that have been entered but not left

    def __init__(self, inner: Tensor, device: devices.device, mode: FakeTensorMode) -> None:
        super().__init__(inner, device, mode)
        _FakeOfMode.alive += 1

    def __del__(self) -> None:
        _FakeOfMode.alive -= 1
        if _FakeOfMode.alive == _FakeOfMode.entered == 0:
            _FakeOfMode.enable_check()

    @staticmethod
    def enable_check() -> None:
        """Enable the check of operators for fake arguments, or disable it if no fake tensor can exist."""
        level_stack.expect_fakes(_FakeOfMode.alive > 0 or _FakeOfMode.entered > 0)


@contextmanager
def _without_layers(values: list[Any]) -> Iterator[None]:
    """Context manager that removes the layers of fake tensors in `values`: kernels receive meta tensors."""
    layers = [(x, layer_of(x)) for x in tensors_in(values) if is_fake(x)]
    for x, _ in layers:
        set_layer(x, None)
    try:
        yield
    finally:
        for x, layer in layers:
            set_layer(x, layer)


def _with_index(device: devices.device) -> devices.device:
    """Return the device, or `cuda:0` for a CUDA device without an index."""
    return devices.device("cuda", 0) if device.type == "cuda" and device.index is None else device


def _check_written(values: list[Any], name: str) -> None:
    """Raise RuntimeError if `values` contain a tensor with elements.

    The operator `name` writes to `values`.
    """
    if any(not x.is_meta or getattr(layer_of(x), "of_real", False) for x in tensors_in(values)):
        raise RuntimeError(f"{name} writes to a tensor with elements, but another argument has no elements")


@cache
def _calls_operators(op: Any) -> bool:
    """Return whether `op` calls other operators, which may create tensors on the device of the arguments."""
    if op.record is None:  # the operator is a function such as `sym_size`, which has no record
        return False
    row = Inputs(op.record).derivative
    return op.record.tensor_kernel or (row is not None and bool(row.decomposition))


class _FakeCounterpart(ts.autograd.Function):
    """Autograd function that maps a real tensor to the corresponding fake tensor.

    It does not change gradients.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, mode: FakeTensorMode) -> Tensor:
        ctx.is_leaf = x.is_leaf
        return mode.without_history(x)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        if ctx.is_leaf and reaches_all_leaves() and not isinstance(current_tracer(), FakeTensorMode):
            raise RuntimeError(
                "backward() would add a gradient without elements to that of a tensor with elements, which "
                "it does within `with ts.fake():` alone"
            )
        return gradient, None


def _error_name(op: Any) -> str:
    """Return the name of an operator in the format of PyTorch's errors, such as aten.equal.default."""
    return f"{op.name.replace('::', '.')}.{op.overload or 'default'}"


class _FakeTensorMeta(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return is_fake(instance)


class FakeTensor(metaclass=_FakeTensorMeta):
    """Class of fake tensors, for `isinstance` checks."""


class _ModeBlock:
    """A `with` block of a fake tensor mode that a thread has entered."""

    def __init__(self, mode: FakeTensorMode, before: Any) -> None:
        self.mode = mode
        self.before = before  # recorder of the thread before the block, restored at its end


_thread_state = threading.local()


def _blocks() -> list[_ModeBlock]:
    """Return the stack of the mode blocks that this thread has entered."""
    if not hasattr(_thread_state, "blocks"):
        _thread_state.blocks = []
    return _thread_state.blocks  # type: ignore[no-any-return]


def _set_recorder(recorder: Any) -> None:
    """Set this thread's recorder, an object that receives the calls of operators. None removes it."""
    TracingScope(recorder).__enter__()


class FakeTensorMode(MetaTracer):
    """Context manager in which tensors have no elements and operators compute only metadata.

    allow_non_fake_inputs    True if operators may read real tensors, which are converted to fake tensors
    """

    has_elements = True
    records_higher_order = True
    tracing_error = "ts.jit.trace requires example inputs with elements: call it outside of `ts.fake`"

    def __init__(self, *, allow_non_fake_inputs: bool = False, **_: Any) -> None:
        self.allow_non_fake_inputs = allow_non_fake_inputs

    def __enter__(self) -> FakeTensorMode:
        recorder = current_tracer()
        if recorder is not None and recorder.fake_mode_error is not None:
            raise UserError(recorder.fake_mode_error)
        _FakeOfMode.entered += 1
        _FakeOfMode.enable_check()
        _blocks().append(_ModeBlock(self, recorder))
        _set_recorder(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        blocks = _blocks()
        k = max(k for k, block in enumerate(blocks) if block.mode is self)
        before = blocks.pop(k).before
        if k == len(blocks):
            _set_recorder(before)
        else:
            # A block entered after this one has not ended yet. When it ends, it restores the recorder
            # `before`.
            blocks[k].before = before
        _FakeOfMode.entered -= 1
        _FakeOfMode.enable_check()

    def from_tensor(self, tensor: Tensor, **_: Any) -> Tensor:
        """Return a fake tensor for a real tensor."""
        fake = tensor if is_fake(tensor) else self._to_fake(tensor)
        _FakeOfMode.enable_check()
        return fake

    def _to_fake(self, x: Tensor) -> Tensor:
        fake = self.without_history(x)
        if isinstance(x, ts.nn.Parameter):
            return self.unrecorded(ts.nn.Parameter, fake, x.requires_grad)  # type: ignore[no-any-return]
        return fake.requires_grad_(x.requires_grad)

    def without_history(self, x: Tensor) -> Tensor:
        """Return a detached fake tensor with the metadata of `x`."""
        with TracingScope(None), ts.no_grad():
            fake = fake_of(x).detach()
            set_layer(fake, _FakeOfMode(layer_of(fake).inner, device_of(x), self))
        return fake

    def as_meta(self, x: Any) -> Any:
        """Return the fake tensor for a real tensor, connected to the real tensor's autograd graph.

        Other values are returned unchanged.
        """
        if isinstance(x, list):
            return [self.as_meta(y) for y in x]
        if not isinstance(x, Tensor) or x.is_meta:
            return x
        if not self.allow_non_fake_inputs:
            raise AssertionError(
                "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
                "'allow_non_fake_inputs'."
            )
        if x.requires_grad and ts.is_grad_enabled():
            with TracingScope(None):
                fake: Tensor = _FakeCounterpart.apply(x, self)
        else:
            fake = self.without_history(x)
        layer_of(fake).of_real = True
        return fake

    # ---- operators

    def operator(self, operators: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        """Run an operator and return its fake result."""
        with TracingScope(None):
            op, values, _ = operators.resolve(args, kwargs or {})
        result = self.run(op, values)
        if (kwargs or {}).get("requires_grad") is True and isinstance(result, Tensor):
            result.requires_grad_()
        return operators.for_python(op, result) if hasattr(operators, "for_python") else result

    def run(self, op: Any, values: list[Any]) -> Any:
        """Run the operator overload `op` on fake tensors."""
        self._check(op, values)
        arguments = [self.as_meta(x) for x in values]
        # True if an argument belongs to a transform such as `vmap`
        is_transformed = any(layer_of(x) is not None and not is_fake(x) for x in tensors_in(arguments))
        if is_transformed or (any(is_fake(x) for x in tensors_in(arguments)) and not _calls_operators(op)):
            with TracingScope(None):
                return op.call_list(arguments)
        result = self._execute(op, arguments)
        # the elements of a tensor from a number are known, as for `ts.tensor`
        if op.name == "aten::scalar_tensor":
            layer_of(result).constant = constant_propagation.Constant(
                constant_propagation.run_on_constants(op, arguments)
            )
        return result

    def _execute(self, op: Any, values: list[Any]) -> Any:
        """Run an operator on meta tensors, and convert the results to fake tensors."""
        device = _with_index(result_device(op, values, ignore_meta=True))
        constants = constant_propagation.resolve_constants(values)

        def run(arguments: list[Any]) -> Any:
            with _without_layers(arguments):
                return _run_bare(op, arguments, constants)

        return self._assign_device(op, values, execute(op, values, run, device), device)

    def _check(self, op: Any, values: list[Any]) -> None:
        for p, x in zip(op.signature.parameters, values, strict=True):
            if p.written:
                _check_written([x], op.name)

    def run_on_fakes(self, op: Any, values: list[Any]) -> Any:
        """Run an operator on fake tensors without recording gradients."""
        self._check(op, values)
        if any(not x.is_meta for x in tensors_in(values)):
            with TracingScope(None):
                return op.call_list([self.as_meta(x) for x in values])
        with level_stack.no_transforms(), ts.no_grad():
            return self._execute(op, values)

    def _assign_device(self, op: Any, arguments: list[Any], result: Any, device: devices.device) -> Any:
        """Convert meta tensors in `result` to fake tensors on `device`, in place.

        If a result shares memory with an argument, copy the flag `of_real` of the argument to the result. If
        the elements of all arguments are known, compute the elements of the result, too
        (`constant_propagation`).
        """
        of_real = any(
            p.alias and getattr(layer_of(x), "of_real", False)
            for p, value in zip(op.signature.parameters, arguments, strict=True)
            for x in tensors_in([value])
        )
        of_real = of_real and not (op.record is not None and op.record.self_if_possible)
        self._assign_device_to_meta(result, device)
        for x in tensors_in([result]) if of_real else ():
            if is_fake(x):
                layer_of(x).of_real = True
        constant_propagation.carry(op, arguments, result)
        return result

    def _assign_device_to_meta(self, result: Any, device: devices.device) -> None:
        """Convert meta tensors without a layer to fake tensors on `device`, in place."""
        for x in tensors_in([result]):
            if layer_of(x) is None and device.type != "meta":
                with TracingScope(None), level_stack.no_transforms(), ts.no_grad():
                    set_layer(x, _FakeOfMode(x.detach(), device, self))

    def put(self, x: Tensor, index: Any, value: Any) -> None:
        """Record `x[index] = value` for a fake tensor `x`. Raise RuntimeError for a real tensor."""
        _check_written([x], "x[...] = ...")
        if not isinstance(value, Tensor):
            value = ts.tensor(value, dtype=x.dtype, device=device_of(x))
        super().put(x, index, value)

    # ---- conversions from and to elements

    def record_constructed(self, x: Tensor, function: str) -> None:
        """Convert a tensor that was built from Python numbers to a fake tensor.

        The elements are known if the tensor is small (`constant_propagation.MAX_ELEMENTS`).
        """
        fake = self.without_history(x)
        layer = layer_of(fake)
        if x.array.size <= constant_propagation.MAX_ELEMENTS:
            with TracingScope(None), level_stack.no_transforms(), ts.no_grad():
                layer.constant = constant_propagation.Constant(x.clone().detach())
        rebind_array(x, fake.array)
        set_layer(x, layer)

    def tensor_of_symbols(self, data: Any, dtype: Any = None, device: Any = None) -> Tensor | None:
        """Create a tensor from `data` on a device that may not exist.

        Return None if `device` is None, the CPU or the meta device. The caller then creates the tensor.
        """
        target_device = None if device is None else _with_index(devices.as_device(device))
        if target_device is None or target_device.type in ("cpu", "meta"):
            return None
        tensor: Tensor = ts.tensor(data, dtype=dtype)
        layer_of(tensor).stands_on = target_device
        return tensor

    def record_tolist(self, x: Tensor) -> Any:
        """Return `x.tolist()` of a fake tensor, or None for a real tensor.

        Raise DataDependentOutputException if the elements are unknown.
        """
        if not is_fake(x):
            return None
        constant = constant_propagation.constant_of(x)
        return self.element(x) if constant is None else self.unrecorded(constant.tensor.tolist)

    def record_escape(self, x: Tensor, kind: str, scalar: Any) -> None:
        """Do nothing, because `x` is a real tensor, and a real tensor may be converted to a Python value."""

    def element(self, x: Tensor) -> Any:
        """Return the only element of a fake tensor. Raise DataDependentOutputException if it is unknown."""
        constant = constant_propagation.constant_of(x)
        if constant is not None:
            return constant_propagation.to_python_scalar(constant)
        raise DataDependentOutputException("aten._local_scalar_dense.default")

    # ---- functions and control flow

    def higher_order(self, operator: Any, args: tuple[Any, ...]) -> Any:
        """Run a higher-order operator by its rule in `control_flow.RULES`, if any, else by `operator.run`."""
        rule = control_flow.RULES.get(operator.name)
        return operator.run(*args) if rule is None else rule(*args)

    def function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the Python function from which a scripted function was compiled.

        For methods and functions loaded from archives, no Python function exists. For these, run their
        graphs.
        """
        python_function = getattr(function, "__wrapped__", None)
        if python_function is None or (args and isinstance(args[0], Object)):
            return torchscript_capture.call(self, function, args, kwargs)
        return python_function(*args, **kwargs)

    # ---- operations of compiled graphs

    line: Any = None  # source line of the compiled function that is running

    def paused(self) -> TracingScope:
        """Return a context manager in which new tensors are real."""
        return TracingScope(None)

    def of_tensors(self, op: Any) -> Any:
        """Return `op` itself. Other tracers replace a Scalar overload by the Tensor overload here."""
        return op

    def is_state(self, x: Tensor) -> bool:
        """Return True.

        If a script assigns a tensor attribute, the value is therefore copied into the existing tensor.
        """
        return True


def _run_bare(op: Any, arguments: list[Any], constants: list[Any] | None) -> Any:
    """Run an operator on meta tensors. If its result depends on elements, run it on `constants`.

    `constants` are the arguments as real tensors with the known elements. If `constants` is None, raise the
    error about the dependence on elements instead.
    """
    try:
        return op.call_list(arguments)
    except (NotImplementedError, RuntimeError) as error:
        converted_error = _to_data_dependent_error(op, error)
    if constants is None or not isinstance(converted_error, DataDependentOutputException):
        raise converted_error
    return constant_propagation.run_on_constants(op, constants)


def _to_data_dependent_error(op: Any, error: Exception) -> Exception:
    """Convert the error of an operator without a meta kernel to PyTorch's error for data-dependent results.

    Return other errors unchanged.
    """
    if not isinstance(error, NotImplementedError) and "meta tensors" not in str(error):
        return error
    if any("Tensor" in r.kind for r in op.signature.returns):
        return DynamicOutputShapeException(f"{op.name}: {error}")
    return DataDependentOutputException(_error_name(op))


def run_on_fakes(op: Any, values: list[Any]) -> Any:
    """Run an operator with fake arguments in their mode, even outside of the `with` block of the mode."""
    mode = next(layer_of(x).mode for x in tensors_in(values) if is_fake(x) and layer_of(x).mode is not None)
    return mode.run_on_fakes(op, values)


def fake() -> FakeTensorMode:
    """Return a context manager in which modules and tensors are created without memory for elements.

    Operators compute shapes, dtypes and devices only. Real tensors may be arguments, but operations that
    depend on elements (`x.item()`) raise DataDependentOutputException. Gradients are fake tensors, too.
    """
    return FakeTensorMode(allow_non_fake_inputs=True)
