"""A method that the type does not have."""


def main():
    x = 3
    return x.append(1)  # expect error: 'int' object has no attribute or method 'append'
