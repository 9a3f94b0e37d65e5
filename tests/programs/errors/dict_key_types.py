"""The keys of a dict must have one type."""


def main():
    d = {"a": 1, 2: 2}  # expect error: Dict keys must contain only a single type. Expected: str but found int
    return d
