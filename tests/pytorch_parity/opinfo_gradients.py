"""Compare gradients with PyTorch's for the calls of OpInfo and print differences.

    python -m tests.pytorch_parity.opinfo_gradients 2 6        every sixth entry, from the third on

A separate program, because importing the database changes settings of PyTorch and its traces.
"""

import sys
import warnings

import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db
from tests.pytorch_parity import gradients

OTHER_KINDS = ("sparse.", "chalf", "jiterator", "__rdiv__", "to_sparse", "_segment_reduce", "jagged")
DIFFERENT = {
    "cholesky_inverse": "ours are of the triangle that is read, PyTorch's of a whole matrix",
    "as_strided_scatter": "PyTorch's gradient lies where the elements were overwritten",
    "linalg.eigh": "the signs of eigenvectors, by the upper triangle, are another LAPACK's",
}


def title(entry):
    return f"{entry.name}.{entry.variant_test_name}" if entry.variant_test_name else entry.name


def main(part, parts, samples):
    """Return the number of compared calls and the number of entries that differ."""
    entries = [e for e in op_db if e.supports_autograd and not any(kind in e.name for kind in OTHER_KINDS)]
    calls = wrong = 0
    for entry in entries[part::parts]:
        for dtype in (torch.float64, torch.complex128):
            if entry.name in DIFFERENT or dtype not in entry.dtypes:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                count, message = gradients.compare(entry, dtype, samples)
            calls += count
            if message:
                wrong += 1
                print(f"{title(entry)} {dtype}: {message}")
    return calls, wrong


if __name__ == "__main__":
    calls, wrong = main(*map(int, sys.argv[1:]))
    print(f"{calls} calls, {wrong} entries differ")
    sys.exit(bool(wrong) or not calls)
