"""`//` and `%` round towards minus infinity, as in Python."""
# rule: arithmetic


def main():
    print(7 // 2, -7 // 2, 7 // -2, -7 // -2)  # expect: 3 -4 -4 3
    print(7 % 3, -7 % 3, 7 % -3, -7 % -3)  # expect: 1 2 -2 -1
    a, b = 7.5, 2.0
    print(a // b, -a // b)  # expect: 3. -4. (python: 3.0 -4.0)
    print(-a % b, a % -b)  # expect: 0.5 -0.5
