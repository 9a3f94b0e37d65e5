"""`enumerate` accepts one keyword."""


def main():
    for i, x in enumerate([1], begin=2):  # expect error: enumerate expected kwarg name
        print(i, x)
