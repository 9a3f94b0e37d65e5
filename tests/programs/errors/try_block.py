"""The error for `try` names the construct."""
# rule: try


def main():
    try:  # expect error: try blocks aren't supported; test with `if` before the operation that may fail
        x = 1
    except ValueError:
        x = 2
    return x
