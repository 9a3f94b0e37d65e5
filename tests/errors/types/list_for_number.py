"""A list is assigned to a variable annotated as a number."""


def main() -> int:
    return [1]

# error: CompilationError
# Expected an annotation of type List but got int:
#   File "list_for_number.py", line 5
# def main() -> int:
#     return [1]
#            ~~ <--- HERE
