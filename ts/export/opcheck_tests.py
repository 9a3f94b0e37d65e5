"""Operator consistency tests: implementation of `ts.library.opcheck`.

Example: `opcheck(mine.scale, (x,))` returns {"test_schema": "SUCCESS", ...}. By default, four tests run:

    test_schema                   mutations match the schema, and results do not alias arguments
    test_autograd_registration    results that require grad have gradients
    test_faketensor               results of the fake kernel have the dtypes and shapes of the real results
    test_aot_dispatch_dynamic     an export with dynamic sizes has the operator's results and gradients
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import ts
from ts._core.tensor.tensor import Tensor
from ts.utils import _pytree as pytree


class OpCheckError(Exception):
    """Raised for an operator that fails a consistency test."""


class _Case:
    """Operator call that the tests run."""

    def __init__(
        self,
        op: Any,
        custom: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        closeness: Mapping[str, Any],
    ) -> None:
        self.op = op
        self.custom = custom
        self.args = args
        self.kwargs = dict(kwargs)
        self.closeness = closeness

    def copied(self, requires_grad: bool = True) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return (args, kwargs) with copies of tensors, which share no memory with the originals."""

        def copy(x: Any) -> Any:
            if not isinstance(x, Tensor):
                return x
            return x.detach().clone().requires_grad_(x.requires_grad and requires_grad)

        args, kwargs = pytree.tree_map(copy, (self.args, self.kwargs))
        return args, kwargs

    @property
    def parameters(self) -> Sequence[Any]:
        return self.op.operator.signature.parameters  # type: ignore[no-any-return]

    def pair_arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[tuple[Any, Any]]:
        """Return a (parameter, argument) pair for each argument."""
        named = {p.name: p for p in self.parameters}
        positional = list(zip(self.parameters, args, strict=False))
        return positional + [(named[name], x) for name, x in kwargs.items()]


def _tensors(x: Any) -> list[Tensor]:
    return [y for y in pytree.tree_leaves(x) if isinstance(y, Tensor)]


def _schema(case: _Case) -> None:
    args, kwargs = case.copied(requires_grad=False)
    before = [(p, x, [t.clone() for t in _tensors(x)]) for p, x in case.pair_arguments(args, kwargs)]
    with ts.no_grad():
        result = case.op(*args, **kwargs)
    for parameter, x, values in before:
        for now, then in zip(_tensors(x), values, strict=True):
            if not parameter.written and not ts.equal(now.nan_to_num(), then.nan_to_num()):
                raise RuntimeError(f"Argument {parameter.name} is not defined as mutable but was mutated")
    memory = {t.untyped_storage().data_ptr(): p.name for p, x, _ in before for t in _tensors(x) if t.numel()}
    for output in _tensors(result):
        at = memory.get(output.untyped_storage().data_ptr()) if output.numel() else None
        if at is not None and "(" not in str(case.op._schema).rpartition(" -> ")[2].lstrip("("):
            raise RuntimeError(
                f"{case.custom.name}: The output of this custom operator (1) must not also be an input to "
                "this custom operator and (2) may not alias any inputs to this custom operator: it has the "
                f"memory of {at}"
            )


def _autograd_registration(case: _Case) -> None:
    custom = case.custom
    has_autograd = custom.of_function or custom.backward or any("Autograd" in key for key in custom.by_key)
    args, kwargs = case.copied()
    if has_autograd or not any(t.requires_grad for t in _tensors((args, kwargs))):
        return
    if any(t.requires_grad for t in _tensors(case.op(*args, **kwargs))):
        raise AssertionError(
            f"{custom.name}: at least one output of this operator has requires_grad=True but the operator "
            "does not have an autograd kernel defined at an autograd key (e.g. DispatchKey::Autograd)."
        )


def _require_fake(case: _Case) -> None:
    custom = case.custom
    composite = not custom.of_function and any("Composite" in key for key in custom.by_key)
    if "Meta" not in custom.by_key and not composite:
        name = custom.name.partition("::")[2]
        raise RuntimeError(
            f"There was no fake impl registered for {case.op}. This is necessary for torch.compile/export/fx "
            f"tracing to work. Please use `{name}.register_fake` to add an fake impl."
        )


