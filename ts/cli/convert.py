"""Command `ts convert`, a model converter for archives, exported programs and safetensors files.

The types of both files select the conversion:

    input                  output
    archive                archive          frozen, without debug records, or rewritten
    archive                .pt2             a program, exported for the arguments of `--input`
    archive                .safetensors     parameters and buffers by name
    .pt of torch.save      .safetensors     tensors of a dictionary, nested ones as `model.fc.weight`
    .safetensors           .pt              a dictionary for `torch.load` and `ts.load`
    .safetensors           archive          with `--into`: the model of a given archive with these weights
"""

from __future__ import annotations

import argparse
import io
import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import ts
from ts.archive.zip_records import ZipRecords
from ts.cli import console
from ts.cli.archive_summary import format_bytes
from ts.cli.arguments import parse_tensor_description, random_tensor, read_input, split_input
from ts.cli.errors import ProgramError, UsageError, report_read_errors
from ts.cli.limit_options import add_limits, limits_of
from ts.cli.targets import is_archive, is_exported, load_archive, parse_target
from ts.errors import GuardOnDataDependentSymNode, UserError

_SAFETENSORS = ".safetensors"
_EXPORTED = ".pt2"
_PYTORCH_SUFFIXES = (".pt", ".pth", ".bin", ".ckpt", ".torchscript", ".ts")


def arguments(parser: argparse.ArgumentParser, command: str) -> str:
    """Add the command's arguments to `parser` and return its help epilog."""
    parser.add_argument(
        "source", metavar="FROM", help="an archive, a .safetensors file or a file written by torch.save"
    )
    parser.add_argument(
        "out",
        metavar="TO",
        help="output file; its suffix selects the format: .pt2, .safetensors, .pt, .pth ...",
    )
    parser.add_argument(
        "--freeze",
        action="store_true",
        help="convert the model to evaluation mode, with weights as constants",
    )
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="NAME",
        help="method or attribute that --freeze preserves",
    )
    parser.add_argument("--strip-debug", action="store_true", help="omit the source locations of the code")
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="for .pt2: example of an argument, float32[1,3,224,224] or a literal",
    )
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="NAME:DIM",
        help="for .pt2: dynamic dimension of an argument; an error if the model requires a fixed size",
    )
    parser.add_argument("--into", metavar="ARCHIVE", help="load the weights into the model of this archive")
    add_limits(parser)
    return """\
.safetensors files need the safetensors library: pip install safetensors.

examples:
  ts convert model.pt small.pt --freeze --strip-debug
  ts convert model.pt weights.safetensors
  ts convert model.pt model.pt2 --input x=float32[1,3,224,224] --vary x:0
  ts convert weights.safetensors weights.pt
  ts convert weights.safetensors tuned.pt --into model.pt
"""


def run(options: argparse.Namespace) -> int:
    """Convert the source file to the output file."""
    source, out = parse_target(options.source).path, Path(options.out)
    if is_exported(source):
        raise UsageError(f"{source} is an exported program, which cannot be converted; `ts run` runs it")
    if out.suffix == _EXPORTED:
        return _export(source, out, options)
    if options.input or options.vary:
        raise UsageError("--input and --vary require an output file with the suffix .pt2")
    if out.suffix not in (_SAFETENSORS, *_PYTORCH_SUFFIXES):
        supported = ", ".join((_SAFETENSORS, *_PYTORCH_SUFFIXES, _EXPORTED))
        raise UsageError(f"expected an output file with one of the suffixes {supported}, got {options.out}")
    archive = source.suffix != _SAFETENSORS and is_archive(source)
    to_archive = out.suffix != _SAFETENSORS and (archive or options.into is not None)
    if (options.freeze or options.strip_debug) and not to_archive:
        raise UsageError(
            "--freeze and --strip-debug require an archive as the output, made from an archive or with --into"
        )
    if options.into is not None and (archive or not to_archive):
        raise UsageError(
            "--into requires an archive as the output, and weights as the input: a .safetensors file "
            "or a file written by torch.save"
        )
    if options.keep and not options.freeze:
        raise UsageError("--keep requires --freeze")
    with limits_of(options, untrusted=True), console.progress(f"converting {source.name}"):
        if not to_archive:
            _write_weights(_weights(source, archive), out)
        elif options.into is not None or options.freeze or not options.strip_debug:
            _write_model(_model(source, options), out, options.strip_debug)
        else:
            with report_read_errors(source), open(source, "rb") as file, ZipRecords(file) as records:
                _strip(records, out)
    print(
        f"{out}: {format_bytes(out.stat().st_size)}, from {format_bytes(source.stat().st_size)}",
        file=sys.stderr,
    )
    return 0


