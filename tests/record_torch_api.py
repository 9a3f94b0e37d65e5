"""Record the names of PyTorch's modules: `python -m tests.record_torch_api`, with PyTorch 2.13.

It writes two files, which contain names and parameters, but no source text of PyTorch:

ts/unsupported/api.txt         names of each module by kind; `ts.unsupported` creates placeholders
tests/torch_api.txt       the parameters of public functions and classes; tests compare those of `ts`
"""

from __future__ import annotations

import importlib
import inspect
import logging
import os
import re
import sys
import types
import typing
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
NAMES_FILE = ROOT / "ts" / "unsupported" / "api.txt"
PARAMETERS_FILE = ROOT / "tests" / "torch_api.txt"

# Skipped folders: other projects' code, tests, examples, code generation.
SKIPPED = re.compile(
    r"(testing\._internal|_vendor|include|_inductor\.\w+|_native|_lazy|_strobelight|nativert|contrib)(\.|$)"
    r"|benchmark\.(examples|op_fuzzers)|\.(gen_pyi|model_dump|_coreml)(\.|$)|onnx\._internal\."
    r"|_meta_registrations|common_methods_invocations|_examples|_experimental\.data_sparsifier|vendored|_numpy\.testing|\.__"
)
# Modules in skipped folders that models and packages use.
INCLUDED = (
    "_inductor.config _inductor.utils _inductor.virtualized _inductor.ir _inductor.decomposition "
    "_inductor.codecache _inductor.compile_fx _inductor.custom_graph_pass _inductor.pattern_matcher "
    "_inductor.graph _inductor.scheduler _inductor.async_compile _inductor.exc _inductor.cudagraph_trees "
    "_inductor.fx_passes _inductor.fx_passes.post_grad _inductor.runtime _inductor.runtime.hints "
    "testing._internal testing._internal.common_utils testing._internal.common_cuda testing._internal.common_dtype "
    "testing._internal.common_device_type testing._internal.common_distributed testing._internal.two_tensor "
    "testing._internal.logging_tensor testing._internal.opinfo "
    "testing._internal.opinfo.core "
    "testing._internal.distributed testing._internal.distributed.fake_pg testing._internal.jit_utils "
    "testing._internal.common_fsdp testing._internal.common_quantization testing._internal.optests"
).split()
MODULES_IN_C = (
    "_C _C._onnx _C._jit _C._jit_tree_views _C._te _C._monitor _C._functorch _C._profiler _C.cpp _C.cpp.nn _C._lazy "
    "_C._export _C._itt _C._cpu _C._verbose _C._dynamo _C._dynamo.eval_frame _C._dynamo.guards _C._fft _C._linalg "
    "_C._nested _C._nn _C._return_types _C._sparse _C._special _C._distributed_c10d _C._distributed_rpc "
    "_C._distributed_autograd _C._autograd"
).split()
# Modules whose import requires another package, with the names that programs import from them.
WITHOUT_PACKAGE = {"utils.tensorboard": "class SummaryWriter", "utils.tensorboard.writer": "class SummaryWriter FileWriter"}
LITERALS = (int, float, str, bool, bytes, type(None))


def modules(torch: types.ModuleType) -> dict[str, types.ModuleType]:
    """Return PyTorch's modules by their paths in `torch` ("" is `torch` itself)."""
    base = Path(torch.__file__).parent
    paths = set()
    for file in base.rglob("*.py"):
        parts = file.relative_to(base).with_suffix("").parts
        path = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if not SKIPPED.search(path) and (len(parts) == 1 or (base.joinpath(*parts[:-1]) / "__init__.py").exists()):
            paths.add(path)
    results = {}
    for path in sorted(paths | set(INCLUDED), key=lambda p: (p.count("."), p)) + MODULES_IN_C:
        try:
            results[path] = importlib.import_module(f"torch.{path}".rstrip("."))
        except (Exception, SystemExit) as error:
            if path not in WITHOUT_PACKAGE:
                print(f"{path}: {error}", file=sys.stderr)
    return dict(sorted(results.items()))


def attribute_text(value: Any, name: str) -> str:
    """Return a string attribute; "" if it is missing or raises."""
    try:
        text = getattr(value, name, None)
    except Exception:
        return ""
    return text if isinstance(text, str) else ""


def is_private(path: str) -> bool:
    """Return whether a part of the path is private."""
    return any(part.startswith("_") for part in path.split("."))


