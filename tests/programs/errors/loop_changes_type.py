"""A variable must have the same type before and after a loop iteration."""


def main():
    x = 1
    for i in range(3):
        x = "a"  # expect error: Variable 'x' previously had type int but is now being assigned to a value of type str
    return x
