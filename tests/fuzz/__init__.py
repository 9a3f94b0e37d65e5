"""Random programs, changed files and hostile numbers.

    TS_RANDOM_PROGRAMS=10000 pytest tests/fuzz tests/autograd/test_random_programs.py

tries so many of each kind; without it the suite has as many as find what one change is likely to break.
"""

import os


def how_many(usual: int) -> int:
    """Return the number of random programs: `usual`, or `TS_RANDOM_PROGRAMS` if set."""
    return int(os.environ.get("TS_RANDOM_PROGRAMS", usual))
