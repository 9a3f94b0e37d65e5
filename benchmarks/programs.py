"""Seven scalar programs, which every contestant compiles without changes."""

from typing import Dict, List


def sum_loop(n: int) -> int:
    """Run a counted loop with integer arithmetic."""
    total = 0
    for i in range(n):
        total += i % 7
    return total


def fibonacci(n: int) -> int:
    """Return a Fibonacci number modulo a prime; the loop carries two ints."""
    a = 0
    b = 1
    for _ in range(n):
        a, b = b, (a + b) % 1000000007
    return a


def collatz(limit: int) -> int:
    """Return the longest Collatz chain below `limit`, with a data-dependent inner loop."""
    best = 0
    for start in range(1, limit):
        n = start
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        if steps > best:
            best = steps
    return best


def mandelbrot(size: int, limit: int) -> int:
    """Return the sum of Mandelbrot escape times over a grid, with float arithmetic."""
    total = 0
    for row in range(size):
        cy = 2.4 * row / size - 1.2
        for column in range(size):
            cx = 3.2 * column / size - 2.2
            x = 0.0
            y = 0.0
            steps = 0
            while steps < limit and x * x + y * y <= 4.0:
                t = x * x - y * y + cx
                y = 2.0 * x * y + cy
                x = t
                steps += 1
            total += steps
    return total


def sieve(n: int) -> int:
    """Return the number of primes below `n`, computed with a list of bools."""
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
    for i in range(n):
        if prime[i]:
            count += 1
    return count


def word_count(words: List[str]) -> int:
    """Return the count of the most frequent word, computed with a dictionary of string to int."""
    counts: Dict[str, int] = {}
    for word in words:
        if word in counts:
            counts[word] += 1
        else:
            counts[word] = 1
    best = 0
    for word in counts:
        if counts[word] > best:
            best = counts[word]
    return best


def clamp(x: int, low: int, high: int) -> int:
    """Return `x` clamped to [low, high]; called by `calls`."""
    if x < low:
        return low
    if x > high:
        return high
    return x


def calls(n: int) -> int:
    """Run a loop that calls a function with early returns in each iteration."""
    total = 0
    for i in range(n):
        total += clamp(i - 50, 0, 1000)
    return total
