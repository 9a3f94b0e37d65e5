"""`sorted` does not change its argument."""
# rule: builtin.sorted


def main():
    xs = [2, 3, 1]
    print(sorted(xs), xs)  # expect: [1, 2, 3] [2, 3, 1]
    xs.sort(reverse=True)
    print(xs)  # expect: [3, 2, 1]