class Names:
    """The names of all modules, with the canonical path of each object."""

    def __init__(self, modules: dict[str, types.ModuleType]) -> None:
        self.modules = modules
        self.paths = {id(module): path for path, module in modules.items()}
        self.places: dict[int, list[tuple[str, str]]] = defaultdict(list)
        self.values: dict[str, dict[str, Any]] = {}
        for path, module in modules.items():
            named = {n: v for n, v in list(vars(module).items()) if not n.startswith("__") and n != "annotations" and n.isidentifier() and n.isascii()}
            lazy = [n for n in getattr(module, "__all__", ()) if n not in named and hasattr(module, n)]
            self.values[path] = named | {n: getattr(module, n) for n in lazy}
            for name, value in self.values[path].items():
                if has_identity(value):
                    self.places[id(value)].append((path, name))
        self.homes = {key: min(aliases, key=self.rank) for key, aliases in self.places.items()}

    def rank(self, place: tuple[str, str]) -> tuple[Any, ...]:
        """Return the sort key of a path for the canonical choice: declaring module, public, short."""
        path, name = place
        value = self.values[path][name]
        module = attribute_text(value, "__module__").removeprefix("torch").removeprefix(".")
        defined = module == path and not path.startswith("_C") and attribute_text(value, "__name__") in ("", name)
        listed = name in getattr(self.modules[path], "__all__", ()) or (
            module.startswith(f"{path}.") if path else not name.startswith("_") and not isinstance(value, types.ModuleType)
        )
        if name.startswith("_"):
            return not defined, is_private(path), path.count("."), path, name
        return not (defined or listed), is_private(path), path.count(".") + bool(path), path, name

    def entry(self, path: str, name: str) -> tuple[str, str] | None:
        """Return the kind and detail of a name, or None for an unrecorded name."""
        value = self.values[path][name]
        if isinstance(value, types.ModuleType):
            known = self.paths.get(id(value))
            if known is None:
                return external(path, name, value.__name__)
            return ("module", name) if known == f"{path}.{name}".lstrip(".") else ("alias", renamed(name, known))
        if isinstance(value, LITERALS):
            text = repr(value)
            return ("literal", f"{name}={text}") if len(text) < 60 and not re.search(r"\s|nan|inf", text) else ("value", name)
        module_name = attribute_text(value, "__module__")
        if isinstance(value, typing.TypeVar):
            return "typevar", name
        if isinstance(value, logging.Logger):
            return "logger", f"{name}={value.name}"
        if typing.get_origin(value) is not None and not isinstance(value, type):
            return "value", name
        if module_name.split(".")[0] in STANDARD and attribute_text(value, "__name__"):
            if getattr(sys.modules.get(module_name), value.__name__, None) is value:
                return external(path, name, f"{module_name}.{value.__name__}")
        if has_identity(value) and self.homes[id(value)] != (path, name):
            if is_private(path) and not path.startswith(("_C", "_utils", "_jit_internal", "utils.data._utils")) and name not in getattr(self.modules[path], "__all__", ()):
                return None
            return "alias", renamed(name, ".".join(filter(None, self.homes[id(value)])))
        return kind(value), name


STANDARD = set(sys.stdlib_module_names) | {"numpy", "typing_extensions"}


def external(path: str, name: str, target: str) -> tuple[str, str] | None:
    """Return the entry of another package's object in a public module, or None."""
    if is_private(path) or name.startswith("_") or target.split(".")[0] not in STANDARD or "._" in target:
        return None
    return "external", renamed(name, target)


def renamed(name: str, target: str) -> str:
    return target if target.rpartition(".")[2] == name else f"{name}={target}"


def has_identity(value: Any) -> bool:
    """Return whether the identity of an object is meaningful (not a small constant)."""
    return not isinstance(value, (*LITERALS, tuple, frozenset, list, dict, set, typing.TypeVar)) and (
        isinstance(value, (type, types.ModuleType)) or callable(value) or type(value).__module__.startswith("torch")
    )


def kind(value: Any) -> str:
    """Return the kind of an object: class, function, value, or error class with its builtin base."""
    if isinstance(value, type):
        if issubclass(value, BaseException):
            base = next(b for b in value.__mro__ if b.__module__ == "builtins")
            return f"error:{base.__name__}"
        return "class"
    if inspect.isroutine(value) or (callable(value) and type(value).__module__.split(".")[0] in ("functools", "builtins")):
        return "function"
    return "value"


