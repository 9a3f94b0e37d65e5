"""A text that is no number, in a loop that computes nothing else."""


def main():
    for text in ["1", "x"]:
        int(text)  # expect runtime error: invalid literal
# not in PyTorch: it drops what nobody reads, and the failure with it
