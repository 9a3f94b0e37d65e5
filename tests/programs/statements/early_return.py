"""A return inside a loop inside a branch ends the function."""
# rule: statements.return


def find(limit: int, wanted: int) -> int:
    for i in range(limit):
        for j in range(limit):
            if i * j == wanted:
                return i
    return -1


def main():
    print(find(10, 21), find(3, 21))  # expect: 3 -1