def parameters(value: Any) -> str | None:
    """Return the names and kinds of parameters, with `=` for defaults, or None if unknown."""
    try:
        signature = inspect.signature(value)
    except (ValueError, TypeError, AttributeError, NameError):
        return None
    parts, stars, positional = [], False, False
    for p in signature.parameters.values():
        if positional and p.kind is not p.POSITIONAL_ONLY:
            parts.append("/")
        positional = p.kind is p.POSITIONAL_ONLY
        if p.kind is p.KEYWORD_ONLY and not stars:
            parts.append("*")
            stars = True
        prefix = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        stars = stars or prefix == "*"
        parts.append(f"{prefix}{p.name}{'' if p.default is p.empty else '='}")
    return " ".join(parts + ["/"] * positional)


def alias_paths(names: Names) -> dict[str, str]:
    """Return a dict from alias paths of modules to their canonical paths."""
    others = {name.removeprefix("torch."): m for name, m in list(sys.modules.items()) if name.startswith("torch.")}
    known = {path: names.paths.get(id(module)) for path, module in others.items() if path not in names.modules}
    return {path: canonical for path, canonical in known.items() if canonical and not SKIPPED.search(path)}


def names_text(names: Names) -> Iterator[str]:
    """Yield the lines of the file of names."""
    yield "# The names of PyTorch's modules by kind, written by tests/record_torch_api.py"
    second = alias_paths(names)
    for path in sorted({*names.modules, *WITHOUT_PACKAGE, *second}):
        kinds = defaultdict(list)
        for name in names.values.get(path, ()):
            entry = names.entry(path, name)
            if entry is not None:
                kinds[entry[0]].append(entry[1])
        yield f"[{path}]"
        if path in second:
            yield f"same {second[path]}"
        if path in WITHOUT_PACKAGE:
            yield WITHOUT_PACKAGE[path]
        for each in sorted(kinds):
            yield f"{each} {' '.join(sorted(kinds[each]))}"


def parameters_text(names: Names) -> Iterator[str]:
    """Yield the lines of the file of parameters."""
    yield "# Parameters of PyTorch's functions and classes, `=` where there is a default: tests/record_torch_api.py"
    for path in names.modules:
        for name, value in sorted(names.values[path].items()):
            entry = names.entry(path, name)
            if entry is None or entry[0] not in ("class", "function") or is_private(path) or name.startswith("_"):
                continue
            text = parameters(value)
            if text is not None:
                yield f"{path}.{name}: {text}".lstrip(".")


def read(text: str) -> dict[str, set[str]]:
    """Return the lines of a file by section: the words of `kind name ...` as `kind name`, or the line itself."""
    results: dict[str, set[str]] = defaultdict(set)
    section = ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line
        elif ": " in line and section == "":
            results[line].add(line)
        elif not line.startswith("#"):
            word, *names = line.split(" ")
            results[section].update(f"{word} {name}" for name in names)
            if word == "alias":
                results[section].update(f"alias {name.partition('=')[0].rpartition('.')[2]}" for name in names)
    return results


def differences(recorded: str, present: str) -> list[str]:
    """Return recorded entries that are missing now; installed packages may add names and modules."""
    now = read(present)
    return [
        f"{section} {line}".strip()
        for section, lines in read(recorded).items()
        if section in now or not section.startswith("[")
        for line in sorted(lines - now[section])
        if not line.startswith(("literal", "alias", "value"))  # other packages change some of them
        and f"alias {line.partition(' ')[2]}" not in now[section]
    ]


def main() -> None:
    """Write the files; with `--check`, compare them with the installed PyTorch."""
    warnings.simplefilter("ignore")
    torch = importlib.import_module("torch")
    names = Names(modules(torch))
    texts = {NAMES_FILE: names_text(names), PARAMETERS_FILE: parameters_text(names)}
    failed = False
    for file, lines in texts.items():
        text = "\n".join(lines) + "\n"
        if "--check" in sys.argv:
            different = differences(file.read_text(), text)
            failed = failed or bool(different)
            print(*different, sep="\n")
        else:
            file.write_text(text)
    sys.stdout.flush()
    os._exit(failed)  # some modules of PyTorch crash at interpreter shutdown


if __name__ == "__main__":
    main()
