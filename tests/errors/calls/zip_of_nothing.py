"""`zip` without arguments."""


def main(x: int):
    for i in zip():
        print(i)

# error: CompilationError
# zip expected at least 1 arguments, got 0:
#   File "zip_of_nothing.py", line 5
# def main(x: int):
#     for i in zip():
#              ~~~ <--- HERE
#         print(i)
