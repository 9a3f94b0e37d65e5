"""The tables of vector mathematics: `python -m tests.vector_tables` writes `vector_tables.h` anew; tests/test_vector_math.py holds that it is current.

A function is cut into intervals, named by the first bits of its argument (to which something was added, so that the intervals are finest where it
changes most), and each has the polynomial that meets it at Chebyshev's points.  Computed in 60 digits, by `mpmath`, and rounded then.
"""

import struct
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path

import mpmath
import numpy as np

PAGE = Path(__file__).resolve().parents[1] / "backends/cpu/kernels/vector_tables.h"
HEAD = """/* Tables of `vector_math.h`: polynomials of functions in each of 32 (floats) or 16 (doubles) intervals, about the interval's middle.

   Coefficients are the constant, what its rounding lost, then those of the powers from the first on; intervals are in the order of the bits that name
   them.  Rows are coefficients, or intervals where AVX2 reads those (`vector_words.h`).  Interpolated at Chebyshev's points in 60 digits, by
   `python -m tests.vector_tables`. */

#ifndef TS_VECTOR_TABLES_H
#define TS_VECTOR_TABLES_H

#define ALIGNED static const __attribute__((aligned(64)))

"""
number = mpmath.mpf
Function = Callable[[mpmath.mpf], mpmath.mpf]
Column = list[mpmath.mpf]


class Floats:
    type, count, bits, bias, mantissa, whole, integer = np.float32, 32, 5, 127, 23, "<f", "<I"
    name = "float"


class Doubles:
    type, count, bits, bias, mantissa, whole, integer = np.float64, 16, 4, 1023, 52, "<d", "<Q"
    name = "double"


def by_x(f: Function, limit: Callable[[], mpmath.mpf]) -> Function:
    """f(x) / x"""
    return lambda x: f(x) / x if x else limit()


def erfinv_from_below(w: mpmath.mpf) -> mpmath.mpf:
    """erfinv(x) / x for w = -log(1 - x * x)."""
    if w <= 0:
        return mpmath.sqrt(mpmath.pi) / 2
    x = mpmath.sqrt(-mpmath.expm1(-w))
    return mpmath.erfinv(x) / x


ERF = by_x(mpmath.erf, lambda: 2 / mpmath.sqrt(mpmath.pi))
TANH = by_x(mpmath.tanh, lambda: number(1))


