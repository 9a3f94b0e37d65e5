"""`raise` without an exception."""


def main(x: int):
    raise


# torch: 'NoneType' object has no attribute 'lineno'

# error: NotSupportedError
# raise without an exception isn't supported; name the exception to raise:
#   File "raise_nothing.py", line 5
# def main(x: int):
#     raise
#     ~~~~~ <--- HERE
