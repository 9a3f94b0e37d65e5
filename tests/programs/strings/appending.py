"""A string that is appended to in place does not change other references to it."""

from typing import List


def grown(start: str, n: int) -> str:
    for i in range(n):
        start += str(i % 10)
    return start


def main() -> None:
    s = "".join(["a", "b"])
    before = s
    s += "c"
    s += "d"
    print(s, before)  # expect: abcd ab

    seen: List[str] = []
    for _ in range(4):
        s += "-"
        seen.append(s)
    print(seen)  # expect: [abcd-, abcd--, abcd---, abcd----]  (python: ['abcd-', 'abcd--', 'abcd---', 'abcd----'])

    twice = "".join(["x", "y"])
    for _ in range(3):
        twice += twice
    print(twice)  # expect: xyxyxyxyxyxyxyxy

    wide = "".join(["a", "b"])
    for i in range(3):
        if i == 1:
            wide = wide + "é"
        else:
            wide += "€"
    print(wide)  # expect: ab€é€

    start = "".join(["0", ":"])
    print(grown(start, 12), grown(start, 3), start)  # expect: 0:012345678901 0:012 0:

    keys = {"": 0}
    key = ""
    for i in range(3):
        key += "k"
        keys[key] = i
    print(keys)  # expect: {: 0, k: 0, kk: 1, kkk: 2}  (python: {'': 0, 'k': 0, 'kk': 1, 'kkk': 2})

    parts = ("".join(["p", "q"]), 1)
    first = parts[0]
    first += "r"
    print(first, parts[0])  # expect: pqr pq
