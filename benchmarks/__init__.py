"""Benchmarks of `ts` against CPython, and against PyTorch and Numba if they are installed.

    python -m benchmarks                          all groups
    python -m benchmarks scalar_programs startup  some groups
    python -m benchmarks --output FILE            all groups, written as a page (`make bench`: RESULTS.md)

A group is a module with `cases() -> list[Case]`.  `timing.py` measures the implementations of a case
(contestants) in interleaved rounds, so that other load of the machine affects all of them equally.  The group
`large_models` also compares with ONNX Runtime and OpenVINO.  Its peers may be installed elsewhere:

    TS_BENCHMARK_PEERS_PYTHON=PATH/bin/python python -m benchmarks large_models
"""
