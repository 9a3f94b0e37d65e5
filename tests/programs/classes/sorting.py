"""Lists of objects are sorted by their `__lt__`, also inside of tuples; the sort is stable."""


class Card:
    def __init__(self, rank: int, name: str):
        self.rank = rank
        self.name = name

    def __lt__(self, other: "Card") -> bool:
        return self.rank < other.rank


def main():
    cards = [Card(3, "c"), Card(1, "a"), Card(3, "b"), Card(2, "d")]
    print("".join([c.name for c in sorted(cards)]))  # expect: adcb
    cards.sort(reverse=True)
    print("".join([c.name for c in cards]))  # expect: cbda
    pairs = [(1, Card(9, "x")), (1, Card(8, "y")), (0, Card(10, "z"))]
    pairs.sort()
    print("".join([p[1].name for p in pairs]))  # expect: zyx
