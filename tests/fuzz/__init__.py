"""Fuzz tests: random programs, mutated files and extreme arguments.

    TS_RANDOM_PROGRAMS=10000 pytest tests/fuzz tests/autograd/test_random_programs.py

runs this many programs of each kind; the default number finds errors that a single change is likely to cause.
"""

import os


def how_many(usual: int) -> int:
    """Return the number of random programs: `usual`, or `TS_RANDOM_PROGRAMS` if set."""
    return int(os.environ.get("TS_RANDOM_PROGRAMS", usual))
