"""Lists of lists."""

from typing import List


def main():
    rows: List[List[int]] = []
    for i in range(3):
        rows.append([j for j in range(i)])
    rows[2][0] = 7
    print(rows, len(rows[1]))  # expect: [[], [0], [7, 1]] 1
