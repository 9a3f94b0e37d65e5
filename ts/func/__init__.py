"""Function transforms (gradients, tangents, Jacobians, batches), and functional calls of modules.

Each line shows an expression and its value:

    grad(loss)(parameters, x)                      gradient with respect to the first argument
    vmap(grad(loss), in_dims=(None, 0))(p, xs)     a gradient for each x
    jacfwd(f)(x), jacrev(f)(x)                     Jacobian
    hessian(f)(x)                                  Hessian
    functional_call(net, parameters, (x,))         net(x) with the given parameters
"""

from __future__ import annotations

from ts.func.forward_mode import jvp, linearize
from ts.func.grad_and_vjp import grad, grad_and_value, vjp
from ts.func.jacobians import hessian, jacfwd, jacrev
from ts.func.modules import functional_call, stack_module_state
from ts.func.unsupported import functionalize
from ts.func.vmap import vmap

__all__ = [
    "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "linearize", "stack_module_state", "vjp", "vmap",
]  # fmt: skip
