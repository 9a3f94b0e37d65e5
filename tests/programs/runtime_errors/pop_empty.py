"""`pop` of an empty list."""


def main():
    xs = [1]
    xs.pop()
    print(xs.pop())  # expect runtime error: pop from empty list
