from typing import Dict, List, Tuple

import ts


def work(x: int, y: int = 1) -> int:
    return x * 10 + y


def both(x: int) -> Tuple[int, int]:
    return x, -x


def nothing(xs: List[int]):
    xs.append(len(xs))


def nested(x: int) -> int:
    a = ts.jit.fork(waits, x)
    b = ts.jit.fork(waits, x + 1)
    return ts.jit.wait(a) + ts.jit.wait(b)


def waits(x: int) -> int:
    return ts.jit.wait(ts.jit.fork(work, x)) + ts.jit.wait(ts.jit.fork(work, 0, 0))


def words(text: str) -> Dict[str, int]:
    counts: Dict[str, int] = {}
    for word in text.split(" "):
        counts[word] = counts.get(word, 0) + 1
    return counts


def main():
    # Positional and keyword arguments, and defaults.
    print(ts.jit.wait(ts.jit.fork(work, 1)))  # expect: 11
    print(ts.jit.wait(ts.jit.fork(work, 1, 2)))  # expect: 12
    print(ts.jit._wait(ts.jit._fork(work, x=1, y=3)))  # expect: 13
    # Results of every type.
    a, b = ts.jit.wait(ts.jit.fork(both, 5))
    print(a, b)  # expect: 5 -5
    print(ts.jit.wait(ts.jit.fork(words, "a b a"))["a"])  # expect: 2
    # Arguments of a forked function are not copied.
    xs = [7]
    ts.jit.wait(ts.jit.fork(nothing, xs))
    print(xs)  # expect: [7, 1]
    # Many concurrent tasks, waited for in any order and repeatedly.
    futures: List[ts.jit.Future[int]] = []
    for i in range(5):
        futures.append(ts.jit.fork(work, i, i))
    total = 0
    for i in range(5):
        total += ts.jit.wait(futures[4 - i])
    print(total + ts.jit.wait(futures[0]))  # expect: 110
    # Tasks that wait for other tasks.
    print(nested(1))  # expect: 32
