"""`range` whose step is a parameter of the function, also the first one."""
# rule: for, builtin.range


def digits(step: int, stop: int):
    total = 0
    for i in range(1, stop, step):
        total = total * 10 + i
    return total


def countdown(step: int):
    total = 0
    for i in range(9, 0, step):
        total = total * 10 + i
    return total


def main():
    print(digits(3, 9), digits(1, 4), digits(9, 1))  # expect: 147 123 0
    print(countdown(-4), countdown(-1))  # expect: 951 987654321
