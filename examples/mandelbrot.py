"""The Mandelbrot set: nested scalar loops over floats, written to a PNG with the standard library.

python examples/mandelbrot.py [mandelbrot.png]
"""

import struct
import sys
import zlib
from pathlib import Path
from typing import List

import ts


def escape_times(width: int, height: int, limit: int) -> List[int]:
    """Return the number of iterations until each point escapes, at most `limit`, in row-major order."""
    times: List[int] = []
    for row in range(height):
        cy = 2.4 * row / height - 1.2
        for column in range(width):
            cx = 3.2 * column / width - 2.2
            x = 0.0
            y = 0.0
            steps = 0
            while steps < limit and x * x + y * y <= 4.0:
                x, y = x * x - y * y + cx, 2.0 * x * y + cy
                steps += 1
            times.append(steps)
    return times


def write_png(path: Path, width: int, height: int, times: List[int], limit: int) -> None:
    """Write the escape times as an 8-bit grey-scale PNG, dark inside the set."""
    shade = [255 - int(255 * (t / limit) ** 0.35) for t in range(limit + 1)]
    rows = b"".join(
        b"\0" + bytes(shade[t] for t in times[row * width : (row + 1) * width]) for row in range(height)
    )

    def chunk(kind: bytes, data: bytes) -> bytes:
        checksum = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows, 9))
        + chunk(b"IEND", b"")
    )


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "mandelbrot.png")
    write_png(target, 960, 720, ts.jit.script(escape_times)(960, 720, 200), 200)
    print(f"wrote {target}")
