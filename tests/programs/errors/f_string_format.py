"""A format specification in an f-string."""


def main():
    x = 3
    return f"{x:3d}"  # expect error: Don't support formatting in JoinedStr
