"""The error for `global` names the construct."""

COUNT = 0


def main():
    global COUNT  # expect error: global variables aren't supported; pass the value in and return it
    COUNT = 1
