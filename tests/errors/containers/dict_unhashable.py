"""A list as a key of a dict."""


def main(x: int):
    return {[x]: x}

# error: CompilationError
# Cannot create dict for key type 'int[]', only int, float, complex, Tensor, device and string keys are supported:
#   File "dict_unhashable.py", line 5
# def main(x: int):
#     return {[x]: x}
#            ~~~~~~~ <--- HERE
