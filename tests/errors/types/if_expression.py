"""The branches of a conditional expression have different types."""


def main(x: int):
    return 1 if x > 1 else [1]

# error: CompilationError
# if-expression's true branch has type int but false branch has type List[int]:
#   File "if_expression.py", line 5
# def main(x: int):
#     return 1 if x > 1 else [1]
#            ~~~~~~~~~~~~~~~~~~ <--- HERE
