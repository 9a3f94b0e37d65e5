"""A parameter without an annotation is a Tensor."""


def helper(x: str):
    return x


def main(x):
    return helper(x)

# error: SchemaMatchError
# helper(str x) -> str:
# Expected a value of type 'str' for argument 'x' but instead found type 'Tensor (inferred)'.
# Inferred the value for argument 'x' to be of type 'Tensor' because it was not annotated with an explicit type.
# :
#   File "inferred_tensor.py", line 9
# def main(x):
#     return helper(x)
#            ~~~~~~ <--- HERE
# Hint: a parameter without an annotation is a Tensor; annotate it if it is not: `x: int`
