"""Compare forward-mode derivatives with PyTorch's for the calls of OpInfo and print differences.

    python -m tests.pytorch_parity.opinfo_forward_mode 2 6        every sixth entry, from the third on

A separate program for the reasons of `opinfo_gradients`.
"""

import itertools
import sys
import warnings

import numpy as np
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db
import ts
from tests.pytorch_parity.gradients import Unfit, copy_argument, difference, function_of
from tests.pytorch_parity.opinfo_gradients import OTHER_KINDS, title

DIFFERENT = {
    "triangular_solve": "PyTorch's tangent reads the other triangle, too",
    "linalg.cholesky": "of the lower triangle, where PyTorch takes the mean of both",
    "linalg.cholesky_ex": "as linalg.cholesky",
    "cholesky_inverse": "PyTorch's formula is exact to 1e-5 only",
    "logcumsumexp": "PyTorch's formula is exact to 1e-6 only",
    "linalg.eigh": "the signs of eigenvectors are another LAPACK's",
    "linalg.eig": "the phases of eigenvectors are another LAPACK's",
    "nn.functional.rrelu": "the slopes are random",
}


def dual(x, library, number):
    """Return an argument with tangents for tensors that require grad; `number` seeds the tangents."""
    if isinstance(x, library.Tensor):
        if not x.requires_grad:
            return x
        direction = np.cos(np.arange(x.numel()) * 0.9 + next(number)).reshape(tuple(x.shape))
        tangent = library.from_numpy(np.asarray(direction)).to(x.dtype)
        return library.autograd.forward_ad.make_dual(x.detach(), tangent)
    if isinstance(x, dict):
        return {key: dual(item, library, number) for key, item in x.items()}
    return type(x)(dual(item, library, number) for item in x) if isinstance(x, list | tuple) else x


def tensors_in(x, library):
    if isinstance(x, library.Tensor):
        yield x
    elif isinstance(x, list | tuple | dict):
        for item in x.values() if isinstance(x, dict) else x:
            yield from tensors_in(item, library)


def tangents(library, name, args, options):
    """Return the tangents of the results, with None for results without a tangent."""
    args, options = copy_argument(args, library), copy_argument(options, library)
    library.manual_seed(0)
    with library.autograd.forward_ad.dual_level():
        args, options = dual((args, options), library, itertools.count(0.4))
        results = function_of(library, name, args[0])(*args, **options)
        return [library.autograd.forward_ad.unpack_dual(x).tangent for x in tensors_in(results, library)]


def compare(entry, dtype, max_samples):
    """Compare up to `max_samples` of the first twelve samples of an entry; return their number and the first
    difference."""
    torch.manual_seed(0)
    count = 0
    samples = list(itertools.islice(entry.sample_inputs("cpu", dtype, requires_grad=True), 12))
    for sample in samples[:: max(1, len(samples) // max_samples)]:
        args, options = [sample.input, *sample.args], dict(sample.kwargs)
        try:
            wanted = tangents(torch, entry.name, args, options)
            again = tangents(torch, entry.name, args, options)
            copy_argument([args, options], ts)
        except Unfit:
            continue
        except Exception:  # an invalid or not differentiable call
            continue
        if difference(wanted, again, 1e-6):
            continue
        count += 1
        try:
            found = tangents(ts, entry.name, args, options)
            message = difference(found, wanted, 1e-6)
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
        if message:
            return count, f"{message}: {str(args)[:200]} {str(options)[:200]}"
    return count, ""


def main(part, parts, samples):
    """Return the numbers of compared and of differing entries."""
    entries = [e for e in op_db if e.supports_forward_ad and not any(kind in e.name for kind in OTHER_KINDS)]
    compared = wrong = 0
    for entry in entries[part::parts]:
        if title(entry) in DIFFERENT:
            continue
        message, count = "", 0
        for dtype in (torch.float64, torch.complex128):
            if dtype in entry.dtypes and not message:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    more, message = compare(entry, dtype, samples)
                count += more
        compared += bool(count)
        if message:
            wrong += 1
            print(f"{title(entry)}: {message}", flush=True)
    return compared, wrong


if __name__ == "__main__":
    compared, wrong = main(*map(int, sys.argv[1:]))
    print(f"{compared} entries, {wrong} differ")
    sys.exit(bool(wrong) or not compared)
