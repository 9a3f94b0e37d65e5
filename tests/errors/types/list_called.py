"""A call of `x.shape`, which is a list."""


def main(x):
    return x.shape(1)

# error: CompilationError
# cannot call a value of type 'List[int]':
#   File "list_called.py", line 5
# def main(x):
#     return x.shape(1)
#            ~~~~~~~ <--- HERE
