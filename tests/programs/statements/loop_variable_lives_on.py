"""A loop variable that is assigned before the loop keeps its last value after it."""


def main():
    i = 7
    for i in range(3):
        pass
    print(i)  # expect: 2
