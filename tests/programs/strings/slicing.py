"""Indexing and slicing strings."""
# rule: slices, subscripts


def main():
    s = "abcdef"
    print(s[0], s[-1], s[1:3], s[::2])  # expect: a f bc ace
    print("cd" in s, s + "!", s == "b")  # expect: True abcdef! False
