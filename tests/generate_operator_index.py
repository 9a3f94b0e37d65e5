"""The table of all operators, made from their records.

In: the registry, and the samples of `tests.samples`, which tell the dtypes that an operator takes.  Out:
`docs/reference/operators/`, `ts/ops/op_index.py`, which says where each operator is declared, and `kernel_index.py` next to the kernels of
the CPU, which says where each of them is.  To bring them up to date:

    python -m tests.generate_operator_index
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import ts
from tests import samples
from ts._core.builtin_ops import registry as prims
from ts.backends.cpu import kernels
from ts._core.dispatch.autocast import LOWER_DTYPES
from ts.ops import registry, shape_functions

FOLDER = Path(__file__).parent.parent / "docs" / "reference" / "operators"
DIRECTORY = Path(registry.__file__).with_name("op_index.py")
KERNELS = Path(kernels.__file__).with_name("kernel_index.py")
PRIMS = Path(prims.__file__).with_name("op_index.py")

HEAD = """\
# Operators

Every operator that `ts` has, with one page for each family (the module in `ts/ops/` that declares it). Schemas are PyTorch's, letter for letter.

- **Forms**: `f` a function (`ts.add`), `m` a method (`x.add`), `_` in place, `out` with `out=`.
- **Dtypes**: `b` bool, `i` integers, `h` float16 and bfloat16 (computed in float32, rounded once), `f` float32 and float64,
  `c` complex64 and complex128; found by calling the operator.
- **Fused**: `cpu` runs as an inner loop that pointwise groups can be made of, `cuda` has an expression for CUDA kernels.
- **Backends**: all operators run on `cpu`, and on `cuda` from the same kernels (what CuPy lacks runs on the host, with a warning).
  On `meta` they give shapes, dtypes and strides.
- **Shape**: how the shapes of the results are determined for tensors without elements, that is on the meta device, in exports (where sizes
  may be symbols) and in checks of loaded programs.
  - *kernel on sizes*: the kernel of the operator runs with an array namespace whose functions compute shapes only.
  - *of its tensors*: the kernel receives tensors instead of arrays, and determines the shapes of its results from them.
  - The name of a function: this shape function computes the shapes (an *own rule*).
  - *of elements: new symbols*: the shapes depend on elements. Exports create a new symbol for the size or number; the meta device raises an
    error, as in PyTorch.
  - *of elements: refused*: the shapes depend on elements, and exports and the meta device raise an error.

  `tests/export/test_symbolic_sizes.py` compares all shapes except *of elements: refused* with the results for tensors with
  elements, with a symbol for each size.

