"""A Python module that is not imported."""


def main():
    return random.randint(0, 3)

# error: CompilationError
# undefined value random:
#   File "module_not_imported.py", line 5
# def main():
#     return random.randint(0, 3)
#            ~~~~~~ <--- HERE
# Hint: import it at the top of the file; of modules other than math and torch only functions that an @ts.jit.ignore function calls can be used
