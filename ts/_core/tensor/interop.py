"""NumPy interoperability (array protocol), DLPack, pickling and deep copies, as methods of tensors.

Calls and their results are:

    numpy.asarray(x), x.numpy()              arrays that share memory with x
    pickle.loads(pickle.dumps([x, x[0]]))    two tensors that share memory with each other
    copy.deepcopy([x, x[0]])                 two tensors that share memory with each other
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ts import devices, dtypes
from ts._core.tensor import conversions, storage
from ts._core.tensor.dlpack import exported, imported
from ts._core.tensor.python_operators import operator
from ts._core.tensor.tensor import Tensor, backend_of, rebind_array, report_exposed_array, wrap_array
from ts._core.tensor.tensor_metadata import check_storage, layer_of, tensor_with_memory
from ts._core.tensor.tensor_type import define_methods, record_alias
from ts._core.thread.context import GradMode, current_tracer, is_grad_enabled

# ---------------------------------------------------------------- NumPy


def numpy(self: Tensor, *, force: bool = False) -> Any:
    """Return a new array that shares the memory of a CPU tensor.

    If `force`, a tensor on another device is copied to the CPU.
    """
    if self.dtype.is_narrow:
        raise TypeError(f"Got unsupported ScalarType {self.dtype.type_name}")
    if self.layout is not dtypes.strided:
        raise TypeError(
            f"can't convert {self.array.layout_name} layout tensor to numpy. Use Tensor.to_dense() first."
        )
    if force:
        return tensor_with_memory(self.detach().cpu()).array.view()
    if self.device.type != "cpu":
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )
    if self.requires_grad and is_grad_enabled():
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    self = tensor_with_memory(self)
    layer = layer_of(self)
    if layer is not None:
        layer.check_elements()
    tracer = current_tracer()
    if tracer is not None:
        tracer.record_escape(self, "array", None)
    report_exposed_array(self.array)
    return self.array.view()


def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    array = self.numpy()
    if dtype is not None and array.dtype != dtype:
        return array.astype(dtype)
    return array.copy() if copy else array


def __array_wrap__(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
    result = np.asarray(array)
    return wrap_array(result.astype(np.uint8) if result.dtype == np.bool_ and context is None else result)


# ---------------------------------------------------------------- other libraries


def __dlpack__(
    self: Tensor, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
) -> Any:
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    self = tensor_with_memory(self)
    if self.is_meta:
        raise BufferError("Can't export tensors on a different CUDA device index or without memory: meta")
    if self.layout is not dtypes.strided:
        raise BufferError("Can't export tensors with layout other than torch.strided")
    report_exposed_array(self.array)
    if isinstance(self.array, np.ndarray):
        return exported(self.array, max_version, dl_device, copy)
    return self.array.__dlpack__(stream=stream)


def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    self = tensor_with_memory(self)
    if self.is_meta:
        raise ValueError("Unknown device type meta for Dlpack")
    kind, device_id = self.array.__dlpack_device__()
    return int(kind), int(device_id)


def cuda_array_interface(self: Tensor) -> Any:
    """Implement `__cuda_array_interface__`, or raise AttributeError for tensors on other devices."""
    if not self.is_cuda:
        raise AttributeError(
            f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {self.type()} If CUDA data is "
            "required use tensor.cuda() to copy tensor to device memory."
        )
    if self.requires_grad and is_grad_enabled():
        raise RuntimeError(
            "Can't get __cuda_array_interface__ on Variable that requires grad. If gradients aren't "
            "required, use var.detach() to get Variable that doesn't require grad."
        )
    return self.array.__cuda_array_interface__


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Return a tensor that shares memory with a DLPack exporter or capsule."""
    if isinstance(ext_tensor, Tensor):
        result = tensor_with_memory(ext_tensor).detach()
    elif not hasattr(ext_tensor, "__dlpack_device__"):
        # `ext_tensor` is a DLPack capsule, not an object with `__dlpack__`
        result = wrap_array(imported(ext_tensor, False))
    else:
        kind = int(ext_tensor.__dlpack_device__()[0])
        if kind in (1, 3):  # DLPack device types of host memory (1) and pinned host memory (3)
            result = wrap_array(imported(ext_tensor, True))
        elif kind == 2:
            result = wrap_array(backend_of("cuda").xp.from_dlpack(ext_tensor))
        else:
            raise BufferError(f"no backend imports DLPack device type {kind}")
    result = result if device is None else conversions.to_device(result, devices.as_device(device))
    return result.clone() if copy else result


