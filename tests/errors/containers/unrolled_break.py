"""`break` in a loop over a tuple, which is unrolled."""

from typing import Tuple


def main(x: Tuple[int, str]):
    for i in x:
        print(i)
        break

# error: NotSupportedError
# Because we emit iteration over modulelists or tuples as unrolled loops, we do not support break or continue inside the body of these loops; loop over a list instead:
#   File "unrolled_break.py", line 9
#     for i in x:
#         print(i)
#         break
#         ~~~~~ <--- HERE
