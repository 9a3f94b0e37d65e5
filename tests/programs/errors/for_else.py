"""for with else is refused by name."""
# rule: for.else


def main():
    for i in range(2):  # expect error: else branches of for loops aren't supported
        pass
    else:
        pass
    return 1
