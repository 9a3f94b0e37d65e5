"""Fusion groups of random programs: unoptimized, optimized, fused, native and PyTorch results agree.

Results of `ts` agree bit for bit, including strides and argument values; PyTorch's agree up to rounding.
`python -m tests.fuzz.test_fusion_programs COUNT [SEED]` runs more programs, and prints the number of fused runs.
"""

import random
import sys

import numpy as np

import ts
from tests.fuzz import how_many
from tests.fuzz.fusion_programs import GroupWriter, arguments
from ts.bytecode.native import background_compilation
from ts.fusion.program import FusionGroupRecord

KINDS = ("float32",) * 6 + ("float64",) * 2 + ("bfloat16", "float16", "int64", "int32", "uint8", "bool")
FLOATS = ("float32", "float32", "float64")


def program(seed):
    return GroupWriter(random.Random(seed).randrange).source()


def make_arguments(seed, package, kinds):
    """Return new tensors for a package, with equal elements and memory layouts."""
    found = arguments(random.Random(-seed - 1).randrange, kinds)
    return [tensor(package, *x) if isinstance(x, tuple) else x for x in found]


def tensor(package, array, kind):
    x = package.from_numpy(array)
    return x.to(getattr(package, kind)) if "float16" in kind else x


def to_numpy(x):
    x = x.detach()
    x = x.float() if "float16" in str(x.dtype) else x
    return x.numpy()


def strides(x):
    """Return the strides, with 0 for dimensions of size 1."""
    return tuple(step if length > 1 else 0 for step, length in zip(x.stride(), x.shape, strict=True))


def outcome(function, args):
    """Return the results with dtypes and strides and the arguments after the call, or the error message."""
    try:
        results = function(*args)
    except (RuntimeError, ZeroDivisionError, TypeError, ValueError, IndexError) as error:
        return str(error).splitlines()[-1]
    tensors = [*results, *(x for x in args if not isinstance(x, int | float))]
    return [(to_numpy(x).copy(), str(x.dtype).removeprefix("torch."), strides(x)) for x in tensors]


def outcomes_are_equal(first, second):
    if isinstance(first, str) or isinstance(second, str):
        return isinstance(first, str) and isinstance(second, str)
    return len(first) == len(second) and all(
        x[1:] == y[1:] and x[0].shape == y[0].shape and x[0].tobytes() == y[0].tobytes()
        for x, y in zip(first, second, strict=True)
    )


def close(first, second, by):
    if isinstance(first, str) or isinstance(second, str):
        return isinstance(first, str) and isinstance(second, str)
    return all(
        x[1] == y[1] and x[0].shape == y[0].shape and np.allclose(x[0], y[0], by, by, equal_nan=True)
        for x, y in zip(first, second, strict=True)
    )


def describe_difference(where, seed, source, found, expected, args):
    """Return a readable description of the difference between two outcomes."""
    tensors = [x for x in args if not isinstance(x, int | float)]
    lines = [f"{where}, seed {seed}", source, str(args[-2:]), *(f"{x.dtype} {x.shape} {x.stride()}" for x in tensors)]
    if isinstance(found, str) or isinstance(expected, str):
        return "\n".join([*lines, str(found)[:300], str(expected)[:300]])
    for i, (x, y) in enumerate(zip(found, expected, strict=False)):
        if x[1:] != y[1:] or x[0].shape != y[0].shape or x[0].tobytes() != y[0].tobytes():
            lines.append(f"result {i}: {x[0].shape} {x[1:]} {y[0].shape} {y[1:]}")
            if x[0].shape == y[0].shape:
                wrong = np.flatnonzero(x[0] != y[0])[:5]
                lines.append(f"{x[0].flat[wrong]} {y[0].flat[wrong]}")
    return "\n".join(lines)


def groups(function):
    return [o.record.group for o in function.compiled_code.operators if isinstance(o.record, FusionGroupRecord)]


def check(seed, pytorch=None):
    """Check a random program and return the counts of fused runs and side exits."""
    source = program(seed)
    function = ts.jit.CompilationUnit(source).f
    with ts.jit.optimized_execution(False):
        expected = outcome(ts.jit.CompilationUnit(source).f, make_arguments(seed, ts, KINDS))
    before = ts.get_num_threads()
    try:
        for threads in (1, 3):
            ts.set_num_threads(threads)
            found = outcome(function, make_arguments(seed, ts, KINDS))
            assert outcomes_are_equal(found, expected), describe_difference(f"{threads} threads", seed, source, found, expected, make_arguments(seed, ts, KINDS))
    finally:
        ts.set_num_threads(before)
    with ts.limits(bytes=1 << 40):
        found = outcome(function, make_arguments(seed, ts, KINDS))
    assert outcomes_are_equal(found, expected), describe_difference("one by one", seed, source, found, expected, make_arguments(seed, ts, KINDS))
    if background_compilation.is_available():
        native = ts.jit.CompilationUnit(source).f
        if background_compilation.compile_now(native.compiled_code) == "":
            found = outcome(native, make_arguments(seed, ts, KINDS))
            assert outcomes_are_equal(found, expected), describe_difference("machine code", seed, source, found, expected, make_arguments(seed, ts, KINDS))
    if pytorch is not None:
        names = {"torch": pytorch, "Tensor": pytorch.Tensor}
        exec(source, names)
        theirs = outcome(names["f"], make_arguments(seed, pytorch, FLOATS))
        ours = outcome(function, make_arguments(seed, ts, FLOATS))
        by = 0.2 if "half()" in source or "bfloat16()" in source else 2e-3
        assert close(ours, theirs, by), describe_difference("PyTorch", seed, source, ours, theirs, make_arguments(seed, ts, FLOATS))
    non_empty = [group for group in groups(function) if group]
    ran = sum(plan.runs for group in non_empty for plan in group.plans)
    return ran, sum(group.left_for_shapes for group in non_empty), sum(group.left_for_inputs for group in non_empty)


def test_groups_agree_with_their_operators():
    count = how_many(40)
    total = [check(seed, sys.modules.get("torch")) for seed in range(count)]
    ran, shapes, _ = (sum(column) for column in zip(*total, strict=True))
    assert ran > count and ran > 5 * shapes


if __name__ == "__main__":
    import torch as reference

    count, start = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    totals = [check(number, reference) for number in range(start, start + count)]
    counts = [sum(column) for column in zip(*totals, strict=True)]
    print(f"{count} programs agree; groups ran {counts[0]} times, left for shapes {counts[1]}, for dtypes {counts[2]}")
