"""A string as the index of a tensor."""


def main(x):
    return x["a"]

# error: CompilationError
# Unsupported operation: indexing tensor with unsupported index type 'str'. Only ints, slices, lists and tensors are supported:
#   File "tensor_index.py", line 5
# def main(x):
#     return x["a"]
#            ~~~~~ <--- HERE
