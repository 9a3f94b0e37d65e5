"""Benchmarks of `ts` against the peers installed: CPython always, PyTorch and Numba where present.

    python -m benchmarks                 every group
    python -m benchmarks scalar_programs startup  some groups

A group is a module with `cases() -> list[Case]`; `measure.py` runs the contestants of a case in
interleaved rounds, so that a slow moment of a shared machine hits all of them alike.
"""
