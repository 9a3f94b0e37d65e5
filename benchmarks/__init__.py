"""Benchmarks of `ts` against the peers installed: CPython always, PyTorch and Numba where present.

    python -m benchmarks                          every group
    python -m benchmarks scalar_programs startup  some groups
    python -m benchmarks --output FILE            every group, as a page (`make bench` writes RESULTS.md)

A group is a module with `cases() -> list[Case]`; `timing.py` runs the contestants of a case in
interleaved rounds, so that a slow moment of a shared machine hits all of them alike.
"""
