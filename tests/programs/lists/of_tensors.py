"""Search, sorting and equality of lists of tensors use `==` and `<` of the elements as truth values."""

import ts as torch


def main():
    xs = [torch.tensor(2), torch.tensor(1), torch.tensor(2)]
    print(xs.count(torch.tensor(2)), xs.index(torch.tensor(1)))  # expect: 2 1
    ys = sorted(xs)
    print(int(ys[0]), int(ys[2]))  # expect: 1 2
    xs.sort(reverse=True)
    print([int(x) for x in xs])  # expect: [2, 2, 1]
    xs.remove(torch.tensor(2))
    print(len(xs), xs == [torch.tensor(2), torch.tensor(1)], xs != xs)  # expect: 2 True False
