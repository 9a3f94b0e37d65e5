"""A dict comprehension."""
# rule: comprehensions


def main():
    d = {i: i * i for i in range(4)}
    print(d[3], len(d))  # expect: 9 4
