"""An unknown method of a number."""


def main(x: int):
    return x.foo()

# error: CompilationError
# 'int' object has no attribute or method 'foo'.:
#   File "no_such_method.py", line 5
# def main(x: int):
#     return x.foo()
#            ~~~~~ <--- HERE
