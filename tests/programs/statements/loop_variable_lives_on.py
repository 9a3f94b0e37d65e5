"""The loop variable keeps its last value where it was set before."""


def main():
    i = 7
    for i in range(3):
        pass
    print(i)  # expect: 2
