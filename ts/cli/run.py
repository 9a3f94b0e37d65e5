"""`ts run`: call a function with arguments and print what it returns."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import nullcontext

import numpy as np

import ts
from ts.cli.arguments import read_arguments
from ts.cli.targets import UsageError, load_function


def run(options: argparse.Namespace) -> int:
    """`ts run`: call the function and print what it returns."""
    function = load_function(options.target)
    positional, keywords = read_arguments(function, options.arguments)
    bounds = {"seconds": options.seconds, "fuel": options.fuel}
    bounds = {name: bound for name, bound in bounds.items() if bound is not None}
    try:
        limits = ts.limits(**bounds) if bounds else nullcontext()
    except ValueError as error:
        raise UsageError(str(error)) from None
    start = time.perf_counter()
    with limits:
        result = function(*positional, **keywords)
    seconds = time.perf_counter() - start
    if options.out is None:
        print(result if isinstance(result, str) else repr(result))
    elif isinstance(result, ts.Tensor):
        np.save(options.out, result.numpy())
    else:
        raise UsageError(f"--out writes a tensor; {function.name} returned {type(result).__name__}")
    if options.time:
        print(f"{seconds * 1e3:.3f} ms", file=sys.stderr)
    return 0
