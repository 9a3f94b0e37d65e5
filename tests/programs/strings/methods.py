"""Methods of strings."""
# rule: calls.methods


def main():
    s = "  Hello, World  "
    print(s.strip(), len(s))  # expect: Hello, World 16
    t = s.strip()
    print(t.lower(), t.upper())  # expect: hello, world HELLO, WORLD
    print(t.split(", "), "-".join(["a", "b"]))  # expect: [Hello, World] a-b (python: ['Hello', 'World'] a-b)
    print(t.find("o"), t.count("l"), t.replace("l", "L"))  # expect: 4 3 HeLLo, WorLd
    print(t.startswith("He"), t.endswith("x"), "12".isdigit())  # expect: True False True
