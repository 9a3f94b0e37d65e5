"""Operators whose argument sizes are related, and the constraints that follow for dynamic sizes.

Each line: the call | the shapes of its arguments x, y, z, w with dynamic sizes | the shapes in the exported
program: numbers are fixed sizes, equal letters are equal sizes.  The results are PyTorch's.
"""

from __future__ import annotations

import re
from typing import Any

TEXT = """
conv1d(x, y) | 2,4,9 6,4,3 | a,b,c d,b,e
conv2d(x, y, z) | 2,4,9,9 6,4,3,3 6 | a,b,c,d e,b,f,g e
conv2d(x, y, None, [1, 1], [0, 0], [1, 1], 2) | 2,4,9,9 6,2,3,3 | a,2*b,c,d e,b,f,g
conv_transpose1d(x, y) | 2,4,9 4,6,3 | a,b,c b,d,e
layer_norm(x, [3, 4], y) | 2,3,4 3,4 | a,3,4 3,4
rms_norm(x, [4], y) | 2,3,4 4 | a,b,4 4
native_layer_norm(x, [4], None, None, 1e-5) | 2,4 | a,4
batch_norm(x, y, y, None, None, True, 0.1, 1e-5, False) | 2,3,4 3 | a,b,c b
instance_norm(x, y, z, None, None, True, 0.1, 1e-5, False) | 2,3,4 3 3 | a,b,c b b
group_norm(x, 2, y, z) | 2,6,5 6 6 | a,b,c b b
split_with_sizes(x, [2, 1], 1) | 4,3 | a,3
view_as_complex(x) | 3,2 | a,2
copy_(x.clone(), y) | 3,4 3,4 | a,b a,b
copy_(x.clone(), y) | 3,4 1,4 | a,b 1,b
linalg_matrix_power(x, 2) | 2,3,3 | a,b,b
linalg_cross(x, y) | 2,3 2,3 | a,3 a,3
grid_sampler_2d(x, y, 0, 0, False) | 2,3,5,6 2,4,7,2 | a,b,c,d a,e,f,2
searchsorted(x, y) | 3,4 3,5 | a,b a,c
nll_loss_forward(x, y.long(), z, 1, -100) | 3,4 3 4 | a,b a b
nll_loss_backward(z, x, y.long(), None, 1, -100, z) | 3,4 3 . | a,b a .
cross_entropy_loss(x, y.long()) | 3,4 3 | a,b a
multilabel_margin_loss(x, y.long()) | 3,4 3,4 | a,b a,b
max_unpool2d(x, y.long(), [8, 8]) | 2,3,4 2,3,4 | a,b,c a,b,c
sum_to_size(x, [1, 4]) | 3,4 | a,4
is_same_size(x, y) | 3,4 3,4 | a,b a,b
fractional_max_pool2d(x, [2, 2], [3, 3], y) | 1,3,6,7 1,3,2 | 1,a,b,c 1,a,2
col2im(x, [4, 4], [2, 2], [1, 1], [0, 0], [2, 2]) | 2,8,4 | a,b,4
upsample_bilinear2d_backward(x, [6, 8], [2, 3, 4, 5], False) | 2,3,6,8 | 2,3,6,8
_upsample_bilinear2d_aa(x, [6, 8], False) | 2,3,4,5 | a,b,c,d
log_sigmoid_backward(x, y, z) | 3,4 3,4 3,4 | a,b a,b a,b
stack([x, y]) | 3,4 3,4 | a,b a,b
cat([x, y], 1) | 3,4 3,5 | a,b a,c
affine_grid_generator(x, [2, 3, 4, 5], False) | 2,2,3 | 2,2,3
searchsorted(x, y) | 4 3,5 | a b,c
"""


def cases() -> list[tuple[str, list[list[int]], str]]:
    """Return the calls, argument shapes and expected sizes in the exported program."""
    found = []
    for line in TEXT.strip().splitlines():
        call, shapes, sizes = (part.strip() for part in line.split("|"))
        found.append((call, [[int(n) for n in s.split(",") if n != "."] for s in shapes.split()], sizes))
    return found


def sizes_of(library: Any, call: str, shapes: list[list[int]]) -> str:
    """Export a call and return the sizes of its arguments as text."""
    names = ", ".join("xyzw"[: len(shapes)])
    module: Any = type("M", (library.nn.Module,), {})
    scope: dict[str, Any] = {"lib": library, "aten": library.ops.aten}
    exec(f"def forward(self, {names}):\n    return aten.{call}", scope)
    module.forward = scope["forward"]
    args = tuple(library.ones(s) for s in shapes)
    vary = tuple({d: library.export.Dim.AUTO for d, n in enumerate(s) if n > 1} for s in shapes)
    program = library.export.export(module(), args, dynamic_shapes=vary)
    values = [n.meta["val"] for n in program.graph.nodes if n.op == "placeholder"]
    text = " ".join(",".join(str(n).replace(" ", "") for n in v.shape) or "." for v in values)
    letters: dict[str, str] = {}
    return re.sub(r"s\d+", lambda m: letters.setdefault(m[0], "abcdefghijkl"[len(letters)]), text)
