import ts


def main():
    later = ts.jit.fork(3)  # expect error: cannot call a
    print(ts.jit.wait(later))