def _faketensor(case: _Case) -> None:
    _require_fake(case)
    args, kwargs = case.copied(requires_grad=False)
    with ts.no_grad():
        real = _tensors(case.op(*args, **kwargs))
    args, kwargs = pytree.tree_map(
        lambda x: ts.empty_like(x, device="meta") if isinstance(x, Tensor) else x, case.copied(False)
    )
    try:
        with ts.no_grad():
            fake_outputs = _tensors(case.op(*args, **kwargs))
    # A fake kernel that needs tensor elements has no results to compare. `test_aot_dispatch_dynamic` checks
    # such operators.
    except ts.errors.DataDependentOutputException:
        return
    prefix = (
        f"When comparing the output of {case.op} on FakeTensor and concrete Tensors, found mismatched tensor "
        "metadata: "
    )
    if len(fake_outputs) != len(real):
        raise RuntimeError(f"{prefix}{len(real)} results and {len(fake_outputs)} are not equal!")
    for x, y in zip(real, fake_outputs, strict=True):
        for what in ("dtype", "shape"):
            theirs, own = getattr(x, what), getattr(y, what)
            if theirs != own:
                raise RuntimeError(f"{prefix}{what.capitalize()}s {theirs} and {own} are not equal!")


def _exported(case: _Case) -> None:
    from ts.export import Dim, export

    _require_fake(case)
    leaves, spec = pytree.tree_flatten(case.copied())
    tensor_indices = [i for i, x in enumerate(leaves) if isinstance(x, Tensor)]
    constants = [None if i in tensor_indices else x for i, x in enumerate(leaves)]

    class OperatorCall(ts.nn.Module):
        """Module that calls the operator on its tensor arguments."""

        def forward(self, *tensors: Tensor) -> Any:
            arguments = list(constants)
            for i, x in zip(tensor_indices, tensors, strict=True):
                arguments[i] = x
            args, kwargs = pytree.tree_unflatten(arguments, spec)
            return case.op(*args, **kwargs)

    def fresh() -> tuple[Any, ...]:
        return tuple(_tensors(case.copied()))

    shapes = tuple(dict.fromkeys(range(x.ndim), Dim.AUTO) for x in fresh())
    program = export(OperatorCall(), fresh(), dynamic_shapes=(shapes,) if shapes else None)
    want, program_inputs = fresh(), fresh()
    expected, program_outputs = _tensors(OperatorCall()(*want)), _tensors(program.module()(*program_inputs))
    ts.testing.assert_close(program_outputs, expected, **case.closeness)
    ts.testing.assert_close(list(program_inputs), list(want), **case.closeness)
    for result, arguments in ((expected, want), (program_outputs, program_inputs)):
        differentiable_outputs = [x for x in result if x.requires_grad]
        if differentiable_outputs and any(x.requires_grad for x in arguments):
            sum(x.abs().sum() if x.is_complex() else x.sum() for x in differentiable_outputs).backward()  # type: ignore[union-attr]
    for x, y in zip(want, program_inputs, strict=True):
        if x.grad is not None or y.grad is not None:
            if x.grad is None or y.grad is None:
                raise AssertionError(
                    "Gradients of the operator are different in eager-mode and in its export"
                )
            ts.testing.assert_close(y.grad, x.grad, **case.closeness)


_CHECKS: Final[Mapping[str, Callable[[_Case], None]]] = {
    "test_schema": _schema,
    "test_autograd_registration": _autograd_registration,
    "test_faketensor": _faketensor,
    "test_aot_dispatch_static": _exported,
    "test_aot_dispatch_dynamic": _exported,
}
_USUAL: Final = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


def opcheck(
    op: Any,
    custom: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None,
    test_utils: str | Sequence[str],
    raise_exception: bool,
    closeness: Mapping[str, Any],
) -> dict[str, Any]:
    """Run the tests of `ts.library.opcheck`, and return each result: "SUCCESS" or the error."""
    names = (
        _USUAL if test_utils == "" else (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    )
    if not set(names) <= _CHECKS.keys():
        raise ValueError(
            f"opcheck(op, ..., test_utils={names}), expected test_utils to be subset of {tuple(_CHECKS)} but "
            "it was not"
        )
    case = _Case(op, custom, args, kwargs or {}, closeness)
    results: dict[str, Any] = {}
    for name in names:
        try:
            _CHECKS[name](case)
        except Exception as error:  # the tested operator may raise any exception
            if raise_exception:
                raise OpCheckError(f"opcheck(op, ...): {name} failed with {error}") from error
            results[name] = error
        else:
            results[name] = "SUCCESS"
    return results