How numbers may differ from PyTorch's: [numerical accuracy](../../explanation/numerical-accuracy.md). These pages are generated from the records by
`python -m tests.generate_operator_index`.
"""

NOT_REGISTERED = """\
Of the overloads of PyTorch's dense registry on the CPU, `aten::` and `prim::`, without `out=` forms and derivatives, these have no
operator here; `tests/pytorch_parity/test_registry.py` holds the list.
"""

# Of PyTorch's operator database: what has no operator here, and why.
MISSING = {
    "_scaled_mm": "takes 8-bit floats, which `ts` does not have",
    "_scaled_mm_v2": "takes 8-bit floats, which `ts` does not have",
    "_flash_attention_forward": "a kernel of one kind of GPU; `scaled_dot_product_attention` is there",
    "_efficient_attention_forward": "a kernel of one kind of GPU; `scaled_dot_product_attention` is there",
}
# Overloads of PyTorch's dense registry without a record here, with reasons. `out=` forms, derivatives and
# names matched by OTHER are not counted.
UNREGISTERED = {
    **dict.fromkeys(
        "prim::PythonOp prim::ModuleContainerIndex.dict prim::ModuleContainerIndex.list".split(),
        "an instruction of the bytecode; programs have it",
    ),
    "prim::IgnoredPythonOp": "a call of Python, which an archive cannot hold",
    **dict.fromkeys(
        "prim::ConstantChunk prim::ChunkSizes".split(), "an attribute says how many results; archives have `aten::chunk`"
    ),
    **dict.fromkeys(
        "prim::FallbackGraph prim::Guard prim::TypeCheck prim::profile prim::profile_ivalue "
        "prim::DifferentiableGraph prim::RequiresGradCheck".split(),
        "a node that PyTorch's executor puts into graphs; in graph text it becomes what it means (`passes/lower_executor_nodes.py`)",
    ),
    **dict.fromkeys(
        "aten::get_gradients prim::AutogradZero".split(),
        "gradients come with automatic differentiation",
    ),
    **dict.fromkeys("aten::save aten::from_file".split(), "would let an archive read and write files"),
    "aten::_fill_mem_eff_dropout_mask_": "a stream of random numbers of one kind of GPU",
    "aten::_mixed_dtypes_linear": "a kernel of one kind of GPU, for weights packed by another library",
}
# Operators of other devices, layouts and libraries, and of what PyTorch keeps to itself.
OTHER = re.compile(
    r"sparse|_coo|csr|csc|bsr|bsc|compressed|crow|ccol|_indices|aten::indices|_values|coalesce|_nnz|_spdiags|_spsolve|smm$|"
    r"sspaddmm|hspmm|to_dense|dense_dim|_dim[IV]|_cslt|nested|jagged|segment_reduce|"  # layouts
    r"quantiz|fake_quant|fbgemm|qint|int4|int8|4bit|_scaled|fused_moving|choose_qparams|per_channel|q_scale|q_zero|qscheme|"
    r"int_repr|_wrapped|aten::chalf|"  # dtypes
    r"mkldnn|MKLDNN|oneDNN|cudnn|miopen|xnnpack|_nnpack|_cuda|_cufft|vulkan|mps|mtia|xpu|maia|xla|triton|thnn|slow_conv|"
    r"_efficient_att|_flash_att|_addmm_activ|TensorExpr|Static|FusionGroup|FusedConcat|_philox|"  # libraries and devices
    r"_foreach|_fused_|_amp_|rpc_|owner|to_here|local_value|awaitable|_add_batch_dim|_remove_batch_dim|BailOut|Bailout|"
    r"MMTreeReduce|MMBatchSide|_test_|_foobar|_make_dep|_sobol"  # optimisers, distribution, vmap, the fuser, tests
)
AUTOCAST = """Inside of `ts.autocast`, the floats among the arguments of these, but for float64, get another dtype: the one that the block is for
(`lower`), `float32`, or that of the `widest` among them. All others are left alone. `binary_cross_entropy` is refused on CUDA devices.
"""
INDEX_NAMES = 3  # of a family that the index shows
GROUPS = {"b": (0,), "i": (1, 2, 3, 4, 5), "h": (6, 7), "f": (8, 9), "c": (10, 11)}


def dtypes(record: Any) -> str:
    """The letters of the dtypes that the record takes."""
    took = set()
    for i, dtype in enumerate(samples.DTYPES):
        args = samples.arguments(record, dtype)
        if args is None:
            return "?"
        if not any(isinstance(a, ts.Tensor) or (isinstance(a, list) and a and isinstance(a[0], ts.Tensor)) for a in args):
            return ""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                samples.operator(record)(*args)
        except samples.REJECTION_ERRORS:
            continue
        took.add(i)
    return "".join(letter for letter, members in GROUPS.items() if took & set(members))


def rows(records: list[Any]) -> Iterator[str]:
    """Yield a table line for each record that is not derived from another record."""
    derived: dict[int, set[str]] = {}
    for record in records:
        if record.base is not None:
            derived.setdefault(id(record.base), set()).add({"inplace": "_"}.get(record.variant, record.variant))
    for record in records:
        if record.base is not None:
            continue
        named = registry._namespaced(record.name.removeprefix("aten::"))
        forms = ["f"] if named else list(record.where)
        forms += sorted(derived.get(id(record), ()))
        fused = [place for place, has in (("cpu", record.ufunc or record.loop), ("cuda", record.cuda or record.cuda_rows)) if has]
        shape = shape_functions.describe_rule(record.shape, record.whole)
        schema = record.schema_text.removeprefix("aten::").replace("|", "\\|")
        yield f"| `{schema}` | {' '.join(forms)} | {dtypes(record)} | {' '.join(fused)} | {shape} |"


def autocast(records: list[Any]) -> Iterator[str]:
    """A line for what the arguments become of operators on a device."""
    for device in LOWER_DTYPES:
        classes: dict[str, set[str]] = {kind: set() for kind in ("lower", "float32", "widest")}
        for record in records:
            kind = record.autocast if isinstance(record.autocast, str) else record.autocast.get(device, "")
            if kind in classes:
                classes[kind].add(record.name.removeprefix("aten::"))
        for kind, names in classes.items():
            yield f"| {device} | {kind} | {' '.join(sorted(names))} |"


def pages() -> dict[Path, str]:
    """Return the texts of docs/reference/operators by their paths: a page for each family, and the index."""
    registry.load()
    everything = registry.records()
    kinds = Counter(shape_functions.kind(r.shape, r.whole) for r in everything if r.base is None)
    counted = ", ".join(f"*{kind}* for {n}" for kind, n in kinds.most_common())
    names = {r.name for r in everything}
    texts: dict[Path, str] = {}
    lines = [
        HEAD,
        f"`ts` has {len(names)} operators with {len(everything)} overloads. The column **Shape**\n"
        f"is {counted} of the\n"
        "overloads that are neither in-place forms nor forms with `out=`.\n",
    ]
    lines += ["## Families\n", "| Family | Operators | Names |", "|---|---|---|"]
    for family in registry.FAMILIES:
        records = [r for r in everything if r.family == family]
        if not records:
            continue
        with ts.set_grad_enabled(ts.is_grad_enabled()):  # which an operator among them switches
            table = ["| Schema | Forms | Dtypes | Fused | Shape |", "|---|---|---|---|---|", *rows(records)]
        page = "indexing" if family == "index" else family  # index.md is the list of families
        title = page.replace("_", " ").capitalize()
        head = f"# {title}\n\nOperators of `ts/ops/{family}.py`. [Operators](index.md) explains the columns.\n"
        texts[FOLDER / f"{page}.md"] = "\n".join([head, *table]) + "\n"
        own = sorted({r.name.removeprefix("aten::") for r in records if r.base is None})
        shown = ", ".join(f"`{name}`" for name in own[:INDEX_NAMES]) + (", ..." if len(own) > INDEX_NAMES else "")
        lines.append(f"| [{family}]({page}.md) | {len(own)} | {shown} |")
    lines += ["\n[Autocast](autocast-dtypes.md) lists what `ts.autocast` converts, and [missing operators](missing-operators.md) what `ts` lacks."]
    texts[FOLDER / "index.md"] = "\n".join(lines) + "\n"
    table = ["# Autocast\n", AUTOCAST, "| Device | Arguments become | Operators |", "|---|---|---|", *autocast(everything)]
    texts[FOLDER / "autocast-dtypes.md"] = "\n".join(table) + "\n"
    table = ["# Missing operators\n", "## Of PyTorch's operator database\n", "| Operator | Why |", "|---|---|"]
    table += [f"| {name} | {why} |" for name, why in MISSING.items()]
    table += ["\n## Not registered\n", NOT_REGISTERED, "| Overload | Why |", "|---|---|"]
    table += [f"| {key} | {why} |" for key, why in UNREGISTERED.items()]
    texts[FOLDER / "missing-operators.md"] = "\n".join(table) + "\n"
    return texts


def directory() -> str:
    """The text of ts/ops/op_index.py: that of the file, with the names as they are."""
    registry.load()
    declared: dict[str, list[str]] = {family: [] for family in registry.FAMILIES}
    for record in registry.records():
        if registry.declaring_family(record) != "custom":  # a program's own
            declared[registry.declaring_family(record)].append(record.name)
    # `script_only_ops` says in which order the operators are tried that are written in C.
    declared["script_only_ops"] += [name for name in registry._orders if not registry.records(name)]
    return _with_names(DIRECTORY, {f: {n.removeprefix("aten::") for n in names} for f, names in declared.items()})


# Every module of kernels in a process that has imported no other: what is registered then.
REGISTERED = """
import importlib, os, pkgutil
from ts.backends.cpu import kernels
from ts.backends.cpu.kernels import kernel_registry
for module in sorted(m.name for m in pkgutil.iter_modules(kernels.__path__)):
    child = os.fork()
    if not child:
        importlib.import_module(f"ts.backends.cpu.kernels.{module}")
        print(module, *sorted(kernel_registry.names()), flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, module
"""


def kernel_directory() -> str:
    """Return the text of `kernel_index.py` with the currently registered names."""
    done = subprocess.run([sys.executable, "-c", REGISTERED], capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    declared: dict[str, set[str]] = {}
    claimed: set[str] = set()
    # a module registers the names of its imports too, so shorter lists come first
    for module, *names in sorted(lines, key=len):
        if set(names) - claimed:
            declared[module] = set(names) - claimed
            claimed.update(names)
    return _with_names(KERNELS, dict(sorted(declared.items())))


def prim_directory() -> str:
    """The text of ts/_core/builtin_ops/op_index.py: that of the file, with the names as they are."""
    declared = {
        module: {op.name.removeprefix("aten::") for op in import_module(f"ts._core.builtin_ops.{module}").operators()}
        for module in prims.MODULES
    }
    return _with_names(PRIMS, declared)


def _with_names(file: Path, declared: dict[str, set[str]]) -> str:
    """Return the text of an index file with the given names."""
    table = ["NAMES: Final[dict[str, str]] = {"]
    for family, names in declared.items():
        lines = textwrap.wrap(" ".join(sorted(names)), 100)
        table += [f'    "{family}": """', *(f"        {line}" for line in lines), '    """,']
    before, rest = file.read_text().split("NAMES: Final", 1)
    return before + "\n".join(table) + rest[rest.index("\n}\n") :]


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text)
    DIRECTORY.write_text(directory())
    KERNELS.write_text(kernel_directory())
    PRIMS.write_text(prim_directory())
