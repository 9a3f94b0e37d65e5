"""An unknown method of a string."""


def main(x: str):
    return x.foo()

# error: CompilationError
# 'str' object has no attribute or method 'foo'.:
#   File "no_such_text_method.py", line 5
# def main(x: str):
#     return x.foo()
#            ~~~~~ <--- HERE
