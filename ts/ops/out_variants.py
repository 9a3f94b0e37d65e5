"""Writing results into existing tensors, for in-place operators and `out=`.

The function `write_out` casts a result to the dtype of the target, and writes it to the target. The
categories of dtypes are bool < integer < floating < complex. The category of the target must not be lower
than that of the result. If the shapes differ, `write_out` returns a new array, which replaces the array of
the `out=` tensor.

Some operators reject every `out=` tensor of another dtype. The field `out_dtype_error` of their record
contains the error text:

    write_out(np, np.zeros(2), np.array([1, 2]))                         # array([1., 2.])
    write_out(np, np.zeros(2), np.array([1, 2]), EXPECTED_DTYPE_ERROR)   # RuntimeError: Expected out ...

The function `make_out_spec` derives the schema of the `out=` variant, and `into_outputs` derives its kernel.
The variant has no factory options (dtype, layout, device), because the output determines them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ts._core.late_binding import resolve
from ts._core.tensor import strides
from ts._core.thread.warnings import warn
from ts.ops import common

# Error texts that many operators use, with placeholders for dtypes (`common.dtype_message`).
EXPECTED_DTYPE_ERROR: Final = "Expected out tensor to have dtype {want_cpp}, but got {got_cpp} instead"
FOUND_DTYPE_ERROR: Final = "Found dtype {got} but expected {want}"
SCALAR: Final = "expected scalar type {want} but found {got}"


OF_INPUT: Final = (
    "torch.histogram: input tensor and hist tensor should have the same dtype, but got input {want_cpp} and "
    "hist {got_cpp}"
)


def castable(name: str, source: str = "result") -> str:
    """Return the error text of a linear algebra operator for an `out=` dtype that cannot hold the result."""
    dtypes = f"from {{want}} dtype, but got {source} with dtype {{got}}"
    return f"{name}: Expected {source} to be safely castable {dtypes}"


class TypeErrorMessage(str):
    """Error text that is raised as TypeError. Error texts of class `str` are raised as RuntimeError."""


class CategoryErrorMessage(str):
    """Error text for an output whose dtype category differs from that of the result, even if it is higher."""


class ComplexErrorMessage(str):
    """Error text for real outputs. The attribute `of_complex` is the text for complex outputs."""

    of_complex: str

    def __new__(cls, message: str, of_complex: str) -> ComplexErrorMessage:
        """Return the text `message`, with the text `of_complex` as attribute."""
        instance = super().__new__(cls, message)
        instance.of_complex = of_complex
        return instance


class DtypeErrorUnlessUint8(str):
    """Error text for outputs whose dtype differs from the result's, except uint8 outputs of bool results."""


# Rules for an `out=` tensor whose shape differs from the result's: its new strides, and warnings
LIKE_RESULT: Final = ""  # memory order of the result, and a warning if the output was not empty
IN_ORDER: Final = "in order"  # row-major order, and a warning if the output was not empty
SILENTLY: Final = "silently"  # row-major order, without a warning
BY_COUNT: Final = "by count"  # like `SILENTLY`, but an output with an equal element count is not resized
COUNTED: Final = "counted"  # like `BY_COUNT`, with a warning if the element counts differ
NEVER: Final = "never"  # the output is never resized, and the result is copied like `copy_`


ErrorTexts = str | tuple[str, ...]  # one error text for all outputs, or one text per output


class Rule:
    """Requirements for an `out=` tensor, from the fields of the operator's record."""

    __slots__ = ("cast_error", "dtype_error", "resized")

    def __init__(self, dtype_error: str = "", cast_error: str = "", resized: str = LIKE_RESULT) -> None:
        self.dtype_error = dtype_error  # error text for an output dtype that differs from the result's
        self.cast_error = cast_error  # error text for an output dtype to which the result cannot be cast
        self.resized = resized


def rules_of(count: int, dtype_error: ErrorTexts, cast_error: ErrorTexts, resized: str) -> tuple[Rule, ...]:
    """Return one rule per output.

    `dtype_error` and `cast_error` are each one text for all outputs, or a tuple with one text per output.
    """
    first, second = ((x,) * count if isinstance(x, str) else x for x in (dtype_error, cast_error))
    return tuple(Rule(a, b, resized) for a, b in zip(first, second, strict=True))


CAST: Final = Rule()
SILENT: Final = Rule(resized=SILENTLY)

# Record fields for operators whose `out=` variant computes a new result in PyTorch and copies it to `out`
COPIED: Final[dict[str, Any]] = {"out_dtype_error": EXPECTED_DTYPE_ERROR, "out_resized": IN_ORDER}
COPIED_OUT: Final[dict[str, Any]] = {"out": "out", **COPIED}
SAME_DTYPE_OUT: Final[dict[str, Any]] = {"out": "out", "out_dtype_error": EXPECTED_DTYPE_ERROR}
# Record fields for operators that PyTorch computes by TensorIterator. TensorIterator has another error text
# for a wrong `out=` dtype than other kernels
POINTWISE_OUT: Final[dict[str, Any]] = {"out": "out", "out_dtype_error": FOUND_DTYPE_ERROR}

