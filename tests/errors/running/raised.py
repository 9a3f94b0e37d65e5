"""An exception is raised."""


def main():
    raise ValueError("no good")

# error: ScriptRuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "raised.py", line 5, in main
# def main():
#     raise ValueError("no good")
#     ~~~~~~~~~~~~~~~~~~~~~~~~~ <--- HERE
# builtins.ValueError: no good
