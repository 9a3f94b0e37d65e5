"""`and` and `or` evaluate their right operand only if it determines the result."""
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