def _export(source: Path, out: Path, options: argparse.Namespace) -> int:
    """Export the `forward` of an archive's model and write the exported program."""
    from ts.export import export, save

    if not is_archive(source) or options.into or options.freeze or options.strip_debug:
        raise UsageError("output to .pt2 requires an archive, without --freeze, --strip-debug and --into")
    model = load_archive(source)
    input_arguments = dict(map(split_input, options.input))
    declared = {a.name: a for a in model.forward.schema.arguments[1:]}  # without `self`
    parameters = list(declared)
    if unknown := [name for name in input_arguments if name not in declared]:
        raise UsageError(f"--input {unknown[0]}: the parameters of forward are {', '.join(parameters)}")
    if missing := [name for name, a in declared.items() if name not in input_arguments and not a.has_default]:
        raise UsageError(
            f"missing --input {missing[0]}=..., such as float32[1,3,224,224]; "
            f"the parameters of forward are {', '.join(parameters)}"
        )
    values = {
        name: read_input(name, argument, declared[name].type) for name, argument in input_arguments.items()
    }
    shapes = _varying_sizes(values, input_arguments, options.vary)
    # The leading parameters for which values are given are passed by position, and all others by name.
    first = list(itertools.takewhile(values.__contains__, parameters))
    args = tuple(values.pop(name) for name in first)
    with limits_of(options, untrusted=True), console.progress(f"exporting {source.name}"):
        try:
            program = export(model, args, values, dynamic_shapes=shapes)
        except (UserError, GuardOnDataDependentSymNode) as error:
            raise ProgramError(str(error)) from None
        with _writing(out):
            save(program, out)
    print(
        f"{out}: {format_bytes(out.stat().st_size)}, from {format_bytes(source.stat().st_size)}",
        file=sys.stderr,
    )
    return 0


def _varying_sizes(
    values: dict[str, Any], input_arguments: dict[str, str], varying: Sequence[str]
) -> dict[str, Any]:
    """Return the `dynamic_shapes` argument of `export` for the `--vary` options.

    Since export makes the sizes 0 and 1 constant, random examples get size 2 in varying dimensions. For an
    example with explicit elements, a size of 0 or 1 in a varying dimension is an error.
    """
    from ts.export import Dim
    from ts.utils import _pytree as pytree

    shapes = {name: pytree.tree_map(lambda leaf: None, value) for name, value in values.items()}
    for word in varying:
        name, _, dim = word.partition(":")
        x = values.get(name)
        if not isinstance(x, ts.Tensor) or not dim.isdecimal():
            raise UsageError(f"--vary: expected NAME:DIM of a tensor passed by --input, got {word!r}")
        if int(dim) >= x.ndim:
            raise UsageError(f"--vary {word}: {name} has only {x.ndim} dimensions")
        if x.shape[int(dim)] < 2:
            if parse_tensor_description(input_arguments[name]) is None:
                size = x.shape[int(dim)]
                raise UsageError(
                    f"--vary {word}: the example of {name} must have size 2 or more in this "
                    f"dimension, got {size}"
                )
            sizes = [2 if axis == int(dim) else size for axis, size in enumerate(x.shape)]
            values[name] = random_tensor(x.dtype, sizes)
        shapes[name] = (shapes[name] or {}) | {int(dim): Dim.DYNAMIC}
    return shapes


def _weights(source: Path, archive: bool) -> dict[str, Any]:
    """Return the tensors of a file by name. `archive` is True for an archive, False for a weights file."""
    if archive:
        return dict(load_archive(source).state_dict())
    with report_read_errors(source):
        if source.suffix == _SAFETENSORS:
            from ts.archive.safetensors import load_file

            return load_file(source)
        loaded = ts.load(source, map_location="cpu")
    if not isinstance(loaded, Mapping):
        raise ProgramError(
            f"cannot read {source}: expected a dictionary of tensors, found {type(loaded).__name__}"
        )
    weights = dict(_flatten(loaded, ""))
    left = [name for name, value in weights.items() if not isinstance(value, ts.Tensor)]
    if left:
        print(f"omitted entries that are not tensors: {', '.join(left)}", file=sys.stderr)
    return {name: value for name, value in weights.items() if name not in left}


def _flatten(values: Mapping[Any, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _write_weights(weights: dict[str, Any], out: Path) -> None:
    with _writing(out):
        if out.suffix == _SAFETENSORS:
            from ts.archive.safetensors import save_file

            save_file(weights, out, {"format": "pt"})
        else:
            ts.save(weights, out)


def _model(source: Path, options: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """Return the model to convert and the extra files of its archive."""
    path = source if options.into is None else parse_target(options.into).path
    with report_read_errors(path), open(path, "rb") as file, ZipRecords(file) as records:
        prefix = "extra/"
        extra: dict[str, Any] = {n.removeprefix(prefix): "" for n in records.entries if n.startswith(prefix)}
    module = load_archive(path, _extra_files=extra)
    if options.into is not None:
        try:
            module.load_state_dict(_weights(source, archive=False))
        except RuntimeError as error:
            raise ProgramError(f"cannot load the weights of {source} into {path}: {error}") from None
    if options.freeze:
        try:
            module = ts.jit.freeze(module, options.keep)
        except (AttributeError, RuntimeError) as error:
            raise ProgramError(f"cannot freeze {path}: {error}") from None
    return module, extra


def _write_model(model: tuple[Any, dict[str, Any]], out: Path, strip: bool) -> None:
    module, extra = model
    with _writing(out):
        if not strip:
            ts.jit.save(module, out, extra)
            return
        buffer = io.BytesIO()
        ts.jit.save(module, buffer, extra)
        with ZipRecords(buffer) as records:
            _strip(records, out)


def _strip(records: ZipRecords, out: Path) -> None:
    from ts.archive.strip_debug import strip_debug

    with _writing(out):
        strip_debug(records, out)


class _writing:
    """Context manager that converts errors during writing to one-line errors."""

    def __init__(self, out: Path) -> None:
        self.out = out

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, ProgramError) or not isinstance(
            error, OSError | RuntimeError | ValueError | ImportError
        ):
            return
        raise ProgramError(f"cannot write {self.out}: {getattr(error, 'strerror', None) or error}") from None
