"""`hash` of equal values is equal; `id` differs for different objects."""
# rule: builtin.hash, builtin.id



class Box:
    def __init__(self, x: int):
        self.x = x


def main():
    print(hash("a") == hash("a"), hash(3) == hash(3), hash(0.5) == hash(0.5))  # expect: True True True
    print(hash("a") == hash("b"))  # expect: False
    a, b = Box(1), Box(1)
    c = a
    print(id(a) == id(c), id(a) == id(b), id(None) == id(a))  # expect: True False False
