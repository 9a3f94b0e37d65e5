"""`if`, `elif` and `else`."""
# rule: if


def sign(x: int) -> str:
    if x > 0:
        return "plus"
    elif x < 0:
        return "minus"
    else:
        return "zero"


def main():
    print(sign(3), sign(-3), sign(0))  # expect: plus minus zero
