"""`a if c else b` evaluates one branch only."""
# rule: conditional


def loud(x: int) -> int:
    print("loud", x)
    return x


def main():
    n = 3
    y = loud(1) if n > 2 else loud(2)  # expect: loud 1
    print(y)  # expect: 1
