"""`in` with a number on the left side and a string on the right side."""


def main(x: str):
    return 3 in x

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   __contains__(str self, str key) -> bool:
#   Expected a value of type 'str' for argument 'key' but instead found type 'int'.
#
#   and 9 other overloads, which match no better.
#
# The original call is:
#   File "text_contains_number.py", line 5
# def main(x: str):
#     return 3 in x
#            ~~~~~~ <--- HERE
# Hint: found str and int; `str(x)` converts a number to a string
