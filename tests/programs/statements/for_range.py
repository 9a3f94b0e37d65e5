"""`range` with one, two and three arguments."""
# rule: for, builtin.range


def main():
    for i in range(3):
        print(i)
    # expect: 0
    # expect: 1
    # expect: 2
    for i in range(2, 4):
        print(i)
    # expect: 2
    # expect: 3
    for i in range(10, 0, -4):
        print(i)
    # expect: 10
    # expect: 6
    # expect: 2
    for i in range(5, 5):
        print("never")
