"""`and` and `or` do not evaluate what they do not need."""
# rule: boolean


def loud(x: bool) -> bool:
    print("asked")
    return x


def main():
    print(False and loud(True))  # expect: False
    print(True or loud(True))  # expect: True
    print(True and loud(False))
    # expect: asked
    # expect: False
