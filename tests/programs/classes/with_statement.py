"""`with`: several items, `as`, nesting, and `__exit__` on every path that leaves the block."""
# not in PyTorch: it raises an internal assertion if a with block returns early.

from typing import Any, List


class Log:
    def __init__(self, name: str, lines: List[str]):
        self.name = name
        self.lines = lines

    def __enter__(self) -> str:
        self.lines.append("enter " + self.name)
        return self.name

    def __exit__(self, type: Any, value: Any, tb: Any):
        self.lines.append("exit " + self.name)


def returns(n: int, lines: List[str]) -> int:
    with Log("r", lines):
        if n > 2:
            return n
        n += 10
    return n * 2


def breaks(n: int, lines: List[str]) -> int:
    total = 0
    for i in range(n):
        with Log(str(i), lines):
            if i == 1:
                continue
            if i == 3:
                break
            total += i
    return total


def main():
    lines: List[str] = []
    with Log("a", lines) as a, Log("b", lines) as b:
        print(a + b)  # expect: ab
    print(", ".join(lines))  # expect: enter a, enter b, exit b, exit a
    lines.clear()
    print(returns(1, lines), returns(3, lines), len(lines), lines[3])  # expect: 22 3 4 exit r
    lines.clear()
    print(breaks(6, lines), len(lines), lines[6], lines[7])  # expect: 2 8 enter 3 exit 3