def erfcx(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.erfc(x) * mpmath.exp(x * x)


# name: (kind, function, powers of two, the first of them, what is added to the argument, the polynomial's degree)
TABLES = {
    "ERF": (Floats, ERF, 3, 0, 1, 5),
    "ERFCX": (Floats, erfcx, 4, 0, 1, 5),
    "TANH": (Floats, TANH, 4, 0, 1, 5),
    "GELU": (Floats, lambda x: mpmath.erfc(x / mpmath.sqrt(2)) * mpmath.exp(x * x / 2) / 2, 4, 0, 1, 5),
    "SOFTPLUS": (Floats, lambda x: mpmath.log1p(mpmath.exp(-x)) * mpmath.exp(x), 4, 0, 1, 5),
    "WIDE_ERFCX": (Doubles, erfcx, 4, 1, 2, 14),
    "WIDE_ERFINV": (Doubles, erfinv_from_below, 4, 2, 4, 12),
    "WIDE_ERF": (Doubles, lambda x: ERF(x / number(2.5)), 4, 0, 1, 14),
    "WIDE_TANH": (Doubles, lambda x: TANH(x / number(0.75)), 4, 0, 1, 14),
}


def interpolated(f: Function, low: mpmath.mpf, high: mpmath.mpf, degree: int) -> Column:
    """Coefficients of the powers of what x is above the middle, from the constant on."""
    n, middle, half = degree + 1, (low + high) / 2, (high - low) / 2
    angles = [mpmath.pi * (2 * k + 1) / (2 * n) for k in range(n)]
    values = [f(middle + half * mpmath.cos(a)) for a in angles]
    sums = [sum(v * mpmath.cos(j * a) for v, a in zip(values, angles, strict=True)) * 2 / n for j in range(n)]
    sums[0] /= 2
    powers, last, term = [number(0)] * n, [number(0)], [number(1)]  # term: Chebyshev's polynomial of the degree j
    for j, weight in enumerate(sums):
        for i, v in enumerate(term):
            powers[i] += weight * v
        after = [number(0)] + [v * (2 if j else 1) for v in term]
        for i, v in enumerate(last):
            after[i] -= v
        last, term = term, after
    return [v / half**i for i, v in enumerate(powers)]


def table(kind: type, f: Function, octaves: int, first: int, added: int, degree: int) -> list[Column]:
    """One column for each interval that occurs."""
    columns: list[Column] = [[number(0)] * (degree + 1) for _ in range(kind.count)]
    parts = 2 ** (3 if kind is Floats else 2)  # of a power of two
    for octave in range(octaves):
        for part in range(parts):
            low, high = (number(2) ** (first + octave) * (1 + number(p) / parts) - added for p in (part, part + 1))
            columns[(octave * parts + part + (kind.bias + first) * parts) % kind.count] = interpolated(f, low, high, degree)
    return columns


def erfinv_of_floats() -> list[Column]:
    """erfinv(x) / x by the exponent of 1 - x, which is 1 to 2 ** -24; that of 1 is 0's."""

    def in_octave(k: int) -> Function:
        def f(m: mpmath.mpf) -> mpmath.mpf:
            x = 1 - number(2) ** -k * m
            return mpmath.erfinv(x) / x if x else mpmath.sqrt(mpmath.pi) / 2

        return f

    columns = [[number(0)] * 9 for _ in range(32)]
    for k in range(1, 25):
        columns[(127 - k) & 31] = interpolated(in_octave(k), number(1), number(2), 8)
    columns[127 & 31][0] = mpmath.sqrt(mpmath.pi) / 2
    return columns


def gelu_near() -> Iterable[list[float]]:
    """Middles, values there and coefficients of erfc(x / sqrt(2)) * exp(x * x / 2) / 2, 5.75 intervals for 1: middles where values are nearly floats."""
    f, columns = TABLES["GELU"][1], []
    for i in range(32):
        about = np.float32(i / 5.75)
        near = [number(float(about)) + k * number(float(np.spacing(about))) for k in (range(-100, 101) if i else [0])]
        middle = min(near, key=lambda x: abs(f(x) - number(rounded(f(x), Floats))))
        low, high = ((i + number(k) / 2) / number(5.75) for k in (-1, 1))
        slopes = interpolated(slope_from(f, middle), low, high, 4)
        columns.append([middle, f(middle), *moved(slopes, middle - (low + high) / 2)])
    for k in range(len(columns[0])):
        yield [rounded(c[k], Floats) for c in columns]


def slope_from(f: Function, x: mpmath.mpf) -> Function:
    return lambda z: (f(z) - f(x)) / (z - x) if abs(z - x) > 1e-30 else mpmath.diff(f, x)


def moved(powers: Column, by: mpmath.mpf) -> Column:
    """A polynomial of x as one of x - by."""
    return [sum(mpmath.binomial(j, k) * powers[j] * by ** (j - k) for j in range(k, len(powers))) for k in range(len(powers))]


def rounded(x: mpmath.mpf, kind: type) -> float:
    return float(kind.type(float(x)))


def rows_of(columns: list[Column], kind: type) -> Iterable[list[float]]:
    constants = [rounded(c[0], kind) for c in columns]
    yield constants
    yield [rounded(c[0] - number(high), kind) for c, high in zip(columns, constants, strict=True)]
    for k in range(1, len(columns[0])):
        yield [rounded(c[k], kind) for c in columns]


def logarithms(kind: type, shift: int, bits_of_inverse: int, bits_of_log: int) -> Iterable[list[float]]:
    """1 / c for the middle c of each interval; its logarithm to the bases e, 2 and 10 in a part of few bits and what is left."""
    step = 1 << (kind.mantissa - kind.bits)
    start = (kind.bias << kind.mantissa) - step * (kind.count // 2 - shift) - step // 2
    inverses, logs = [], []
    for i in range(kind.count):
        low, high = (number(struct.unpack(kind.whole, struct.pack(kind.integer, start + k * step))[0]) for k in (i, i + 1))
        quantum = number(2) ** bits_of_inverse
        inverses.append(number(1) if low <= 1 < high else mpmath.nint(2 / (low + high) * quantum) / quantum)
        logs.append(-mpmath.log(inverses[-1]))
    yield [float(c) for c in inverses]
    for base in (mpmath.e, number(2), number(10)):
        values = [v / mpmath.log(base) for v in logs]
        quantum = number(2) ** bits_of_log
        high_parts = [mpmath.nint(v * quantum) / quantum for v in values]
        yield [float(h) for h in high_parts]
        yield [rounded(v - h, kind) for v, h in zip(values, high_parts, strict=True)]


def written(name: str, kind: type, rows: Iterable[list[float]]) -> str:
    """A table as C has it: rows of coefficients, then the same with rows of intervals."""

    def text(v: float) -> str:
        return repr(v) if kind is Doubles else str(np.float32(v)) + "f"

    def array(rows: list[list[float]], kind_of_row: str) -> str:
        lines = [
            textwrap.fill(", ".join(map(text, row)) + "},", 138, initial_indent="    {", subsequent_indent="     ", break_long_words=False,
                          break_on_hyphens=False)
            for row in rows
        ]  # fmt: skip
        return f"ALIGNED {kind.name} {name}[{len(lines)}][{kind_of_row}_CELLS] = {{\n" + "\n".join(lines) + "\n};\n"

    coefficients, word = list(rows), kind.name.upper()
    turned = [list(interval) for interval in zip(*coefficients, strict=True)]
    return f"#if TIER == 3\n{array(turned, word)}#else\n{array(coefficients, word)}#endif\n"


def page() -> str:
    """The text of `vector_tables.h`."""
    with mpmath.workdps(60):
        tables = [written(name, kind, rows_of(table(kind, *how), kind)) for name, (kind, *how) in TABLES.items()]
        tables.append(written("GELU_NEAR", Floats, gelu_near()))
        tables.append(written("ERFINV", Floats, rows_of(erfinv_of_floats(), Floats)))
        tables.append(written("LOG", Floats, logarithms(Floats, 1, 7, 16)))
        tables.append(written("WIDE_LOG", Doubles, logarithms(Doubles, 0, 9, 42)))
    return HEAD + "\n".join(tables) + "\n#endif\n"


if __name__ == "__main__":
    PAGE.write_text(page())
