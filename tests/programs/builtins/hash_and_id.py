"""hash of equal values is equal; id tells objects apart."""
# rule: builtin.hash, builtin.id



def main():
    print(hash("a") == hash("a"), hash(3) == hash(3), hash(0.5) == hash(0.5))  # expect: True True True
    print(hash("a") == hash("b"))  # expect: False
