"""The branch for eager Python (`not is_scripting()`) is not compiled."""
# rule: is_scripting

import ts


def main():
    if ts.jit.is_scripting():
        print("scripted")  # expect: scripted (python: plain)
    else:
        print("plain")

# not in PyTorch
