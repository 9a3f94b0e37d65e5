"""Words are counted in a dict."""

from typing import Dict


def main():
    counts: Dict[str, int] = {}
    for word in "the cat the dog the end".split():
        if word in counts:
            counts[word] += 1
        else:
            counts[word] = 1
    print(counts["the"], counts["end"], len(counts))  # expect: 3 1 4
