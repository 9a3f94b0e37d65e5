"""Integer division by zero."""


def main():
    n = 0
    for i in range(3):
        n = n * 2
    print(5 // n)  # expect runtime error: division by

