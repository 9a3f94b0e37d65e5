"""A number is appended to an empty list without an annotation, which is a list of tensors."""


def main(x: int):
    y = []
    y.append(x)
    return y

# error: SchemaMatchError
# aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!):
# Could not match type int to t in argument 'el': Type variable 't' previously matched to type Tensor is matched to type int.
# :
#   File "empty_list.py", line 6
# def main(x: int):
#     y = []
#     y.append(x)
#     ~~~~~~~~ <--- HERE
#     return y
# Hint: `[]` is a list of tensors unless it is annotated: `x: List[str] = []`
