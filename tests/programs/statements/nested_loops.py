"""`break` ends the inner loop only."""


def main():
    pairs = 0
    for i in range(5):
        for j in range(5):
            if j > i:
                break
            if (i + j) % 2 == 1:
                continue
            pairs += 1
    print(pairs)  # expect: 9
