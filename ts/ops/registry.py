"""Operator registry, in which one record defines one operator.

Modules of operator families (`pointwise`, `reduce`, `view` ...) declare records by tables and decorated
kernels:

    @op("aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", inplace=True, out="out")
    def cumsum(xp, self, dim, dtype=None):
        return xp.cumsum(self, dim, ...)

A kernel receives the array namespace, then the schema's arguments in order. Arguments are arrays, lists of
arrays, Python numbers, ScalarType numbers or lists of ints. The result is an array, a number, or a tuple. The
records of `cumsum_` (in-place) and of the `out=` variant are derived from the record of `cumsum`.

`find(key)` returns a record, `lookup(name)` the operators of a name, and `function(name)` the function of the
Python API.

All other properties of an operator are fields of its record. Operators with the same kernel can share fields:

    @op("aten::linalg_inv(Tensor A) -> Tensor", out="out", where="f")
    @op("aten::inverse(Tensor self) -> Tensor", out="out", same_as="aten::linalg_inv")
    @shared_fields(layout="columns", dtype_errors={"h": f"linalg.inv: {LOW_PRECISION}"})
    def _inv(xp, A):

No other module lists operators by name. Passes read the properties of an operator from its record.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from ts._core.builtin_ops import registry as prims
from ts._core.builtin_ops.properties import names_with
from ts._core.dispatch import work  # noqa: F401  adds time limits to operator calls
from ts._core.dispatch.operator import Operator
from ts._core.dispatch.overloads import OverloadSet
from ts._core.late_binding import resolve
from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_type import install_methods
from ts._core.value.build_lock import build_lock
from ts.errors import missing_attribute
from ts.ops.operator_record import (
    Kernel,
    OperatorRecord,
    OutRecord,
    has_same_parameters,
    inplace_of,
    is_in_namespace,
)

if TYPE_CHECKING:
    from ts.ir.schema import FunctionSchema

K = TypeVar("K", bound=Callable[..., Any])

FAMILIES = (
    "unary", "pointwise", "ternary", "reduce", "vector_norm", "scan", "view", "split", "view_backward",
    "transpose", "storage_ops", "rearrange", "reshape", "index", "unsafe_index", "scatter", "sort", "unique",
    "matmul", "mixed_dtype_matmul", "factories", "dtype", "random", "sampling", "reparameterization_grads",
    "dropout", "activation", "activation_backward", "normalization", "batch_norm", "embedding", "loss",
    "loss_backward", "classification_loss", "ctc", "distance", "unfold", "conv", "pad", "pooling",
    "fractional_pool", "upsample", "interpolate", "grid_sample", "attention", "packed_sequence", "rnn",
    "lstm_layer", "polynomial", "copy_variants", "fft", "factorizations", "solvers", "matrix_norm", "lu",
    "linalg_helpers", "householder", "pseudo_inverse", "covariance", "least_squares", "stft",
    "finite_differences", "histogram", "window_functions", "script_only_ops", "assert_ops", "profiling", "to",
    "autograd_ops", "quantizer", "packed_params", "quantized", "quantized_rnn", "foreach", "fused_optimizers",
    "amp_ops", "rpc_ops", "sparse",
)  # fmt: skip


_records: dict[str, list[OperatorRecord]] = {}  # operator name -> records in declaration order
_by_key: dict[str, OperatorRecord] = {}
_shared: dict[Kernel, dict[str, Any]] = {}  # kernel -> fields set by `shared_fields`
_orders: dict[str, str] = {}  # operator name -> overloads to try first
_same: dict[str, str] = {}  # alias -> name of the aliased operator
_operators: dict[str, tuple[Any, ...]] = {}
_methods: dict[str, Any] = {}  # tensor methods by name
_named: set[str] = set()  # operator names for which all families that declare them are imported
_loading = _loaded = False


def add(record: OperatorRecord, *, stacked: bool = False) -> OperatorRecord:
    """Register a record. Raise ValueError if its key is already registered.

    With `stacked`, insert the record before the existing records with the same kernel. Python applies
    decorators from the last to the first. Therefore, the final order of the records is that of the decorators
    in the source.
    """
    if _by_key.setdefault(record.key, record) is not record:
        raise ValueError(f"operator {record.key} is declared twice")
    group = _records.setdefault(record.name, [])
    if stacked and group:
        origin = _origin(record)
        group.insert(next((i for i, r in enumerate(group) if _origin(r) is origin), len(group)), record)
    else:
        group.append(record)
    if record.order:
        order(record.name, record.order)
    if record.same_as:
        _same[record.name] = record.same_as
    _operators.pop(record.name, None)
    return record


def _origin(record: OperatorRecord) -> Kernel:
    return (record.base or record).kernel


def order(name: str, overloads: str) -> None:
    """Set the overloads of operator `name` that PyTorch tries first.

    PyTorch then tries the other overloads: first functional variants, then `out=` variants, then operators
    written in C. Each of these groups is tried in declaration order.
    """
    _orders[name] = overloads


def op(
    schema: str,
    *,
    inplace: bool | str = False,
    inplace_order: str = "",
    inplace_kernel: Kernel | None = None,
    out: str | Sequence[str] = (),
    out_names: str = "",
    out_unnamed: bool = False,
    **fields: Any,
) -> Callable[[K], K]:
    """Declare the operator `schema` with the decorated kernel. `fields` are fields of `OperatorRecord`.

    inplace         True or an overload name to declare the in-place variant
    inplace_order   field `order` of the in-place variant
    inplace_kernel  kernel of the in-place variant, or None to derive it from the decorated kernel
    out             overload names of the `out=` variants to declare
    out_names       names of the outputs of the `out=` variants (see `make_out_spec`)
    out_unnamed     True if the results of the `out=` variants have no names
    """

    def declare(kernel: K) -> K:
        record_fields = {**_shared.get(kernel, {}), **fields}
        family = record_fields.pop("family", None) or kernel.__module__.rpartition(".")[2]
        record = add(OperatorRecord(schema, kernel, family, **record_fields), stacked=True)
        if inplace is not False:
            variant = inplace_of(record, None if inplace is True else inplace, inplace_order)
            variant.kernel = inplace_kernel or variant.kernel
            add(variant, stacked=True)
        for overload in (out,) if isinstance(out, str) else out:
            add(OutRecord(record, overload, out_names, out_unnamed), stacked=True)
        return kernel

    return declare


def shared_fields(**fields: Any) -> Callable[[K], K]:
    """Set fields of the records that all `op` decorators above this one declare.

    If an `op` decorator sets the same field, its value has precedence.
    """

    def declare(kernel: K) -> K:
        _shared[kernel] = fields
        return kernel

    return declare


# ---------------------------------------------------------------------------------------- lookup


def load() -> None:
    """Import all family modules, which creates all records and tensor methods."""
    if not _loaded:
        with build_lock():
            _load()


def _load() -> None:
    global _loaded
    if _loading:  # called by a family module during its import: lookups use the records declared so far
        return
    with _importing(FAMILIES):
        import ts._core.autograd.tensor_methods  # noqa: F401  adds methods to the type

        functions = resolve("torch_functions").tensor_methods()
        install_methods({name: _method(name) for name in (*python_names("m"), *functions)})
        _loaded = True


def install_method(name: str) -> bool:
    """Add the method `name` to the tensor class. Return False if tensors do not have this attribute.

    The families of the operator are imported at the first call of the method.
    """
    import ts._core.autograd.tensor_methods  # noqa: F401  adds methods to the type
    from ts.ops import method_names

    if name in method_names.names():
        install_methods({name: _method(name)})
    return name in Tensor.__dict__


def _method(name: str) -> Any:
    """Return the tensor method of an operator. Each call returns the same object for a name."""
    method = _methods.get(name)
    if method is None:
        method = resolve("torch_functions").tensor_methods().get(name)
        if method is None:
            method = OverloadSet(f"aten::{name}")
            if name in ("where", "polygamma"):
                method = _with_tensor_second(method)
        method = _methods.setdefault(name, method)
    return method


def _load_name(name: str) -> None:
    """Import the families that declare overloads of one operator."""
    if not _loaded and name not in _named:
        from ts.ops.op_index import families_of

        with build_lock(), _importing(families_of(name)):
            _named.add(name)


@contextmanager
def _importing(families: Sequence[str]) -> Iterator[None]:
    """Import families, then run the body of the `with` statement.

    During the imports and the body, lookups use the records declared so far.
    """
    global _loading
    before, _loading = _loading, True
    try:
        for family in families:
            importlib.import_module(f"ts.ops.{family}")
        yield
    # after any exception, even KeyboardInterrupt, the next call must be able to import the families again
    except BaseException:
        for family in FAMILIES:  # families import each other, so several may be incomplete
            if f"ts.ops.{family}" not in sys.modules:
                _remove_family(family)
        raise
    finally:
        _loading = before


def declaring_family(record: OperatorRecord) -> str:
    """Return the name of the family module that declares a record.

    Return the name of the module that defines the record's kernel if this module is a family, else
    `record.family`.
    """
    module = str((record.base or record).kernel.__module__).rpartition(".")[2]
    return module if module in FAMILIES else record.family


def _remove_family(family: str) -> None:
    """Remove the records of a family module, because its import failed."""
    for record in [r for r in _by_key.values() if declaring_family(r) == family]:
        del _by_key[record.key]
        _records[record.name].remove(record)
        if not _records[record.name]:
            del _records[record.name]
        _operators.pop(record.name, None)


def records(name: str | None = None) -> list[OperatorRecord]:
    """Return the records of operator `name`, with `out=` variants last, or the records of all operators."""
    if name is None:
        load()
        return [r for group in _records.values() for r in group]
    _load_name(name)
    return sorted(_records.get(name, ()), key=_rank)


class FieldByName(dict[str, Any]):
    """Values of one record field by operator name, read from the records at the first access of a name.

    The value of an operator is the first value among its overloads that is not the default. An operator
    without a record has the value True if `ts._core.builtin_ops.properties` lists it for this field.
    Otherwise, the value is the default. Aliases have the default, because passes replace them.
    """

    def __init__(self, field: str) -> None:
        self.field = field

    def __missing__(self, name: str) -> Any:
        default = getattr(OperatorRecord, self.field)
        values = (getattr(record, self.field) for record in records(name) if not record.same_as)
        built_in = name in names_with(self.field) or default
        value = next((value for value in values if value != default), built_in)
        if not _loading:
            self[name] = value
        return value


_fields: dict[str, FieldByName] = {}


def field_by_name(field: str) -> FieldByName:
    """Return the values of a record field by operator name: `field_by_name("element_role")["aten::add"]`."""
    return _fields.setdefault(field, FieldByName(field))


def _rank(record: OperatorRecord) -> tuple[bool, int]:
    """Return the sort key of a record: `out=` variants are last, and equal variants are ordered by family."""
    family_index = FAMILIES.index(record.family) if record.family in FAMILIES else len(FAMILIES)
    return record.variant == "out", family_index


def find(key: str) -> OperatorRecord | None:
    """Return the record whose name and overload are `key`, such as "aten::add.Tensor", or None if unknown."""
    _load_name(key.partition(".")[0])
    return _by_key.get(key)


def find_alias_target(record: OperatorRecord) -> OperatorRecord | None:
    """Return the record of which this record is an alias: the overload of `same_as` with equal parameters."""
    if not record.same_as:
        return None
    return next((r for r in records(record.same_as) if has_same_parameters(r, record)), None)


def lookup(name: str) -> tuple[Any, ...]:
    """Return the operators called `name`, in the order in which overload resolution tries them."""
    operators = _operators.get(name)
    if operators is None:
        overloads = [*(record.operator for record in records(name)), *prims.named(name)]
        operators = _operators.setdefault(name, _in_order(name, overloads))
    return operators


def lookup_for_python(name: str) -> tuple[Any, ...]:
    """Return the operators called `name` that calls from Python without the argument `out` may select.

    These are the operators with records, except `out=` variants, or the built-in operators if there are no
    such records. The other operators are not created.
    """
    overloads = [record.operator for record in records(name) if record.variant != "out"]
    return _in_order(name, overloads) if overloads else lookup(name)


def _in_order(name: str, overloads: list[Operator]) -> tuple[Operator, ...]:
    """Sort overloads in the order in which overload resolution tries them."""
    first = {overload: i for i, overload in enumerate(_orders.get(name, "").split())}
    return tuple(sorted(overloads, key=lambda o: first.get(o.overload or "-", len(first))))


def schemas(name: str) -> list[FunctionSchema]:
    """Return the schemas of all overloads of an operator, or an empty list for an unknown name."""
    return [operator.schema for operator in lookup(name)]


def operator(key: str) -> Operator | None:
    """Return the operator with the key `name.overload`, or None for an unknown key.

    If a record has this key, the operators of the other overloads are not created.
    """
    record = find(key)
    if record is not None:
        return record.operator
    name, _, overload = key.partition(".")
    return next((operator for operator in lookup(name) if operator.overload == overload), None)


def canonical(name: str) -> str:
    """Return the canonical operator name used by passes, e.g. `aten::abs` for the alias `aten::absolute`."""
    _load_name(name)
    return _same.get(name, name)


def function(name: str) -> Any:
    """Return a callable with all overloads of `aten::name`. Raise AttributeError for unknown names."""
    torch_function = resolve("torch_functions").torch_functions().get(name)
    if torch_function is not None:
        return torch_function
    if not records(f"aten::{name}"):
        raise missing_attribute("module 'ts'", name, lambda: dir(sys.modules["ts"]))
    return resolve("overload_set_by_name")(name)


def imported_function(name: str) -> Any:
    """Return the function of `aten::name`, or None for an unknown name or families that are not imported."""
    from ts.ops.op_index import families_of

    families = families_of(name)
    if not families or not all(f"ts.ops.{family}" in sys.modules for family in families):
        return None
    return function(name)


def names() -> Iterator[str]:
    """Return an iterator over operator names with records."""
    load()
    return iter(_records)


def python_names(where: str) -> list[str]:
    """Return the names of all operator functions of `ts` if `where` is "f", or of all tensor methods if "m".

    The names have no prefix `aten::`.
    """
    load()
    return [
        name[6:]
        for name, group in _records.items()
        if name.startswith("aten::")
        and not is_in_namespace(name[6:])
        and any(where in r.where for r in group)
        and (
            where == "f" or any("Tensor self" in r.schema_text or "Tensor(a" in r.schema_text for r in group)
        )
    ]


def _with_tensor_second(operator: Any) -> Any:
    """Return a tensor method that calls `operator` with the method's tensor as second argument."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if args:
            return operator(args[0], self, *args[1:], **kwargs)
        return operator(input=self, **kwargs)

    method.__name__ = operator.__name__
    method.__doc__ = "\n".join(record.schema_text for record in records(operator.name))
    return method
