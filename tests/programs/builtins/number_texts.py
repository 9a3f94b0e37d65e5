"""`bin`, `hex` and `oct`."""
# rule: builtin.bin, builtin.hex, builtin.oct

def main():
    print(bin(10), hex(255), oct(8), bin(-3), hex(-16))  # expect: 0b1010 0xff 0o10 -0b11 -0x10
