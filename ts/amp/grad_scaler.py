"""Gradient scaler (loss scaling), which keeps small gradients from underflow in 16 bits.

A training step with a gradient scaler:

    scaler = GradScaler("cpu")
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)          only to inspect or clip the gradients
    scaler.step(optimizer)              skips the step if a gradient is inf or nan
    scaler.update()                     adjusts the scale

The scale shrinks after a skipped step. It grows after `growth_interval` steps with finite gradients.
"""

from __future__ import annotations

import inspect
import warnings
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import Any

import ts
from ts import backends
from ts._core.tensor.tensor import Tensor
from ts.autograd.grad_mode import no_grad

_STATE = {
    "growth_factor": "_growth_factor",
    "backoff_factor": "_backoff_factor",
    "growth_interval": "_growth_interval",
}


class OptState(Enum):
    """Stage of an optimizer since the last `update`: gradients scaled or unscaled, or `step` called."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class _OptimizerState:
    """Stage of an optimizer since the last `update`, and for each device a flag for non-finite gradients.

    Each flag is a tensor.
    """

    def __init__(self) -> None:
        self.stage = OptState.READY
        self.found_inf: dict[Any, Tensor] = {}


class GradScaler:
    """Loss scale that adapts to the range of the gradients, with the semantics of `torch.amp.GradScaler`.

    growth_factor    factor by which the scale is multiplied after `growth_interval` consecutive steps with
                     finite gradients
    backoff_factor   factor by which the scale is multiplied after a step with a non-finite gradient
    enabled          if False, losses and gradients are unchanged, and `step` calls the optimizer's `step`

    Raises AssertionError if `growth_factor` is not above 1 or `backoff_factor` not below 1, and for calls in
    a wrong order. Raises RuntimeError for a second `unscale_` or `step`, and ValueError for gradients in
    float16.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if device == "cuda" and enabled and "cuda" not in backends.available():
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2
            )
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale = init_scale
        # The scale, as a tensor on the device of the first loss. It is None before the first loss.
        self._scale: Tensor | None = None
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        # number of consecutive steps with finite gradients, or None before the first loss
        self._growth_tracker: Tensor | None = None
        # id of an optimizer -> its state since the last `update`
        self._optimizer_states: defaultdict[int, _OptimizerState] = defaultdict(_OptimizerState)

    # ---- losses --------------------------------------------------------------------------------------

    def scale(self, outputs: Any) -> Any:
        """Multiply a tensor, or tensors in iterables, by the scale. Raise ValueError for other types."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._get_scale_on_device(outputs.device)
        if not isinstance(outputs, Iterable):
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")
        scaled = map(self.scale, outputs)
        return type(outputs)(scaled) if isinstance(outputs, list | tuple) else scaled  # type: ignore[call-arg]

    def _get_scale_on_device(self, device: Any) -> Tensor:
        if self._scale is None:
            self._scale = ts.full((), self._init_scale, dtype=ts.float32, device=device)
            self._growth_tracker = ts.full((), self._init_growth_tracker, dtype=ts.int32, device=device)
        return self._scale.to(device)

    def _check_initialized(self, action: str) -> Tensor:
        """Return the scale tensor. Raise AssertionError if `scale` was not called before."""
        if self._scale is None:
            raise AssertionError(
                f"Attempted {action} but _scale is None.  This may indicate your script did not use "
                "scaler.scale(loss or outputs) earlier in the iteration."
            )
        return self._scale

    # ---- gradients -----------------------------------------------------------------------------------

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients by the scale, once before the step.

        Record for each device whether they are all finite.
        """
        if not self._enabled:
            return
        scale = self._check_initialized("unscale_")
        optimizer_state = self._optimizer_states[id(optimizer)]
        if optimizer_state.stage is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if optimizer_state.stage is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        optimizer_state.found_inf = _unscale(optimizer, scale.double().reciprocal().float(), allow_fp16=False)
        optimizer_state.stage = OptState.UNSCALED

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Unscale the gradients, and call the optimizer if all gradients are finite.

        Return the result of `optimizer.step(*args, **kwargs)`, or None if the step is skipped.

        An optimizer whose class sets `_step_supports_amp_scaling` receives the scale and the non-finite flag
        as its attributes `grad_scale` and `found_inf`. Its `step` unscales the gradients, or does nothing if
        a gradient is not finite.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_initialized("step")
        optimizer_state = self._optimizer_states[id(optimizer)]
        if optimizer_state.stage is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            result = self._step_scaled(optimizer, optimizer_state, args, kwargs)
        else:
            if optimizer_state.stage is OptState.READY:
                self.unscale_(optimizer)
            if not optimizer_state.found_inf:
                raise AssertionError("No inf checks were recorded for this optimizer.")
            is_finite = not any(flag.item() for flag in optimizer_state.found_inf.values())
            result = optimizer.step(*args, **kwargs) if is_finite else None
        optimizer_state.stage = OptState.STEPPED
        return result

    def _step_scaled(self, optimizer: Any, optimizer_state: _OptimizerState, args: Any, kwargs: Any) -> Any:
        """Call `step` of an optimizer that unscales its gradients itself."""
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warnings.warn(
                "GradScaler is going to stop passing itself as a keyword argument to the passed optimizer. "
                "In the near future GradScaler registers `grad_scale: Tensor` and `found_inf: Tensor` to the "
                "passed optimizer and let the optimizer use them directly.",
                FutureWarning,
                stacklevel=3,
            )
            return optimizer.step(*args, grad_scaler=self, **kwargs)
        scale = self._check_initialized("step")
        grad_scale = getattr(optimizer, "grad_scale", None)
        if optimizer_state.stage is OptState.READY:
            optimizer_state.found_inf = _unscale(optimizer, ts.ones_like(scale), allow_fp16=True)
            grad_scale = scale if grad_scale is None else scale * grad_scale
        optimizer.grad_scale = grad_scale
        optimizer.found_inf = sum(flag.to(scale.device) for flag in optimizer_state.found_inf.values())
        try:
            return optimizer.step(*args, **kwargs)
        finally:
            del optimizer.grad_scale, optimizer.found_inf

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Set the scale, or adapt it to the steps since the last call.

        The states of the optimizers are reset.
        """
        if not self._enabled:
            return
        scale = self._check_initialized("update")
        if new_scale is None:
            self._update_from_inf_flags(scale)
        elif isinstance(new_scale, Tensor):
            if new_scale.device.type != self._device or new_scale.numel() != 1 or new_scale.requires_grad:
                raise AssertionError(
                    "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor "
                    "with requires_grad=False."
                )
            scale.copy_(new_scale)
        else:
            scale.fill_(new_scale)
        self._optimizer_states.clear()

    def _update_from_inf_flags(self, scale: Tensor) -> None:
        inf_flags = [
            x.to(scale.device)
            for optimizer_state in self._optimizer_states.values()
            for x in optimizer_state.found_inf.values()
        ]
        if not inf_flags:
            raise AssertionError("No inf checks were recorded prior to update.")
        assert self._growth_tracker is not None  # `scale` creates both tensors
        ts._amp_update_scale_(
            scale, self._growth_tracker, sum(inf_flags[1:], inf_flags[0]),
            self._growth_factor, self._backoff_factor, self._growth_interval,
        )  # fmt: skip

    # ---- properties and state ------------------------------------------------------------------------

    def get_scale(self) -> float:
        """Return the scale as a float, or 1.0 if scaling is disabled."""
        if not self._enabled:
            return 1.0
        return float(self._init_scale if self._scale is None else self._scale.item())

    def get_growth_factor(self) -> float:
        """Return the factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return the factor by which a step with a non-finite gradient multiplies the scale."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the factor of the scale after a step with a non-finite gradient."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return the number of consecutive finite steps after which the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the number of consecutive finite steps after which the scale grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        tracker = self._growth_tracker
        return self._init_growth_tracker if tracker is None else int(tracker.item())

    def is_enabled(self) -> bool:
        """Return True if the scaler is enabled."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Return scale, factors and counter as numbers, in PyTorch's format, or {} if scaling is disabled."""
        if not self._enabled:
            return {}
        factors = {name: getattr(self, attribute) for name, attribute in _STATE.items()}
        return {"scale": self.get_scale(), **factors, "_growth_tracker": self._get_growth_tracker()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state of `ts` or PyTorch. Raise RuntimeError for the state of a disabled scaler."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of "
                "GradScaler."
            )
        self._init_scale, self._init_growth_tracker = state_dict["scale"], state_dict["_growth_tracker"]
        for name, attribute in _STATE.items():
            setattr(self, attribute, state_dict[name])
        if self._scale is not None and self._growth_tracker is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker.fill_(self._init_growth_tracker)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling, in which tensors are replaced by numbers.

        Raises AssertionError if an optimizer was unscaled or stepped since the last `update`.
        """
        state = self.__dict__.copy()
        if not self._enabled:
            return state
        if self._optimizer_states:
            raise AssertionError(
                "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end "
                "after scaler.update()."
            )
        del state["_optimizer_states"]
        state.update(_init_scale=self.get_scale(), _init_growth_tracker=self._get_growth_tracker())
        return {**state, "_scale": None, "_growth_tracker": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._enabled:
            self._optimizer_states = defaultdict(_OptimizerState)


def _unscale(optimizer: Any, factor: Tensor, allow_fp16: bool) -> dict[Any, Tensor]:
    """Multiply gradients by `factor`.

    Return a flag for each device: 1.0 if a gradient on it is not finite, else 0.0.
    """
    groups: defaultdict[tuple[Any, Any], list[Tensor]] = defaultdict(list)
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            grad = parameter.grad
            if grad is None:
                continue
            if grad.dtype is ts.float16 and not allow_fp16:
                raise ValueError("Attempting to unscale FP16 gradients.")
            groups[grad.device, grad.dtype].append(grad)
    found_inf: dict[Any, Tensor] = {}
    with no_grad():
        for (device, _), grads in groups.items():
            if device not in found_inf:
                found_inf[device] = ts.zeros((), dtype=ts.float32, device=device)
            ts._amp_foreach_non_finite_check_and_unscale_(grads, found_inf[device], factor.to(device))
    return found_inf
