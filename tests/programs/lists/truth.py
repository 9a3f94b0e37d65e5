"""A list, a string and a dict are true when they are not empty."""
# rule: if.tensor


def main():
    xs = [1]
    if xs:
        print("full")  # expect: full
    xs.pop()
    print(bool(xs), bool("a"), bool(""))  # expect: False True False
