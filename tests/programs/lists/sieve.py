"""The sieve of Eratosthenes on a list of bools."""


def main():
    n = 30
    prime = [True] * n
    prime[0] = False
    prime[1] = False
    i = 2
    while i * i < n:
        if prime[i]:
            for j in range(i * i, n, i):
                prime[j] = False
        i += 1
    count = 0
    for p in prime:
        if p:
            count += 1
    print(count)  # expect: 10
