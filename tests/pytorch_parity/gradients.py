"""Compare first- and second-order gradients of `ts` and PyTorch for the calls of OpInfo.

Input: an OpInfo entry and a dtype. Output: the difference between the gradients of `ts` and PyTorch, or "".

The differentiated sums have cosine weights, because symmetric weights would hide errors.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

import ts



class Unfit(Exception):
    """Error for calls without a counterpart in the other library or without gradients in PyTorch."""


def function_of(library: Any, name: str, first: Any) -> Callable[..., Any]:
    """Return the function of an OpInfo name, or the method of the first argument."""
    leaf = name.rpartition(".")[2]
    try:
        found = operator.attrgetter(name)(library)
        if callable(found) and not name.startswith("__"):
            return found
    except AttributeError:
        pass
    if not hasattr(type(first), leaf):
        raise Unfit(f"nothing is called {name}")
    if callable(getattr(type(first), leaf)):
        return lambda x, *more, **options: getattr(x, leaf)(*more, **options)
    return lambda x: getattr(x, leaf)


def copy_argument(x: Any, library: Any) -> Any:
    """Copy an argument for a library, with leaves for tensors that require grad."""
    if isinstance(x, torch.Tensor):
        plain = x.detach().resolve_conj().resolve_neg().contiguous()
        copied = plain.clone() if library is torch else ts.from_numpy(plain.numpy().copy())
        return copied.requires_grad_() if x.requires_grad else copied
    if isinstance(x, torch.dtype | torch.memory_format | torch.layout):
        return getattr(library, str(x).rpartition(".")[2])
    if isinstance(x, torch.device):
        return library.device(str(x))
    if isinstance(x, torch.Size):
        return list(x)
    if isinstance(x, list | tuple):
        return type(x)(copy_argument(item, library) for item in x)
    if isinstance(x, dict):
        return {key: copy_argument(item, library) for key, item in x.items()}
    if isinstance(x, slice):
        return slice(*(copy_argument(part, library) for part in (x.start, x.stop, x.step)))
    if x is None or x is Ellipsis or isinstance(x, bool | int | float | complex | str):
        return x
    raise Unfit(type(x).__name__)


def tensors_in(x: Any, library: Any) -> Iterator[Any]:
    """Yield the tensors of an argument or result that require grad."""
    if isinstance(x, library.Tensor):
        if x.requires_grad:
            yield x
    elif isinstance(x, list | tuple | dict):
        for item in x.values() if isinstance(x, dict) else x:
            yield from tensors_in(item, library)


def weighted(results: list[Any], library: Any) -> Any:
    """Return a real number computed from several results with a weight for each element."""
    parts = []
    for k, x in enumerate(results):
        weights = np.cos(np.arange(x.numel()) * 0.7 + k + 0.3).reshape(tuple(x.shape))
        part = (x * library.from_numpy(np.asarray(weights))).sum()
        parts.append(part.abs() if x.is_complex() else part)
    return functools.reduce(operator.add, parts)


def gradients(library: Any, name: str, args: Any, options: Any, order: int) -> list[list[Any]]:
    """Return gradients of all leaves, one list per order, with None entries for leaves without a gradient."""
    args, options = copy_argument(args, library), copy_argument(options, library)
    leaves = list(tensors_in([args, options], library))
    library.manual_seed(0)
    results = list(tensors_in(function_of(library, name, args[0])(*args, **options), library))
    found: list[list[Any]] = []
    while len(found) < order:
        if not results or not leaves:
            break
        of_leaves = library.autograd.grad(
            weighted(results, library), leaves, allow_unused=True, create_graph=len(found) + 1 < order
        )
        found.append(list(of_leaves))
        results = [g for g in of_leaves if g is not None and g.requires_grad]
    return found


def array(x: Any) -> Any:
    """Return the elements as an array, also of PyTorch's zero tensors, which have no memory."""
    if isinstance(x, torch.Tensor) and x._is_zerotensor():
        return np.zeros(tuple(x.shape), str(x.dtype).rpartition(".")[2])
    return x.detach().resolve_conj().resolve_neg().numpy()


def difference(ours: list[Any], theirs: list[Any], digits: float) -> str:
    """Return a description of the difference of gradients; an absent gradient equals zeros."""
    for k, (ours_k, wanted) in enumerate(zip(ours, theirs, strict=True)):
        if ours_k is None or wanted is None:
            other = wanted if ours_k is None else ours_k
            if other is not None and np.any(array(other)):
                return f"of leaf {k}: {'absent' if ours_k is None else 'not absent'}"
            continue
        a, b = array(ours_k), array(wanted)
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"of leaf {k}: {a.dtype}{list(a.shape)}, not {b.dtype}{list(b.shape)}"
        digits = max(digits, 100 * float(np.finfo(b.dtype).eps))
        scale = min(max(1.0, float(np.abs(b[np.isfinite(b)]).max(initial=0))), 1e3)
        if not np.allclose(a, b, rtol=digits, atol=digits * scale, equal_nan=True):
            with np.errstate(all="ignore"):
                return f"of leaf {k}: differs by {np.nanmax(np.abs(a - b)):.3g}"
    return ""


def compare(entry: Any, dtype: torch.dtype, max_samples: int, order: int = 2, digits: float = 1e-6) -> tuple[int, str]:
    """Compare up to `max_samples` of the first twelve samples of an entry; return their number and the first
    difference."""
    torch.manual_seed(0)
    count = 0
    samples = list(itertools.islice(entry.sample_inputs("cpu", dtype, requires_grad=True), 12))
    for sample in samples[:: max(1, len(samples) // max_samples)]:
        args, options = [sample.input, *sample.args], dict(sample.kwargs)
        wanted = []
        try:
            for n in range(order, 0, -1):
                try:
                    wanted = gradients(torch, entry.name, args, options, n)
                    again = gradients(torch, entry.name, args, options, n)
                    break
                except RuntimeError:  # no gradient of this order
                    continue
            copy_argument([args, options], ts)
        except Unfit:
            continue
        except Exception:  # an invalid call
            continue
        if not wanted or any(difference(a, b, digits) for a, b in zip(wanted, again, strict=True)):
            continue
        count += 1
        found = gradients(ts, entry.name, args, options, len(wanted))
        for n in range(len(wanted)):
            if n >= len(found):
                if any(g is not None and np.any(array(g)) for g in wanted[n]):
                    return count, f"no gradients of order {n + 1}"
                break
            message = difference(found[n], wanted[n], digits)
            if message:
                return count, f"order {n + 1}, {message}: {str(args)[:200]} {str(options)[:200]}"
    return count, ""
