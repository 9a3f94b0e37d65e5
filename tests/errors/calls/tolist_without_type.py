"""`tolist()` without an annotation of the result type."""


def main(x):
    return x.tolist()

# error: CompilationError
# Expected type hint for result of tolist():
#   File "tolist_without_type.py", line 5
# def main(x):
#     return x.tolist()
#            ~~~~~~~~ <--- HERE
