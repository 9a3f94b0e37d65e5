"""`enumerate` without an argument."""


def main(x: int):
    for i in enumerate():
        print(i)

# error: CompilationError
# enumerate expected at least 1 arguments, got 0:
#   File "enumerate_of_nothing.py", line 5
# def main(x: int):
#     for i in enumerate():
#              ~~~~~~~~~ <--- HERE
#         print(i)
