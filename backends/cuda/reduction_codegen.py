"""CUDA C++ for row reductions by warp shuffles, generated from row expressions (`OperatorRecord.cuda_rows`).

In a row expression, `a` is an element of the row and `n` the number of elements. Examples of expressions and
their operators:

    sum(a) / n                                      mean
    m = largest(a); exp(a - m) / sum(exp(a - m))    softmax

Each statement except the last assigns a scalar for the row. The last statement gives one result per row. If
it reads `a` outside of its reduction, it gives one result per element. A statement contains at most one
reduction (`REDUCTIONS`).

Other names are arguments of the operator: numbers, None (`ts::word_None`), and tensors with the shape of a
row. Only the last statement may read such a tensor. 16-bit floats are computed in 32 bits. The order of
additions depends only on the length of the row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

REDUCTIONS: Final = ("sum", "product", "largest", "smallest")
WARP_THREADS: Final = 32
_REDUCTION_CALL = re.compile(rf"\b({'|'.join(REDUCTIONS)})\(")
# matches row expressions that are exact for integers
_INTEGER_EXACT = re.compile(rf"(?:{'|'.join(REDUCTIONS)})\(a\)")

# A reduction first combines the elements that each thread has read, then the results of the threads of a warp
# that process the same row, then the results of the warps of a block.
REDUCTION_PREAMBLE: Final = r"""
namespace ts {
template <class T> __device__ inline T limit_of_type(bool highest) {
    const T infinity = (T)bits_to_float(0x7f800000u), minus = (T)-1;
    if ((T)0.5f != 0) return highest ? infinity : -infinity;
    const unsigned long long lowest = minus < 0 ? 1ull << (8 * sizeof(T) - 1) : 0;
    return (T)(highest ? ~lowest : lowest);
}
struct sum {
    template <class T> static __device__ inline T identity() { return 0; }
    template <class T> static __device__ inline T combine(T x, T y) { return x + y; }
};
struct product {
    template <class T> static __device__ inline T identity() { return 1; }
    template <class T> static __device__ inline T combine(T x, T y) { return x * y; }
};
struct largest {
    template <class T> static __device__ inline T identity() { return limit_of_type<T>(false); }
    template <class T> static __device__ inline T combine(T x, T y) { return max(x, y); }
};
struct smallest {
    template <class T> static __device__ inline T identity() { return limit_of_type<T>(true); }
    template <class T> static __device__ inline T combine(T x, T y) { return min(x, y); }
};
template <class F, int lanes, class T> __device__ inline T reduce_warp(T x) {
    for (int k = lanes / 2; k > 0; k /= 2) x = F::combine(x, (T)__shfl_xor_sync(0xffffffffu, x, k));
    return x;
}
template <class F, int threads, class T> __device__ inline T reduce_threads(T x) {
    x = reduce_warp<F, threads < 32 ? threads : 32>(x);
    if (threads > 32) {
        __shared__ T partial[threads / 32 + 1];  // an array of 0 elements does not compile
        __syncthreads();
        if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x;
        __syncthreads();
        const int lane = threadIdx.x % 32;
        x = reduce_warp<F, 32>(lane < threads / 32 ? partial[lane] : F::template identity<T>());
    }
    return x;
}
template <class T> __device__ inline T finite_or_0(T x) { return isfinite(x) ? x : 0; }
template <class T> __device__ inline T or_epsilon(T x, T) { return x; }
template <class T> __device__ inline T or_epsilon(word_None, T) {
    return sizeof(T) == 8 ? (T)2.220446049250313e-16 : (T)1.1920928955078125e-07f;
}
template <class T> __device__ inline T times(T x, T y) { return x * y; }
template <class T> __device__ inline T times(T x, word_None) { return x; }
template <class T> __device__ inline T plus(T x, T y) { return x + y; }
template <class T> __device__ inline T plus(T x, word_None) { return x; }
}
"""


@dataclass(frozen=True)
class Statement:
    """Statement `name = value` of a row expression.

    `reduction` is the function that reduces the expression `each` over the elements of the row. In `value`,
    the name `reduction_K` is the result of the K-th reduction of the row expression.
    """

    # name of the variable that the statement assigns, or "" for the last statement, which is the result
    name: str
    reduction: str  # function that reduces a row, or "" if the statement has none
    each: str
    value: str


@dataclass(frozen=True)
class ParsedReduction:
    """A row expression, split into statements and reductions."""

    statements: tuple[Statement, ...]
    reductions: tuple[str, ...]  # names of the reductions in the order of evaluation
    is_elementwise: bool  # True if the result has one value per element of the row


@cache
def parse_row_expression(expression: str) -> ParsedReduction:
    """Parse a row expression, or raise ValueError if it is malformed."""
    statements: list[Statement] = []
    reductions: list[str] = []
    sources = [source.strip() for source in expression.split(";")]
    for source in sources:
        assignment = re.fullmatch(r"(\w+) = (.+)", source)
        name, value = (assignment[1], assignment[2]) if assignment else ("", source)
        reduction, each = "", ""
        if start := _REDUCTION_CALL.search(value):
            reduction, end = start[1], _closing_parenthesis(value, start.end())
            each = value[start.end() : end]
            value = f"{value[: start.start()]}reduction_{len(reductions)}{value[end + 1 :]}"
            reductions.append(reduction)
        is_last = len(statements) == len(sources) - 1
        if (
            bool(name) == is_last
            or _REDUCTION_CALL.search(each + value)
            or (name and contains_name("a", value))
        ):
            raise ValueError(f"not a statement of a row expression: {source!r} in {expression!r}")
        statements.append(Statement(name, reduction, each, value))
    if not reductions:
        raise ValueError(f"row expression without a reduction: {expression!r}")
    return ParsedReduction(tuple(statements), tuple(reductions), contains_name("a", statements[-1].value))


def contains_name(name: str, expression: str) -> bool:
    """Return whether `name` occurs in an expression."""
    return re.search(rf"\b{name}\b", expression) is not None


def is_integer_exact(expression: str) -> bool:
    """Return whether a row expression is a single reduction such as "sum(a)", so it is exact for integers."""
    return _INTEGER_EXACT.fullmatch(expression) is not None


def _closing_parenthesis(expression: str, at: int) -> int:
    """Return the index of the ")" for the "(" at index `at` - 1."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(expression[at], 0)
        at += 1
    return at - 1


