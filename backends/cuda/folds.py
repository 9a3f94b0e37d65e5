"""What operators read of whole rows, as CUDA C++: from the texts of their records (`Record.cuda_rows`).

    sum(a) / n                                      a mean: a is each element of the row, n how many there are
    m = largest(a); exp(a - m) / sum(exp(a - m))    softmax

A statement but the last names a number of the row.  In each there may be one fold (`FOLDS`): of what stands
in it, for every element of the row.  The last gives the result: of the row, or of each element where it reads
a beside its fold.  All is computed in the dtype of the result, 16-bit floats in 32 bits.

Other names are those of the operator's arguments: numbers, None (`ts::word_None`), and tensors that have an
element for each of a row, which only the last statement reads.

The order in which elements are folded follows from the length of the row alone (`rowwise.py`), so a row has
the same bits wherever it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

FOLDS: Final = ("sum", "product", "largest", "smallest")
WARP: Final = 32
_FOLD = re.compile(rf"\b({'|'.join(FOLDS)})\(")
_WHOLE = re.compile(rf"(?:{'|'.join(FOLDS)})\(a\)")  # of integers: nothing that goes through floats

# Each thread folds elements of its own, then those of a warp that have the same row meet, then the warps.
SOURCE: Final = r"""
namespace ts {
template <class T> __device__ inline T end_of_all(bool highest) {
    const T infinity = (T)bits_to_float(0x7f800000u), minus = (T)-1;
    if ((T)0.5f != 0) return highest ? infinity : -infinity;
    const unsigned long long lowest = minus < 0 ? 1ull << (8 * sizeof(T) - 1) : 0;
    return (T)(highest ? ~lowest : lowest);
}
struct sum {
    template <class T> static __device__ inline T none() { return 0; }
    template <class T> static __device__ inline T of(T x, T y) { return x + y; }
};
struct product {
    template <class T> static __device__ inline T none() { return 1; }
    template <class T> static __device__ inline T of(T x, T y) { return x * y; }
};
struct largest {
    template <class T> static __device__ inline T none() { return end_of_all<T>(false); }
    template <class T> static __device__ inline T of(T x, T y) { return max(x, y); }
};
struct smallest {
    template <class T> static __device__ inline T none() { return end_of_all<T>(true); }
    template <class T> static __device__ inline T of(T x, T y) { return min(x, y); }
};
template <class F, int lanes, class T> __device__ inline T of_warp(T x) {
    for (int k = lanes / 2; k > 0; k /= 2) x = F::of(x, (T)__shfl_xor_sync(0xffffffffu, x, k));
    return x;
}
template <class F, int threads, class T> __device__ inline T of_threads(T x) {
    x = of_warp<F, threads < 32 ? threads : 32>(x);
    if (threads > 32) {
        __shared__ T found[threads / 32 + 1];  // not of 0 elements, where nobody comes here
        __syncthreads();
        if (threadIdx.x % 32 == 0) found[threadIdx.x / 32] = x;
        __syncthreads();
        const int lane = threadIdx.x % 32;
        x = of_warp<F, 32>(lane < threads / 32 ? found[lane] : F::template none<T>());
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
    """`name = value`, where `fold_K` in the value stands for a fold of `each`."""

    name: str  # "": the result
    fold: str  # "": none
    each: str
    value: str


@dataclass(frozen=True)
class Folded:
    """A text, understood."""

    statements: tuple[Statement, ...]
    folds: tuple[str, ...]  # one after the other
    by_element: bool  # whether each element of a row has a result


@cache
def parsed(text: str) -> Folded:
    """What a text says; ValueError where it is none."""
    found: list[Statement] = []
    folds: list[str] = []
    parts = [part.strip() for part in text.split(";")]
    for part in parts:
        named = re.fullmatch(r"(\w+) = (.+)", part)
        name, value = (named[1], named[2]) if named else ("", part)
        fold, each = "", ""
        if start := _FOLD.search(value):
            fold, end = start[1], _closing(value, start.end())
            each = value[start.end() : end]
            value = f"{value[: start.start()]}fold_{len(folds)}{value[end + 1 :]}"
            folds.append(fold)
        is_last = len(found) == len(parts) - 1
        if bool(name) == is_last or _FOLD.search(each + value) or (name and names("a", value)):
            raise ValueError(f"not a statement about a row: {part!r} of {text!r}")
        found.append(Statement(name, fold, each, value))
    if not folds:
        raise ValueError(f"nothing is read of the row: {text!r}")
    return Folded(tuple(found), tuple(folds), names("a", found[-1].value))


def names(name: str, text: str) -> bool:
    """Whether a name stands in a text."""
    return re.search(rf"\b{name}\b", text) is not None


def is_whole(text: str) -> bool:
    """Whether a text means the same in integers."""
    return _WHOLE.fullmatch(text) is not None


def _closing(text: str, at: int) -> int:
    """Where the parenthesis closes that is open at a place."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at - 1


def split(text: str) -> tuple[str, str] | None:
    """A text for a part of a row, and one for the results of its parts; None where it needs all of the row.

    >>> split("sqrt(sum(a * a) / n)")
    ('sum(a * a)', 'sqrt(sum(a) / n)')
    """
    folded = parsed(text)
    if folded.by_element or len(folded.folds) > 1:
        return None
    first = next(s for s in folded.statements if s.fold)
    whole = f"{first.fold}({first.each})"
    return whole, text.replace(whole, f"{first.fold}(a)")


def structure(
    name: str, text: str, compute: str, fields: dict[str, str], columns: dict[str, str]
) -> Iterator[str]:
    """A struct with the numbers of a row: the K-th fold reads `each_K(a)`, `found_K` takes what it gives.

    `compute` is the type that it computes in, `fields` are the types of the operator's arguments, `columns`
    those of the elements of tensors among them.
    """
    folded = parsed(text)
    known = [s.name for s in folded.statements if s.name] + [f"fold_{k}" for k in range(len(folded.folds))]
    yield f"struct {name} {{"
    yield f"    {compute} n, {', '.join(known)};"
    yield from (f"    {kind} {field};" for field, kind in fields.items())
    yield from (f"    const {kind} *of_{field};" for field, kind in columns.items())
    count, after = 0, [""]
    for statement in folded.statements:
        if statement.fold:
            head = f"__device__ inline {compute} each_{count}(const {compute} a) const"
            yield f"    {head} {{ return {statement.each}; }}"
            after.append(f"fold_{count} = x;")
            count += 1
        if statement.name:
            after[count] += f" {statement.name} = {statement.value};"
    after[1] = after[0] + after[1]
    for k in range(count):
        yield f"    __device__ inline void found_{k}(const {compute} x) {{ {after[k + 1]} }}"
    yield f"    __device__ inline {compute} result(const {compute} a, const long long j) const {{"
    yield from (f"        const {compute} {field} = ({compute})loaded(of_{field}[j]);" for field in columns)
    yield f"        return {folded.statements[-1].value};"
    yield "    }"
    yield "};"