# Schema text of the factory options, which `out=` variants do not have.
OPTIONS: Final = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
_CODE: Final = "ScalarType? dtype=None"


def write(xp: Any, target: Any, result: Any, dtype_error: str = "") -> Any:
    """Copy `result` into `target`, for in-place operators.

    If the dtypes differ, raise an error with the text `dtype_error`, or cast `result` if this text is empty.
    """
    result = xp.asarray(result)
    _check_dtype(result.dtype, target.dtype, Rule(dtype_error))
    if result.shape != target.shape:
        raise _shape_error(target, result)
    target[...] = common.cast(xp, result, target.dtype)
    return target


def write_out(xp: Any, target: Any, result: Any, rule: Rule = CAST) -> Any:
    """Copy `result` into `target` and return `target`, or a new array if the shapes differ."""
    result = xp.asarray(result)
    if rule.resized == NEVER:
        if common.broadcast_shapes(target.shape, result.shape) != target.shape:
            raise _shape_error(target, result)
        target[...] = common.cast(xp, result, target.dtype)
        return target
    _check_dtype(result.dtype, target.dtype, rule)
    if result.shape != target.shape:
        if rule.resized in (BY_COUNT, COUNTED) and result.size == target.size:
            result = result.reshape(target.shape)
        else:
            if rule.resized == COUNTED and target.size:
                shape = f"({result.size},)" if result.size != 1 else "(1,)"
                warn(
                    f"The number of elements in the out tensor of shape {list(target.shape)} is "
                    f"{target.size} which does not match the computed number of elements {result.size}. "
                    "Note that this may occur as a result of rounding error. The out tensor will be "
                    f"resized to a tensor of shape {shape}."
                )
            target = resized_output(target, result, rule.resized)
    target[...] = common.cast(xp, result, target.dtype)
    return target


def write_changes(xp: Any, target: Any, result: Any) -> Any:
    """Copy `result` into `target` like `write`. If a stride of `target` is 0, write changed elements only."""
    result = xp.asarray(result)
    if xp.shapes_only or result.shape != target.shape or all(target.strides):
        return write(xp, target, result)
    common.check_cast(result.dtype, target.dtype)
    changed = result != target
    target[changed] = common.cast(xp, result[changed], target.dtype)
    return target


def _shape_error(target: Any, result: Any) -> RuntimeError:
    shapes = list(target.shape), list(result.shape)
    return RuntimeError("output with shape {} doesn't match the broadcast shape {}".format(*shapes))


def _check_dtype(result_dtype: common.DType, output_dtype: common.DType, rule: Rule) -> None:
    """Raise the rule's error if a `result_dtype` result cannot be cast to `output_dtype`."""
    if result_dtype == output_dtype:
        return
    message = ""
    if not (isinstance(rule.dtype_error, DtypeErrorUnlessUint8) and output_dtype == common.UINT8):
        message = rule.dtype_error
        if isinstance(message, ComplexErrorMessage) and common.is_complex(output_dtype):
            message = message.of_complex
    higher = (
        isinstance(rule.cast_error, CategoryErrorMessage)
        and common.CATEGORY_OF[output_dtype] != common.CATEGORY_OF[result_dtype]
    )
    if not message and (higher or not common.can_cast(result_dtype, output_dtype)):
        message = rule.cast_error
    if message:
        error = TypeError if isinstance(message, TypeErrorMessage) else RuntimeError
        raise error(common.dtype_message(message, result_dtype, output_dtype))
    common.check_cast(result_dtype, output_dtype)


