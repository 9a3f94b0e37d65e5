"""List comprehensions."""
# rule: comprehensions


def main():
    squares = [i * i for i in range(5)]
    print(squares)  # expect: [0, 1, 4, 9, 16]
    print([x + 0.5 for x in squares[:2]])  # expect: [0.5, 1.5]
    print(sum(squares), min(squares), max(squares))  # expect: 30 0 16
