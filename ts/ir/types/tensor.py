"""Tensor types, with known properties: dtype, sizes, strides, device.

>>> TensorType(scalar_type=6, sizes=(2, None), device="cpu").str()
'Float(2, *, device=cpu)'
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from ts.dtypes import SCALAR_TYPE_NAMES
from ts.ir.lexer import TYPE_VERBOSITY
from ts.ir.types.base import Type


class TensorType(Type):
    """Tensor type with optional properties: ``Tensor``, ``Float(2, *, requires_grad=0, device=cpu)``.

    `scalar_type` is the index of the dtype in `SCALAR_TYPE_NAMES`. An unknown size or stride is None.
    `inferred` is True for a parameter without annotation. Such a type equals ``Tensor``, but error messages
    call it ``Tensor (inferred)``.
    """

    __slots__ = ("_device", "_requires_grad", "_sizes", "_strides", "inferred", "scalar_type", "undefined_")
    _annotation = "Tensor"

    def __init__(
        self,
        scalar_type: int | None = None,
        sizes: Iterable[int | None] | None = None,
        strides: Iterable[int | None] | None = None,
        device: str | None = None,
        requires_grad: bool | None = None,
        undefined: bool | None = None,
        inferred: bool = False,
    ) -> None:
        self.scalar_type = scalar_type
        self._sizes = None if sizes is None else tuple(sizes)
        self._strides = None if strides is None else tuple(strides)
        self._device = device
        self._requires_grad = requires_grad
        self.undefined_ = undefined
        self.inferred = inferred

    @classmethod
    def get_inferred(cls) -> TensorType:
        """Return the type of a parameter without annotation."""
        return _INFERRED_TENSOR

    getInferred = get_inferred

    @property
    def repr_str(self) -> str:
        """Spelling of the type in messages: ``Tensor (inferred)`` for a parameter without annotation."""
        return f"{self.annotation_str} (inferred)" if self.inferred else self.annotation_str

    def _key(self) -> tuple[object, ...]:
        return (
            self.scalar_type,
            self._sizes,
            self._strides,
            self._device,
            self._requires_grad,
            self.undefined_,
        )

    def is_refined(self) -> bool:
        """Return True if any property (dtype, sizes, device, ...) is known."""
        return self._key() != _UNREFINED

    def _spell(self) -> str:
        sizes, strides = self._sizes, self._strides
        spelling = "Tensor"
        if self.scalar_type is not None:
            spelling = SCALAR_TYPE_NAMES[self.scalar_type] + ("Tensor" if sizes is None else "")
        properties = []
        if sizes is not None:
            properties = ["*" if size is None else f"{size}" for size in sizes]
            has_strides = strides is not None and len(strides) == len(sizes) and None not in strides
            if sizes and has_strides and TYPE_VERBOSITY >= 2:
                properties.append(f"strides=[{', '.join(map(repr, strides or ()))}]")
        if self._requires_grad is not None and TYPE_VERBOSITY >= 3:
            properties.append(f"requires_grad={int(self._requires_grad)}")
        if self._device is not None and TYPE_VERBOSITY >= 3:
            properties.append(f"device={self._device}")
        if properties or sizes is not None:
            spelling += f"({', '.join(properties)})"
        return spelling + "[Undefined]" if self.undefined_ else spelling

    def is_subtype_of(self, other: Type) -> bool:
        """Return True if this type has every known property of `other`."""
        if self is other:
            return True
        if isinstance(other, TensorType):
            return other is TENSOR or self.merge(other) == other
        return super().is_subtype_of(other)

    isSubtypeOf = is_subtype_of

    def merge(self, other: TensorType) -> TensorType:
        """Return the tensor type with the properties that both types share."""
        return TensorType(
            _same(self.scalar_type, other.scalar_type),
            _common_sizes(self._sizes, other._sizes),
            _common_sizes(self._strides, other._strides),
            _same(self._device, other._device),
            _same(self._requires_grad, other._requires_grad),
            _same(self.undefined_, other.undefined_),
        )

    def with_(self, **changes: Any) -> TensorType:
        """Return a copy with some of `__init__`'s arguments changed."""
        current: dict[str, Any] = {
            "scalar_type": self.scalar_type,
            "sizes": self._sizes,
            "strides": self._strides,
            "device": self._device,
            "requires_grad": self._requires_grad,
            "undefined": self.undefined_,
        }
        return TensorType(**{**current, **changes})

    def with_sizes(self, sizes: Iterable[int | None] | None) -> TensorType:
        """Return a copy with the sizes `sizes`, or with unknown rank if `sizes` is None."""
        return self.with_(sizes=sizes)

    def with_device(self, device: object) -> TensorType:
        """Return a copy with the device `device`, a string or a device object."""
        return self.with_(device=str(device))

    def dim(self) -> int | None:
        """Return the rank, or None if unknown."""
        return None if self._sizes is None else len(self._sizes)

    def sizes(self) -> list[int] | None:
        """Return the sizes, or None unless all are known."""
        return _complete(self._sizes)

    def varyingSizes(self) -> list[int | None] | None:
        """Return the list of sizes (None for each unknown size), or None for unknown rank."""
        return None if self._sizes is None else list(self._sizes)

    def strides(self) -> list[int] | None:
        """Return the strides, or None unless all are known."""
        return _complete(self._strides)

    def device(self) -> str | None:
        """Return the device as a string, or None if unknown."""
        return self._device

    def requires_grad(self) -> bool:
        """Return False if the type states that its values do not require grad, otherwise True."""
        return self._requires_grad is not False

    def undefined(self) -> bool | None:
        """Return True for an undefined tensor, False for a defined tensor, and None if this is unknown.

        Autograd passes undefined tensors in place of missing gradients.
        """
        return self.undefined_

    def scalarType(self) -> str | None:
        """Return the dtype's name, such as ``Float``, or None if unknown. The method has PyTorch's name."""
        return None if self.scalar_type is None else SCALAR_TYPE_NAMES[self.scalar_type]


def _same(a: Any, b: Any) -> Any:
    return a if a == b else None


def _common_sizes(
    a: tuple[int | None, ...] | None, b: tuple[int | None, ...] | None
) -> tuple[int | None, ...] | None:
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def _complete(numbers: tuple[int | None, ...] | None) -> list[int] | None:
    if numbers is None or None in numbers:
        return None
    return cast("list[int]", list(numbers))


TENSOR = TensorType.get()
_INFERRED_TENSOR = TensorType(inferred=True)
_UNREFINED = TENSOR._key()
