"""Two methods of a class do not compile, one of them because of a function that it calls."""


def helper(x: int):
    return x.helper


class Main:
    def __init__(self, x: int):
        self.x = x

    def first(self):
        return helper(self.x)

    def second(self):
        return self.x.second


main = Main
# torch: undefined value helper

# error: CompilationError
# 'int' object has no attribute or method 'helper'.:
#   File "class_methods.py", line 5
# def helper(x: int):
#     return x.helper
#            ~~~~~~~~ <--- HERE
# 'helper' is being compiled since it was called from 'first'
#   File "class_methods.py", line 13
#     def first(self):
#         return helper(self.x)
#                ~~~~~~~~~~~~~ <--- HERE
#
# 1 more error:
# 'int' object has no attribute or method 'second'.:
#   File "class_methods.py", line 16
#     def second(self):
#         return self.x.second
#                ~~~~~~~~~~~~~ <--- HERE
