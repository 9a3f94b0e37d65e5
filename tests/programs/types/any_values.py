"""Any accepts every value; it is tested with `is` and `isinstance`, and stored in containers."""
# not in PyTorch: there `is None` of an Any is always false.
# rule: any.bind, any.is, any.containers, any.isinstance

from typing import Any, Dict, List


def describe(x: Any) -> str:
    if x is None:
        return "nothing"
    if isinstance(x, int):
        return "int " + str(x + 1)
    if isinstance(x, str):
        return "str " + x.upper()
    return "something"


def main():
    print(describe(None), describe(3), describe("a"), describe(2.5))  # expect: nothing int 4 str A something
    xs: List[Any] = [1, "b", None, 0.5]
    for x in xs:
        print(describe(x))
    # expect: int 2
    # expect: str B
    # expect: nothing
    # expect: something
    d: Dict[str, Any] = {"n": 7}
    value = d["n"]
    print(describe(value), value is not None)  # expect: int 8 True
