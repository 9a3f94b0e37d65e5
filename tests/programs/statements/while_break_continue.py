"""`break` and `continue` in a `while` loop."""
# rule: while, statements.break, statements.continue


def main():
    i = 0
    total = 0
    while True:
        i += 1
        if i % 2 == 0:
            continue
        if i > 9:
            break
        total += i
    print(i, total)  # expect: 11 25
