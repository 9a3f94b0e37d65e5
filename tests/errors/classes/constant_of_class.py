"""A class variable is read through the class."""


class Settings:
    rate = 0.1

    def __init__(self, n: int):
        self.n = n


def main() -> float:
    return Settings.rate

# error: CompilationError
# python value of type 'float' cannot be used as a value. Perhaps it is a closed over global variable? If so, please consider passing it in as an argument or use a local variable instead.:
#   File "constant_of_class.py", line 12
# def main() -> float:
#     return Settings.rate
#            ~~~~~~~~~~~~~ <--- HERE
# Hint: make it a global constant, or an attribute that `__init__` assigns
