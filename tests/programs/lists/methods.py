"""Methods of lists."""
# rule: list, calls.methods


def main():
    xs = [3, 1, 2]
    xs.append(5)
    xs.insert(0, 9)
    print(xs, len(xs))  # expect: [9, 3, 1, 2, 5] 5
    xs.sort()
    print(xs)  # expect: [1, 2, 3, 5, 9]
    xs.reverse()
    print(xs.pop(), xs.pop(0), xs)  # expect: 1 9 [5, 3, 2]
    xs.extend([2, 2])
    print(xs.count(2), xs.index(3))  # expect: 3 1
    xs.remove(2)
    print(xs)  # expect: [5, 3, 2, 2]
    xs.clear()
    print(len(xs))  # expect: 0
