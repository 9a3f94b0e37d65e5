"""A forked task fails: the source of the task is quoted after that of the waiting program."""

from typing import Dict

import ts


def count(counts: Dict[str, int]) -> int:
    return counts["b"]


def main(counts: Dict[str, int]) -> int:
    task = ts.jit.fork(count, counts)
    return ts.jit.wait(task) + 1

# call: main({"a": 1})

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "key_missing_in_task.py", line 14, in main
# def main(counts: Dict[str, int]) -> int:
#     task = ts.jit.fork(count, counts)
#     return ts.jit.wait(task) + 1
#            ~~~~~~~~~~~ <--- HERE
# RuntimeError: The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "key_missing_in_task.py", line 13, in <forked function>
# def main(counts: Dict[str, int]) -> int:
#     task = ts.jit.fork(count, counts)
#            ~~~~~~~~~~~~~~~~~~~~~~~~~ <--- HERE
#     return ts.jit.wait(task) + 1
#   File "key_missing_in_task.py", line 9, in count
# def count(counts: Dict[str, int]) -> int:
#     return counts["b"]
#            ~~~~~~~~~~ <--- HERE
# RuntimeError: KeyError: b
