"""Forward-mode automatic differentiation: derivatives along directions (Jacobian-vector products).

>>> jvp(ts.sin, (ts.zeros(2),), (ts.ones(2),))
(tensor([0., 0.]), tensor([1., 1.]))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ts
from ts import Tensor
from ts._core.autograd.backward import grad as autograd_grad
from ts._core.dispatch_layers import dual_tensor
from ts._core.dispatch_layers.level_stack import below_level, push_level, require_grad_at_level
from ts._core.tensor.tensor_metadata import detached
from ts._core.thread.context import GradMode, TransformScope
from ts._core.thread.transform_state import transforming
from ts.func.grad_and_vjp import recorded_vjp, with_aux
from ts.func.pytree import flatten, map_leaves, unflatten

Function = Callable[..., Any]


def jvp(func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """Return func(*primals) and the Jacobian-vector product with `tangents`, a tree like `primals`.

    strict   raise RuntimeError if a result does not depend on `primals` (False: its derivative is zero)
    has_aux  `func` returns (results, aux), and `jvp` returns (results, derivative, aux)
    """
    name = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{name}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    xs, shape = flatten(primals)
    vs, shape_of_tangents = flatten(tangents)
    if shape != shape_of_tangents:
        raise RuntimeError(
            f"{name}: Expected primals and tangents to have the same python structure. For example, if "
            "primals is a "
            "tuple of 3 tensors, tangents also must be. Got primals with structure "
            f"{shape} and tangents with structure {shape_of_tangents}"
        )
    for argument_name, items in (("primals", xs), ("tangents", vs)):
        if not items:
            raise RuntimeError(f"{name}: Expected {argument_name} to contain at least one Tensor.")
        for x in items:
            if not isinstance(x, Tensor):
                raise RuntimeError(f"{name}: Expected {argument_name} to only contain Tensors, got {type(x)}")
    for x, v in zip(xs, vs, strict=True):
        if x.shape != v.shape:
            raise RuntimeError(
                "Expected primal and tangent to have the same shape, but got "
                f"{tuple(x.shape)} and {tuple(v.shape)}"
            )
    dual_tensor.raise_recording_unsupported()
    with (
        push_level(dual_tensor.run, dual_tensor.without_tangent) as level,
        transforming(),
        TransformScope(),
    ):
        with below_level(level):
            duals = [dual_tensor.make_argument(level, x, v) for x, v in zip(xs, vs, strict=True)]
        output, aux = with_aux(func(*unflatten(duals, shape)), has_aux, name)
        outputs, output_spec = flatten(output)
        if not outputs:
            raise RuntimeError(
                f"{name}: Expected f to be a function that has non-empty output (got output = {output})"
            )
        pairs = []
        for y in outputs:
            if not isinstance(y, Tensor):
                raise RuntimeError(
                    f"{name}: expected f(*args) to return only tensors, got unsupported type {type(y)}"
                )
            primal, tangent = dual_tensor.unwrap_dual(level, y)
            if tangent is None and strict:
                raise RuntimeError(
                    "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. "
                    "This is not "
                    "allowed with strict=True."
                )
            with below_level(level):
                pairs.append((primal, ts.zeros_like(primal) if tangent is None else tangent))
        results = unflatten([p for p, _ in pairs], output_spec), unflatten([t for _, t in pairs], output_spec)
        if not has_aux:
            return results
        return *results, map_leaves(
            lambda x: dual_tensor.unwrap_dual(level, x)[0] if isinstance(x, Tensor) else x, aux
        )


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """Return func(*primals), and a function that maps tangents of `primals` to tangents of the results.

    The second function raises RuntimeError if its arguments do not have the tree structure of `primals`.
    """
    with GradMode(True):
        record, results, vjp_function, _ = recorded_vjp(func, primals, False, checks_writes=False)
        outputs, shape = flatten(results)
        us = [require_grad_at_level(ts.zeros_like(detached(y))) for y in outputs]
        gs = flatten(vjp_function(unflatten(us, shape), create_graph=True))[0]

    def along(*tangents: Any) -> Any:
        vs, tangent_spec = flatten(tangents)
        if tangent_spec != record.shape:
            raise RuntimeError(
                f"Expected the tangents {tangent_spec} to have the same argspec as the primals {record.shape}"
            )
        for i, (x, v) in enumerate(zip(record.leaves, vs, strict=True)):
            for property_name in ("shape", "device", "dtype"):
                if getattr(x, property_name) != getattr(v, property_name):
                    raise RuntimeError(
                        f"Expected the tangent {i} to have the same {property_name} as the primal: "
                        f"{getattr(x, property_name)}, but it has "
                        f"{getattr(v, property_name)}"
                    )
        pairs = [(g, v) for g, v in zip(gs, vs, strict=True) if g.requires_grad]
        tangent_results: Any = [None] * len(us)
        if pairs:
            tangent_results = autograd_grad(
                [g for g, _ in pairs], us, [v for _, v in pairs], retain_graph=True, allow_unused=True
            )
        return unflatten(
            [
                ts.zeros_like(detached(u)) if t is None else t
                for u, t in zip(us, tangent_results, strict=True)
            ],
            shape,
        )

    return results, along
