"""Package `functorch`, which PyTorch and `ts.install_as_torch` install in addition to `torch`.

This example calls a module with explicit parameters:

    functional, parameters = functorch.make_functional(net)
    functional(parameters, x)                                 net(x) with these parameters

As in PyTorch, each function warns that `torch.func` replaces it.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from ts import func
from ts._functorch import make_functional as _modules
from ts._functorch.make_functional import FunctionalModule, FunctionalModuleWithBuffers
from ts.fx.experimental.proxy_tensor import make_fx
from ts.unsupported import names_for

__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "functionalize", "grad",
    "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "make_functional", "make_functional_with_buffers",
    "make_fx", "vjp", "vmap",
]  # fmt: skip
__getattr__ = names_for(__name__)


def _deprecated(function: Callable[..., Any], replacement: str) -> Callable[..., Any]:
    """Return a function that issues a deprecation warning and then calls `function`."""
    message = (
        "We've integrated functorch into PyTorch. As the final step of the integration, "
        f"`functorch.{function.__name__}` is deprecated as of PyTorch 2.0 and will be deleted in a future "
        f"version of PyTorch >= 2.3. Please use `torch.{replacement}` instead; see the PyTorch 2.0 release "
        "notes and/or the `torch.func` migration guide for more details "
        "https://pytorch.org/docs/main/func.migrating.html"
    )

    @functools.wraps(function)
    def deprecated(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(message, FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    return deprecated


combine_state_for_ensemble = _deprecated(_modules.combine_state_for_ensemble, "func.stack_module_state")
functionalize = _deprecated(func.functionalize, "func.functionalize")
grad = _deprecated(func.grad, "func.grad")
grad_and_value = _deprecated(func.grad_and_value, "func.grad_and_value")
hessian = _deprecated(func.hessian, "func.hessian")
jacfwd = _deprecated(func.jacfwd, "func.jacfwd")
jacrev = _deprecated(func.jacrev, "func.jacrev")
jvp = _deprecated(func.jvp, "func.jvp")
make_functional = _deprecated(_modules.make_functional, "func.functional_call")
make_functional_with_buffers = _deprecated(_modules.make_functional_with_buffers, "func.functional_call")
vjp = _deprecated(func.vjp, "func.vjp")
vmap = _deprecated(func.vmap, "vmap")