def split_reduction(expression: str) -> tuple[str, str] | None:
    """Split a row expression in two: one reduces a chunk of a row, one combines the results of chunks.

    Return None if the expression has several reductions, or one result per element.

    >>> split_reduction("sqrt(sum(a * a) / n)")
    ('sum(a * a)', 'sqrt(sum(a) / n)')
    """
    parsed = parse_row_expression(expression)
    if parsed.is_elementwise or len(parsed.reductions) > 1:
        return None
    first = next(s for s in parsed.statements if s.reduction)
    reduction_call = f"{first.reduction}({first.each})"
    return reduction_call, expression.replace(reduction_call, f"{first.reduction}(a)")


def emit_struct(
    name: str, expression: str, compute: str, fields: dict[str, str], columns: dict[str, str]
) -> Iterator[str]:
    """Yield the lines of a struct that evaluates a row expression.

    The struct has these methods:

        each_K(a)             the argument of the K-th reduction, for an element
        set_reduction_K(x)    stores the result of this reduction, evaluates the statements up to the next one
        result(a, j)          the result of the expression

    `compute` is the compute dtype. `fields` has the types of scalar arguments, `columns` the element types of
    tensor arguments.
    """
    parsed = parse_row_expression(expression)
    members = [s.name for s in parsed.statements if s.name] + [
        f"reduction_{k}" for k in range(len(parsed.reductions))
    ]
    yield f"struct {name} {{"
    yield f"    {compute} n, {', '.join(members)};"
    yield from (f"    {kind} {field};" for field, kind in fields.items())
    yield from (f"    const {kind} *of_{field};" for field, kind in columns.items())
    count, updates = 0, [""]
    for statement in parsed.statements:
        if statement.reduction:
            signature = f"__device__ inline {compute} each_{count}(const {compute} a) const"
            yield f"    {signature} {{ return {statement.each}; }}"
            updates.append(f"reduction_{count} = x;")
            count += 1
        if statement.name:
            updates[count] += f" {statement.name} = {statement.value};"
    updates[1] = updates[0] + updates[1]
    for k in range(count):
        yield f"    __device__ inline void set_reduction_{k}(const {compute} x) {{ {updates[k + 1]} }}"
    yield f"    __device__ inline {compute} result(const {compute} a, const long long j) const {{"
    yield from (f"        const {compute} {field} = ({compute})loaded(of_{field}[j]);" for field in columns)
    yield f"        return {parsed.statements[-1].value};"
    yield "    }"
    yield "};"
