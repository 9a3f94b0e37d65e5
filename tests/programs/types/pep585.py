"""Container annotations without `typing` (`list[int]`)."""
# rule: pep585

def f(xs: list[int], d: dict[str, list[int]], t: tuple[int, str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for key, values in d.items():
        counts[key] = len(values) + len(xs)
    counts[t[1]] = t[0]
    return counts


def main():
    print(f([1], {"a": [1, 2]}, (7, "b")))  # expect: {a: 3, b: 7}  (python: {'a': 3, 'b': 7})
