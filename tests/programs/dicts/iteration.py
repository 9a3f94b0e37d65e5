"""`for` over keys and items, in the order of insertion."""
# rule: for


def main():
    d = {3: "c", 1: "a", 2: "b"}
    for k in d:
        print(k)
    # expect: 3
    # expect: 1
    # expect: 2
    for k, v in d.items():
        print(k, v)
    # expect: 3 c
    # expect: 1 a
    # expect: 2 b
    for v in d.values():
        print(v)
    # expect: c
    # expect: a
    # expect: b
