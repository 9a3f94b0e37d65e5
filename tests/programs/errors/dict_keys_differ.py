"""The keys of a dict literal must have one type."""


def main():
    return {1: 2, "a": 3}  # expect error: Dict keys must contain only a single type
