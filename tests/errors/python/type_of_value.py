"""`type` of a value."""


def main(x: int):
    return type(x)

# error: SchemaMatchError
# type(Tensor 0) -> Tensor 0:
# Expected a value of type 'Tensor' for argument '0' but instead found type 'int'.
# :
#   File "type_of_value.py", line 5
# def main(x: int):
#     return type(x)
#            ~~~~ <--- HERE
# Hint: types cannot be values; test with `isinstance(x, int)`
