"""The type of the list has to be annotated."""


def main(x):
    return x.tolist()

# error: CompilationError
# Expected type hint for result of tolist():
#   File "tolist_without_type.py", line 5
# def main(x):
#     return x.tolist()
#            ~~~~~~~~ <--- HERE
