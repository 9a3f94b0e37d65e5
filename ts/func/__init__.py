"""Functions of functions: gradients, tangents, matrices of derivatives, batches; and modules as functions.

grad(loss)(parameters, x)                      the gradient by the first argument
vmap(grad(loss), in_dims=(None, 0))(p, xs)     one gradient for each x
jacfwd(f)(x), jacrev(f)(x), hessian(f)(x)      matrices
functional_call(net, parameters, (x,))         net(x), with other parameters
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
