"""The most frequent words of a real text: strings, a dictionary and lists.

The text is Python's documentation in the standard library (`pydoc_data.topics`, about 450 kB).

    python examples/word_count.py
"""

import pydoc_data.topics
from typing import Dict, List, Tuple

import ts


def most_frequent(text: str, top: int) -> List[Tuple[str, int]]:
    """Return the `top` most frequent words of more than three letters, most frequent first."""
    counts: Dict[str, int] = {}
    for word in text.lower().split():
        word = word.strip(".,;:!?()[]{}<>\"'`*=\\")
        if len(word) > 3:
            if word in counts:
                counts[word] += 1
            else:
                counts[word] = 1

    best: List[Tuple[str, int]] = []
    for word, count in counts.items():
        index = len(best)
        while index > 0 and best[index - 1][1] < count:
            index -= 1
        if index < top:
            best.insert(index, (word, count))
            if len(best) > top:
                best.pop()
    return best


def source_text() -> str:
    """Return the concatenated language topics of Python's `help()`."""
    return "\n".join(pydoc_data.topics.topics.values())


if __name__ == "__main__":
    for word, count in ts.jit.script(most_frequent)(source_text(), 10):
        print(f"{count:6d}  {word}")