# ---------------------------------------------------------------- pickles and copies


def is_wrapper(x: Tensor) -> bool:
    """Return whether `x` is a wrapper: a tensor without elements whose class defines `__torch_dispatch__`."""
    return bool(getattr(layer_of(x), "is_wrapper", False))


def __reduce_ex__(self: Tensor, protocol: Any) -> tuple[Any, ...]:
    check_storage(self)
    if is_wrapper(self):
        return layer_of(self).reduce(self)  # type: ignore[no-any-return]
    without_elements = getattr(layer_of(self), "copied", None)
    if without_elements is not None:
        return without_elements, (self,)
    from ts._core.tensor.object_state import get_state, rebuild_with_state

    rebuild_function, arguments = _rebuild_call(self)
    state = get_state(self)
    if type(self) is Tensor and not state:
        return rebuild_function, arguments
    return rebuild_with_state, (rebuild_function, type(self), arguments, state)


def _rebuild_call(self: Tensor) -> tuple[Any, tuple[Any, ...]]:
    """Return a function and its arguments that create a tensor like `self`, without the Python state."""
    if self.is_meta:
        return rebuild_meta, (tuple(self.shape), self.stride(), self.dtype, self.requires_grad)
    if self.layout is not dtypes.strided:
        return rebuild_sparse, (self.layout, sparse_components(self), self.requires_grad)
    # Tensors that share memory refer to the same storage object, so a pickle stores their common memory only
    # once.
    memory = storage.UntypedStorage.of(self.array if isinstance(self.array, np.ndarray) else self._host())
    return rebuild, (memory, *_memory_layout(self), str(self.device), self.requires_grad)


def _memory_layout(x: Tensor) -> tuple[Any, ...]:
    return x.dtype, storage.offset(x.array), tuple(x.array.shape), tuple(x.array.strides)


def rebuild(
    owner: Any,
    dtype: dtypes.dtype,
    at: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    device: str,
    requires_grad: bool,
) -> Tensor:
    """Create a tensor from its pickled arguments. `owner` is its storage, or the array of its memory."""
    if isinstance(owner, storage.UntypedStorage):
        owner = owner.bytes
    array = storage.strided(owner, shape, strides, at, dtype.numpy_dtype)
    x = conversions.to_device(wrap_array(array), devices.device(device))
    return _require_grad(x, requires_grad)


def sparse_components(x: Tensor) -> tuple[Any, ...]:
    """Return the indices, values and size of a sparse tensor, and for COO also `is_coalesced`."""
    x = x.detach()
    if x.layout is dtypes.sparse_coo:
        return x._indices(), x._values(), tuple(x.shape), x.is_coalesced()
    if x.layout is dtypes.sparse_csr:
        return x.crow_indices(), x.col_indices(), x.values(), tuple(x.shape)
    return x.ccol_indices(), x.row_indices(), x.values(), tuple(x.shape)


def sparse_from_components(layout: Any, components: Any) -> Tensor:
    """Create a sparse tensor from a result of `sparse_components`. Raise RuntimeError if it is invalid."""
    if layout is dtypes.sparse_coo:
        indices, values, size, *coalesced = components
        named = "_validate_sparse_coo_tensor_args", "_sparse_coo_tensor_unsafe"
        check, make = (operator(name) for name in named)
        checked_coalesced = bool(coalesced and coalesced[0])
        check(indices, values, list(size), checked_coalesced)
        result: Tensor = make(indices, values, list(size), is_coalesced=checked_coalesced)
        return result
    pointers, plain, values, size = components
    make = operator("sparse_compressed_tensor")
    result = make(pointers, plain, values, list(size), layout=layout)
    return result


