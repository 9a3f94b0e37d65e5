"""with is refused by name."""


def main():
    with print("a"):  # expect error: with statements aren't supported; call what the block would do
        x = 1
    return x
