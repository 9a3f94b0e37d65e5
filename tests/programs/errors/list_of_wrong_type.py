"""`append` of an element of the wrong type."""


def main():
    xs = [1, 2]
    xs.append("a")  # expect error: Could not match type str to t in argument 'el'
    return xs
