"""`is` compares devices by value and strings by identity."""
# rule: identity

import ts


def same(a: str, b: str) -> bool:
    return a is b


def main():
    print(ts.device("cpu") is ts.device("cpu"))  # expect: True  (python: False)
    print(ts.device("cpu") is not ts.device("cpu:0"))  # expect: True
    s = "ab"
    print(same(s, "".join(["a", "b"])))  # expect: False
