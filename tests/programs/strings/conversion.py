"""`str`, `int`, `float`, `ord` and `chr` of strings and numbers."""
# rule: builtin.str, builtin.ord, builtin.chr, conversion.explicit


def main():
    print(str(3) + str(True), int("42") + 1, float("2.5"))  # expect: 3True 43 2.5
    print(ord("A"), chr(98), hex(255), bin(5))  # expect: 65 b 0xff 0b101
