"""`for` over a list, a string and a tuple (which is unrolled)."""
# rule: for


def main():
    for x in [1.5, 2.5]:
        print(x)
    # expect: 1.5
    # expect: 2.5
    for c in "ab":
        print(c)
    # expect: a
    # expect: b
    for x in (1, "two", 3.5):
        print(x)
    # expect: 1
    # expect: two
    # expect: 3.5
