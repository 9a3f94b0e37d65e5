"""A list literal with elements of different types is a list of a union."""


def main():
    xs = [1, "a"]
    x = xs[0]
    assert isinstance(x, int)
    print(x + 1, len(xs))  # expect: 2 2
    d = {"n": 1, "s": "t"}
    y = d["s"]
    if isinstance(y, str):
        print(y + "!")  # expect: t!
