"""`len` of a number: PyTorch converts it to a list of length 1."""

# torch: main() is missing value for argument 'x'. Declaration: main(int x) -> int


def main(x: int):
    return len(x)

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::len.t(t[] a) -> int:
#   Could not match type int to List[t] in argument 'a': Cannot match List[t] to int.
#
#   aten::len.Tensor(Tensor t) -> int:
#   Expected a value of type 'Tensor' for argument 't' but instead found type 'int'.
#
#   aten::len.str(str s) -> int:
#   Expected a value of type 'str' for argument 's' but instead found type 'int'.
#
#   aten::len.Dict_str(Dict(str, t) self) -> int:
#   Could not match type int to Dict[str, t] in argument 'self': Cannot match a dict to int.
#
#   aten::len.Dict_int(Dict(int, t) self) -> int:
#   Could not match type int to Dict[int, t] in argument 'self': Cannot match a dict to int.
#
#   aten::len.Dict_bool(Dict(bool, t) self) -> int:
#   Could not match type int to Dict[bool, t] in argument 'self': Cannot match a dict to int.
#
#   and 4 other overloads, which match no better.
#
# The original call is:
#   File "len_of_number.py", line 7
# def main(x: int):
#     return len(x)
#            ~~~ <--- HERE
