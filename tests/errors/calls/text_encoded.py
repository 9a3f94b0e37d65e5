"""An unsupported method of strings."""


def main(x: str):
    return x.encode()

# error: CompilationError
# 'str' object has no attribute or method 'encode'.:
#   File "text_encoded.py", line 5
# def main(x: str):
#     return x.encode()
#            ~~~~~~~~ <--- HERE
# Hint: scripts have no bytes; `[ord(c) for c in list(s)]` returns the character codes