def resized_output(target: Any, result: Any, resize_rule: str = LIKE_RESULT) -> Any:
    """Return `target` resized to the shape of `result`, by a rule such as `LIKE_RESULT`."""
    shape = tuple(result.shape)
    if resize_rule == LIKE_RESULT:
        order = strides.preserve_format_strides(
            shape, [step // result.dtype.itemsize for step in result.strides]
        )
    else:
        order = strides.contiguous(shape)
    if target.size and resize_rule in (LIKE_RESULT, IN_ORDER):
        warn(
            f"An output with one or more elements was resized since it had shape {list(target.shape)}, "
            f"which does not match the required output shape {list(shape)}. This behavior is deprecated, "
            "and in a future PyTorch release outputs will not be resized unless they have zero elements. "
            "You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with "
            "t.resize_(0)."
        )
    item = target.dtype.itemsize
    return resolve("storage").resized(target, shape, [step * item for step in order])


# ------------------------------------------------------------------------------------ derived `out=` variants


class OutVariantSpec:
    """Schema of an operator's `out=` variant, and how its arguments map to those of the base schema."""

    __slots__ = ("dtype_at", "is_list", "options_at", "outputs", "schema_text")

    def __init__(self, schema_text: str, outputs: int, is_list: bool, options_at: int, dtype_at: int) -> None:
        self.schema_text = schema_text
        self.outputs = outputs  # number of output arguments
        self.is_list = is_list  # True if the output is a list of tensors
        self.options_at = options_at  # index of the first factory option in the base schema, or -1
        self.dtype_at = dtype_at  # index of the parameter `dtype` in the base schema, or -1


def _output_names(returns: str, overload: str) -> list[str]:
    """Return the default names of the outputs for results `returns` of a schema."""
    if not returns.startswith("("):
        return ["grad_input" if overload == "grad_input" else "out"]
    names = [result.partition(" ")[2] for result in returns.strip("()").split(", ")]
    return names if all(names) else [f"out{i}" for i in range(len(names))]


def make_out_spec(schema: str, overload: str, names: str, unnamed: bool = False) -> OutVariantSpec:
    """Return the schema of the `out=` variant of `schema`.

    names    names of the outputs, separated by commas: "out,save_mean". A prefix sets the alias annotation
             if it differs from a, b, c ...: "d:out,e:save_mean". If empty, the outputs have the names of the
             results, or "out0", "out1" ... for results without names. A single output has the name "out" or
             "grad_input"
    unnamed  True if the results of the variant have no names
    """
    head, _, rest = schema.partition("(")
    arguments, _, returns = rest.rpartition(") -> ")
    marked_names = [name.rpartition(":") for name in names.split(",") if name]
    marked_names = marked_names or [("", "", name) for name in _output_names(returns, overload)]
    outputs = [(mark or "abcdefgh"[i], name) for i, (mark, _, name) in enumerate(marked_names)]
    is_list = returns == "Tensor[]"
    parameters = arguments.split(", ")
    options_at = [x for x in parameters if x != "*"].index(_CODE) if OPTIONS in arguments else -1
    if options_at >= 0:
        parameters = arguments.replace(OPTIONS, "").strip(", ").replace("*, , ", "*, ").split(", ")
        parameters = [x for x in parameters if x]
    if "*" not in parameters:
        parameters.append("*")
    types = [f"Tensor({mark}!)" + "[]" * is_list for mark, _ in outputs]
    declared = [f"{mark} {name}" for mark, (_, name) in zip(types, outputs, strict=True)]
    return_names = (
        [r.partition(" ")[2] for r in returns.strip("()").split(", ")] if len(outputs) > 1 else [""]
    )
    return_names = [""] * len(outputs) if unnamed else return_names
    results = ", ".join(f"{mark} {name}".strip() for mark, name in zip(types, return_names, strict=True))
    if is_list:
        results = "()"
    elif len(outputs) > 1:
        results = f"({results})"
    plain = [x for x in parameters if x != "*"]
    return OutVariantSpec(
        f"{head.partition('.')[0]}.{overload}({', '.join(filter(None, (*parameters, *declared)))})"
        f" -> {results}",
        len(outputs),
        is_list,
        options_at,
        plain.index(_CODE) if _CODE in plain else -1,
    )


def into_outputs(
    compute: Callable[..., Any], out_spec: OutVariantSpec, each: Sequence[Rule], computes_in_out: bool
) -> Callable[..., Any]:
    """Return the kernel of an `out=` variant: it calls `compute` and writes each result by its rule."""
    rule = each[0]

    def kernel(xp: Any, *args: Any) -> Any:
        arguments, outputs = list(args[: -out_spec.outputs]), args[-out_spec.outputs :]
        if out_spec.options_at >= 0:
            arguments[out_spec.options_at : out_spec.options_at] = (
                common.CODE_OF[outputs[0].dtype],
                None,
                None,
                None,
            )
        elif computes_in_out and arguments[out_spec.dtype_at] is None:
            arguments[out_spec.dtype_at] = common.CODE_OF[outputs[0].dtype]
        result = compute(xp, *arguments)
        if out_spec.is_list:
            return _write_list(xp, out_spec, outputs[0], result, rule)
        if out_spec.outputs > 1:
            return tuple(write_out(xp, *row) for row in zip(outputs, result, each, strict=True))
        (out,) = outputs
        if result.shape != out.shape and any(x is out for x in arguments):
            raise _shape_error(out, result)
        return write_out(xp, out, result, rule)

    return kernel


def _write_list(
    xp: Any, out_spec: OutVariantSpec, outputs: list[Any], results: list[Any], rule: Rule
) -> list[Any]:
    """Copy results into a list of outputs. Raise RuntimeError if the lengths differ."""
    if len(outputs) != len(results):
        name = out_spec.schema_text.partition("::")[2].partition("(")[0].replace(".", "_")
        raise RuntimeError(
            f"{name} expected an out= argument of size {len(results)}, got size {len(outputs)}"
        )
    return [write_out(xp, *pair, rule) for pair in zip(outputs, results, strict=True)]
