"""`int` of a string that is not a number raises an error, although the result is unused."""


def main():
    for text in ["1", "x"]:
        int(text)  # expect runtime error: invalid literal
# not in PyTorch: it removes unused expressions together with their errors
