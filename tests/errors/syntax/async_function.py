"""An asynchronous function is awaited."""


async def wait(x: int) -> int:
    return x


async def main(x: int):
    return await wait(x)

# error: FrontendError
# Expected a single top-level function: async_function.py:8; an `async` function cannot be compiled, use ts.jit.fork and wait
