"""The keys of a dict literal have different types."""


def main(x: int):
    return {"a": x, 1: x}

# error: CompilationError
# Dict keys must contain only a single type. Expected: str but found int instead:
#   File "dict_keys.py", line 5
# def main(x: int):
#     return {"a": x, 1: x}
#                     ~ <--- HERE
