"""A class inside a function."""


def main(x: int):
    class Pair:
        pass

    return x

# error: UnsupportedNodeError
# class definitions aren't supported; define the class outside the function:
#   File "nested_class.py", line 5
# def main(x: int):
#     class Pair:
#     ~~~~~ <--- HERE
#         pass
