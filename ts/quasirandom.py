"""Sobol sequences (quasi-random, low-discrepancy sequences) for quasi-Monte Carlo integration.

The points of a Sobol sequence fill the unit cube more evenly than random points. The example returns the
first 8 points as a tensor (8, 3). The next call of `draw` continues the sequence:

    engine = SobolEngine(dimension=3, scramble=True, seed=1)
    engine.draw(8)

The direction numbers of Joe and Kuo are read from SciPy's data file.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import ts
from ts._core.tensor.tensor import Tensor

_BITS: Final = 30
_DIMENSIONS: Final = 21201
Numbers = NDArray[np.int64]


class SobolEngine:
    """Generator of Sobol sequences, which can be scrambled."""

    MAXBIT: Final = _BITS
    MAXDIM: Final = _DIMENSIONS

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= _DIMENSIONS:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {_DIMENSIONS}]")
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        directions = _directions(dimension)
        self.shift: Tensor = ts.zeros(dimension, dtype=ts.long)
        if scramble:
            directions = self._scramble(directions)
        self.sobolstate: Tensor = ts.from_numpy(directions)
        self.quasi: Tensor = self.shift.clone()
        self.num_generated = 0

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """Return the next `n` points as a tensor (n, dimension)."""
        if n < 0:
            shape = [n, self.dimension]
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {shape}")
        sequence = self._advance(n)
        target_dtype = ts.get_default_dtype() if dtype is None else dtype
        points: Tensor = ts.from_numpy(sequence / 2.0**_BITS).to(target_dtype)
        if out is None:
            return points
        out.resize_(points.shape).copy_(points)
        return out

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """Return the next 2**m points. The total number of points must be a power of 2."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. "
                "If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n, out, dtype)

    def reset(self) -> SobolEngine:
        """Restart the sequence at its first point."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Skip the next `n` points (jump ahead)."""
        if n > 0:
            self._advance(n)
        return self

    def _advance(self, n: int) -> Numbers:
        """Return the next `n` points in Gray code order as 30-bit integers, and advance the state.

        Each point is the XOR of the previous point and one direction number per dimension.
        """
        first = self.num_generated
        flips = self.sobolstate.numpy()[:, _lowest_zero_bits(max(first - 1, 0), n - (first == 0))]
        start = self.quasi.numpy()
        points = np.bitwise_xor.accumulate(np.concatenate((start[:, None], flips), axis=1), axis=1)
        if n:
            self.quasi = ts.from_numpy(points[:, -1].copy())
        self.num_generated += n
        return points[:, points.shape[1] - n :].T

    def _scramble(self, directions: Numbers) -> Numbers:
        """Scramble the sequence (linear matrix scrambling, digital shift).

        Set `shift` to random digital shifts. Return the direction numbers, multiplied by random triangular
        matrices of bits.
        """
        generator = ts.Generator()
        if self.seed is None:
            generator = ts.default_generator
        else:
            generator.manual_seed(self.seed)
        bits = ts.randint(2, (self.dimension, _BITS), generator=generator)
        self.shift = (bits * 2 ** ts.arange(_BITS)).sum(-1)
        random_bits = ts.randint(2, (self.dimension, _BITS, _BITS), generator=generator).tril()
        matrices = random_bits.numpy()
        matrices[:, range(_BITS), range(_BITS)] = 1
        bit_positions = np.arange(_BITS - 1, -1, -1)  # row 0 and column 0 correspond to the highest bit
        columns = (directions[:, None, :] >> bit_positions[:, None]) & 1
        result: Numbers = ((matrices @ columns & 1) << bit_positions[:, None]).sum(1)
        return result

    def __repr__(self) -> str:
        options = [f"dimension={self.dimension}"]
        options += ["scramble=True"] if self.scramble else []
        options += [] if self.seed is None else [f"seed={self.seed}"]
        return f"{type(self).__name__}({', '.join(options)})"


def _lowest_zero_bits(start: int, n: int) -> Numbers:
    """Return the index of the lowest zero bit of each of the numbers `start` to `start + n - 1`."""
    indices = np.arange(start, start + max(n, 0), dtype=np.int64)
    lowest = ~indices & (indices + 1)
    positions: Numbers = np.round(np.log2(lowest)).astype(np.int64)
    return positions


def _directions(dimension: int) -> Numbers:
    """Return the direction numbers of each dimension, extended by the recurrence of the polynomials."""
    polynomials, first = _table()
    result = np.ones((dimension, _BITS), np.int64)
    for d in range(1, dimension):
        polynomial = int(polynomials[d])
        degree = polynomial.bit_length() - 1
        directions = [int(x) for x in first[d, :degree]]
        for j in range(degree, _BITS):
            direction = directions[j - degree] ^ (directions[j - degree] << degree)
            for k in range(1, degree):
                if polynomial >> (degree - k) & 1:
                    direction ^= directions[j - k] << k
            directions.append(direction)
        result[d] = directions
    shifted: Numbers = result << np.arange(_BITS - 1, -1, -1)
    return shifted


@cache
def _table() -> tuple[Numbers, Numbers]:
    """Return the Sobol polynomials and the initial direction numbers."""
    with resources.files("scipy.stats").joinpath("_sobol_direction_numbers.npz").open("rb") as file:
        arrays = np.load(file)
        return arrays["poly"], arrays["vinit"]
