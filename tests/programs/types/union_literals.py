"""A list or dict literal for a union has its only list or dict type, or the one that matches the elements."""
# rule: union, optional

from typing import Dict, List, Optional, Union



def texts() -> Union[int, List[str]]:
    return []


def table() -> Union[Dict[str, int], None]:
    return {}


def numbers(b: bool) -> Union[List[int], List[str], None]:
    x: Union[List[int], List[str]] = ["a"] if b else [1]
    return x


def squares() -> Union[Dict[int, int], Dict[str, int]]:
    return {i: i * i for i in range(3)}


def optional_items() -> Union[List[float], List[Optional[int]]]:
    return [1]


class Holder:
    def __init__(self):
        self.a: Union[int, List[str]] = []
        self.b: Optional[Dict[str, int]] = {}

    def add(self, text: str):
        a = self.a
        if isinstance(a, list):
            a.append(text)


def either(b: bool):
    x: Union[int, List[int]] = [] if b else 1
    if isinstance(x, list):
        x.append(3)
        print(x)
    else:
        print(x + 1)


def main():
    x = texts()
    assert isinstance(x, list)
    x.append("t")
    print(len(x))  # expect: 1
    print(table())  # expect: {}
    print(numbers(False))  # expect: [1]
    print(squares())  # expect: {0: 0, 1: 1, 2: 4}
    print(optional_items())  # expect: [1]
    h = Holder()
    h.add("n")
    print(h.b)  # expect: {}
    either(True)  # expect: [3]
    either(False)  # expect: 2