def rebuild_sparse(layout: Any, components: Any, requires_grad: bool) -> Tensor:
    """Create a sparse tensor from the arguments in its pickle."""
    return _require_grad(sparse_from_components(layout, components), requires_grad)


def rebuild_meta(
    shape: tuple[int, ...],
    stride: tuple[int, ...],
    dtype: dtypes.dtype,
    requires_grad: bool,
) -> Tensor:
    """Create a meta tensor from the arguments in its pickle."""
    x: Tensor = operator("empty_strided")(shape, stride, dtype=dtype, device="meta")
    return _require_grad(x, requires_grad)


def _require_grad(x: Tensor, requires_grad: bool) -> Tensor:
    return x.requires_grad_(True) if requires_grad else x


def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Tensor:
    check_storage(self)
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at "
            "the moment.  If you were attempting to deepcopy a module, this may be because of a "
            "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
        )
    if id(self) in memo:
        result: Tensor = memo[id(self)]
        return result
    copied: Tensor
    without_elements = getattr(layer_of(self), "deepcopied", None)
    if without_elements is not None:
        copied = without_elements(self)
    elif is_wrapper(self) or (type(self) is not Tensor and self.numel() == 0):
        with GradMode(False):
            copied = self.clone()
        if type(copied) is not type(self):
            raise RuntimeError(
                "The default implementation of __deepcopy__() for wrapper subclasses only works for subclass "
                "types that properly implement clone() and for which that function returns another instance "
                "of the same subclass. You should either properly implement clone() for your subclass or "
                "override __deepcopy__() if it is intended behavior for clone() to return an instance of a "
                "different type."
            )
    elif self.is_meta:
        copied = conversions.copied(self, None)
    elif self.layout is not dtypes.strided:
        copied = self.detach().clone()
    else:
        owner = storage.owning_array(self.array)
        shared = memo.get(id(owner))
        if shared is None:
            shared = memo[id(owner)] = storage.UntypedStorage.of(self.array).clone()
            # Keep `owner` alive while `memo` is in use. Otherwise, another object could get the same id.
            memo[id(shared)] = owner
        _, at, shape, steps = _memory_layout(self)
        array = storage.strided(shared.bytes, shape, steps, at, self.array.dtype)
        copied = wrap_array(array) if type(self) is Tensor else _of_own_class(self, array)
    memo[id(self)] = copied
    if current_tracer() is not None and not self.is_meta:
        record_alias(copied, self.clone())
    import copy  # imported here, because only deep copies need it

    _require_grad(copied, self.requires_grad)
    if self.grad is not None:
        copied.grad = self.grad.__deepcopy__(memo)  # type: ignore[attr-defined]
    if type(self) is not Tensor:
        from ts._core.tensor.object_state import copy_slots

        copy_slots(self, copied, memo)
    copied.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return copied


def _of_own_class(self: Tensor, array: Any) -> Tensor:
    """Return a tensor with the given array, created by the method `new_empty` of the class of `self`."""
    result: Tensor = self.new_empty([])
    if type(result) is not type(self):
        raise RuntimeError(
            "The default implementation of __deepcopy__() for non-wrapper subclasses only works for subclass "
            "types that implement new_empty() and for which that function returns another instance of the "
            "same subclass. You should either properly implement new_empty() for your subclass or override "
            "__deepcopy__() if it is intended behavior for new_empty() to return an instance of a different "
            "type."
        )
    rebind_array(result, array)
    return result


define_methods(
    {
        "numpy": numpy,
        "__array__": __array__,
        "__array_wrap__": __array_wrap__,
        "__dlpack__": __dlpack__,
        "__dlpack_device__": __dlpack_device__,
        "__reduce_ex__": __reduce_ex__,
        "__deepcopy__": __deepcopy__,
    }
)
