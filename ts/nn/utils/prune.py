"""Weight pruning (magnitude pruning, random pruning, structured pruning, masks) of parameters.

Pruning sets selected elements of a parameter to zero. The method `compute_mask` of a pruning method selects
the elements.

Example:

    l1_unstructured(layer, "weight", amount=0.3)   # creates parameter weight_orig and buffer weight_mask
    layer.weight                                   # weight_orig * weight_mask, computed before each `forward`
    remove(layer, "weight")                        # a plain parameter, in which the zeros remain
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn.hooks import ForwardHook
from ts.nn.modules.module import Module

_GLOBAL: Final = "global"
_STRUCTURED: Final = "structured"
_UNSTRUCTURED: Final = "unstructured"


class BasePruningMethod(ABC):
    """Base class of pruning methods. An instance is a forward pre-hook of a module and prunes one parameter.

    Before each forward pass, it sets the attribute for the parameter to the product of parameter and mask.
    """

    PRUNING_TYPE: ClassVar[str]
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        """Set the pruned tensor of `module` before each forward pass."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return `default_mask` with zeros at the elements of `t` that this method prunes."""

    def apply_mask(self, module: Module) -> Tensor:
        """Return the parameter of the module multiplied by its mask."""
        name = self._tensor_name
        mask = getattr(module, f"{name}_mask")
        pruned: Tensor = mask.to(dtype=getattr(module, f"{name}_orig").dtype) * getattr(
            module, f"{name}_orig"
        )
        return pruned

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune the parameter `name` of `module`. Elements pruned by earlier methods remain zero."""
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        key, before = next(_methods_of(module, name), (None, None))
        if key is not None and before is not None:
            del module._forward_pre_hooks[key]
            container = before if isinstance(before, PruningContainer) else PruningContainer(before)
            container.add_pruning_method(method)
            method = container
        parameter = getattr(module, name)
        scores = importance_scores
        if scores is not None and scores.shape != parameter.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, got "
                f"{scores.shape} vs "
                f"{parameter.shape}"
            )
        if before is None:
            default = ts.ones_like(parameter)
        else:
            default = getattr(module, f"{name}_mask").detach().clone()
        mask = method.compute_mask(parameter if scores is None else scores, default)
        if before is None:
            del module._parameters[name]
            module.register_parameter(f"{name}_orig", parameter)
        module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None
    ) -> Tensor:
        """Return `t` with zeros at the elements that this method or `default_mask` prunes."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as tensor t, got {scores.shape} vs {t.shape}"
            )
        default = ts.ones_like(t) if default_mask is None else default_mask
        pruned: Tensor = t * self.compute_mask(scores, default_mask=default)
        return pruned

    def remove(self, module: Module) -> None:
        """Make the pruned parameter a plain parameter that contains the zeros."""
        name = self._tensor_name
        pruned = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(f"{name}_orig")
        assert original is not None
        original.data = pruned.data
        del module._buffers[f"{name}_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Sequence of pruning methods for one parameter. Each method prunes what earlier methods have left."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if args:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a pruning method for the parameter of this container."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to "
                f"PruningContainer "
                f"{self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, index: int) -> BasePruningMethod:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return `default_mask` with more zeros, at the elements that the last method of the list prunes."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        left = _prunable_indices(method, mask)
        result: Tensor = mask.clone()
        result[left] = method.compute_mask(t[left], default_mask=mask[left]).to(mask.dtype)
        return result


def _prunable_indices(method: BasePruningMethod, mask: Tensor) -> Any:
    """Return an index that selects the part of a tensor from which `method` chooses elements to prune.

    The part depends on the kind of the method:

    - unstructured: the elements that are not pruned yet
    - structured: the slices along dimension `dim` that are not fully pruned
    - global: the whole tensor
    """
    if method.PRUNING_TYPE == _UNSTRUCTURED:
        return mask.eq(1)
    if method.PRUNING_TYPE == _STRUCTURED:
        dim: int = getattr(method, "dim", -1)
        dim += mask.dim() if dim < 0 else 0
        alive = mask.sum(dim=[d for d in range(mask.dim()) if d != dim]) != 0
        index: list[Any] = [slice(None)] * mask.dim()
        index[dim] = alive
        return tuple(index)
    if method.PRUNING_TYPE == _GLOBAL:
        return (slice(None),) * mask.dim()
    raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")


class Identity(BasePruningMethod):
    """Pruning method without effect: the mask contains only ones."""

    PRUNING_TYPE = _UNSTRUCTURED

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return `default_mask`: no element is pruned."""
        return default_mask


class RandomUnstructured(BasePruningMethod):
    """Pruning of random elements."""

    PRUNING_TYPE = _UNSTRUCTURED

    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return `default_mask` with zeros at the random elements to prune."""
        return self._mask_smallest(t, default_mask, -ts.rand_like(t))

    def _mask_smallest(self, t: Tensor, default_mask: Tensor, order: Tensor) -> Tensor:
        """Return `default_mask` with zeros at the elements of `t` whose values in `order` are smallest.

        `self.amount` is the number of these elements, or their fraction.
        """
        count = _element_count(self.amount, t.nelement())
        mask: Tensor = default_mask.clone(memory_format=ts.contiguous_format)
        if count:
            mask.view(-1)[ts.topk(order.reshape(-1), k=count, largest=False).indices] = 0
        return mask


class L1Unstructured(RandomUnstructured):
    """Pruning of the elements with the smallest absolute values."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return `default_mask` with zeros at the elements of smallest absolute value."""
        return self._mask_smallest(t, default_mask, ts.abs(t))


class _Structured(BasePruningMethod):
    """Base class of methods that prune whole slices along a dimension."""

    PRUNING_TYPE = _STRUCTURED

    def __init__(self, amount: float, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount = amount
        self.dim = dim

    def _importance_scores(self, t: Tensor) -> Tensor:
        """Return the importance of each slice."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. "
                f"Found tensor of shape {t.shape} with {t.dim()} dims"
            )
        if not -t.dim() <= self.dim < t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        rows = t.shape[self.dim]
        count = _element_count(self.amount, rows)
        if not count:
            return default_mask
        retained_indices = ts.topk(self._importance_scores(t), k=rows - count, largest=True).indices
        mask: Tensor = ts.zeros_like(t)
        index: list[Any] = [slice(None)] * t.dim()
        index[self.dim] = retained_indices
        mask[tuple(index)] = 1
        mask *= default_mask.to(dtype=mask.dtype)
        return mask


class RandomStructured(_Structured):
    """Pruning of random slices along a dimension."""

    def _importance_scores(self, t: Tensor) -> Tensor:
        drawn: Tensor = ts.rand(t.shape[self.dim])
        return drawn


class LnStructured(_Structured):
    """Pruning of the slices along a dimension with the smallest n-norms."""

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _importance_scores(self, t: Tensor) -> Tensor:
        dim = self.dim % t.dim()
        others = [d for d in range(t.dim()) if d != dim]
        norms: Tensor
        if self.n == "nuc":
            norms = ts.linalg.matrix_norm(t, "nuc", dim=others)
        else:
            norms = ts.linalg.vector_norm(t, 2 if self.n == "fro" else self.n, dim=others)
        return norms


class CustomFromMask(BasePruningMethod):
    """Pruning of the elements at which a given mask is zero."""

    PRUNING_TYPE = _GLOBAL

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the product of `default_mask` and `self.mask`, in the dtype of `default_mask`."""
        mask: Tensor = default_mask * self.mask.to(dtype=default_mask.dtype)
        return mask


# ---------------------------------------------------------------- functions that prune a module


def identity(module: Module, name: str) -> Module:
    """Add a mask of ones to a parameter: no element is pruned."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune a number or fraction of random elements of a parameter."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: float, importance_scores: Tensor | None = None
) -> Module:
    """Prune the elements of a parameter with the smallest absolute values or importance scores."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune random slices of a parameter along a dimension."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Module:
    """Prune the slices of a parameter along a dimension that have the smallest n-norms."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune the elements of a parameter at which the mask is zero."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prune several parameters, given as (module, name) pairs, as if they were one concatenated vector."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    pairs = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    ranked = [scores.get(pair, getattr(*pair)) for pair in pairs]
    masks = [_mask_of(*pair) for pair in pairs]
    method = pruning_method(**kwargs)
    method._tensor_name = "all"
    if method.PRUNING_TYPE != _UNSTRUCTURED:
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    container = PruningContainer()
    container._tensor_name = "all"
    container.add_pruning_method(method)
    concatenate = ts.nn.utils.parameters_to_vector
    final = container.compute_mask(concatenate(ranked), concatenate(masks))
    offset = 0
    for (module, name), mask in zip(pairs, masks, strict=True):
        custom_from_mask(module, name, final[offset : offset + mask.numel()].view_as(mask))
        offset += mask.numel()


def remove(module: Module, name: str) -> Module:
    """Make a pruned parameter a plain parameter that contains the zeros."""
    for key, method in _methods_of(module, name):
        method.remove(module)
        del module._forward_pre_hooks[key]
        return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Module) -> bool:
    """Return True if a parameter of the module or of a descendant is pruned."""
    return any(True for below in module.modules() for _ in _methods_of(below, None))


def _mask_of(module: Module, name: str) -> Any:
    mask = getattr(module, f"{name}_mask", None)
    return ts.ones_like(getattr(module, name)) if mask is None else mask


def _methods_of(module: Module, name: str | None) -> Iterator[tuple[int, BasePruningMethod]]:
    """Yield (key, hook) for each forward pre-hook of `module` that prunes the parameter `name`.

    If `name` is None, yield the hooks for all parameters.
    """
    for key, hook in module._forward_pre_hooks.items():
        function = hook.function if isinstance(hook, ForwardHook) else hook
        if isinstance(function, BasePruningMethod) and name in (None, function._tensor_name):
            yield key, function


def _check_amount(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if not 0 <= amount <= (math.inf if isinstance(amount, numbers.Integral) else 1):  # type: ignore[operator]
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer"
        )


def _element_count(amount: Any, total: int) -> int:
    """Convert an amount to a number of elements. A float is a fraction of `total`."""
    if not isinstance(amount, int):
        return round(float(amount) * total)
    if amount > total:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={total}")
    return amount
