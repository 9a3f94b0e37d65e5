"""Seven programs on numbers, strings and dictionaries, without tensors. `ts` interprets the bytecode; `ts
native` compiles it to machine code (extra `native`).
"""

from __future__ import annotations

import pydoc_data.topics
from functools import partial
from typing import Any

from benchmarks import peer_runtimes, programs
from benchmarks.timing import Case

TITLE = "Scalar programs"


def topic_words() -> list[str]:
    """Return the words of Python's documentation (about 65,000)."""
    return "\n".join(pydoc_data.topics.topics.values()).split()


def cases() -> list[Case]:
    """Return one case per program, with arguments for which CPython needs 10 to 100 ms."""
    arguments: dict[Any, tuple[Any, ...]] = {
        programs.sum_loop: (300_000,),
        programs.fibonacci: (300_000,),
        programs.collatz: (3_000,),
        programs.mandelbrot: (64, 100),
        programs.sieve: (200_000,),
        programs.word_count: (topic_words(),),
        programs.calls: (200_000,),
    }
    return [
        Case(
            program.__name__.replace("_", " "),
            {peer: partial(run, *args) for peer, run in peer_runtimes.compiled(program, args).items()},
        )
        for program, args in arguments.items()
    ]
