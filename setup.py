"""Build script of the Cython extensions; the package metadata is in ``pyproject.toml``.

Each ``.pyx`` file under ``ts/_core`` and ``backends`` is compiled to one extension module.  The enum of the
opcodes and the interpreter are generated from the opcode table (``ts/bytecode/opcodes.py``).  In wheels and
in ``pip install .``, mypyc also compiles the Python modules of the compiler (``COMPILED_PACKAGES``).

The build is parallel and incremental: it translates and compiles only the files that changed or that depend
on a changed ``.pxd`` or ``.h`` file.  Environment variables:

    TS_JOBS=1                           number of parallel processes (reduce it if memory is small)
    TS_CHECKED=1                        check bounds, initialization and the assumptions of the interpreter
                                        loop (``ts/_core/vm/debug_asserts.pxd``)
    TS_SANITIZE=address,undefined       compile with these sanitizers and with debug information
    TS_COMPILED=1 or 0                  compile the Python modules, or do not.  The default is 1 for wheels
                                        and 0 for editable installations and builds in place
    TS_PROGRESS=FILE                    also append the progress lines to this file, because pip hides the
                                        output of builds

If the compile options change, all files are rebuilt.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy
from Cython.Build import cythonize
from Cython.Compiler.Errors import CompileError as CythonError
from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import CompileError, PlatformError

ROOT = Path(__file__).resolve().parent
PACKAGE_OF = {"ts": "ts", "backends": "ts.backends"}
CHECKED = os.environ.get("TS_CHECKED", "0") not in ("", "0")
SANITIZERS = os.environ.get("TS_SANITIZE", "")

BUILDS_WHEEL = not {"bdist_wheel", "install"}.isdisjoint(sys.argv)
COMPILED = os.environ.get("TS_COMPILED", "1" if BUILDS_WHEEL and not CHECKED else "0") not in ("", "0")

# packages whose modules mypyc compiles
COMPILED_PACKAGES = ("ts/analysis", "ts/bytecode", "ts/frontend", "ts/ir", "ts/passes")
# files and folders of these packages that stay interpreted
INTERPRETED = {
    "ts/bytecode/disasm.py": "listings are rarely needed",
    "ts/bytecode/native": "it runs in a background thread, and calls LLVM",
    "ts/bytecode/stop_points.py": "`Stack` is a subclass of tuple",
    "ts/bytecode/subgraph_functions.py": "its classes derive from Cython classes",
    "ts/frontend/compile_directives.py": "its functions are decorators, which set attributes of functions",
    "ts/frontend/resolve.py": "it evaluates expressions in frames of the caller",
    "ts/frontend/source_ranges.py": "properties override attributes of the base class",
    "ts/frontend/tree_printer.py": "listings are rarely needed",
    "ts/ir/graph_parser.py": "texts of graphs are rarely parsed",
    "ts/ir/iterable_list.py": "its class derives from a Cython class",
    "ts/ir/source.py": "properties override attributes of the base class",
    "ts/ir/types": "`__init_subclass__` creates the instances of classes",
    "ts/ir/visualization": "drawings are rarely needed",
    "ts/passes/freezing": "models are rarely frozen",
    "ts/passes/pytorch": "these passes run only by names of PyTorch",
    "ts/passes/tracing": "these passes run only for traces",
}
MYPY_OPTIONS = [
    *("--config-file=", "--strict-optional", "--follow-imports=silent"),
    *("--ignore-missing-imports", "--explicit-package-bases"),
]
# definition of a function in C files of mypyc, and the value that it returns after an exception
COMPILED_FUNCTION = re.compile(
    r"^(PyObject \*|char |CPyTagged |double )CPyDef_\w+\([^;]*?\) \{\n", re.MULTILINE
)
ERROR_VALUES = {"PyObject *": "NULL", "char ": "2", "CPyTagged ": "CPY_INT_TAG", "double ": "-113.0"}
CALLS_FUNCTIONS = re.compile(r"CPyDef_|Vectorcall|PyObject_Call|CPY_GET_METHOD|->vtable")

DIRECTIVES = {
    "language_level": 3,
    # The bytecode verifier checks registers, constants and jumps before execution. Kernels and containers
    # check their indices explicitly.
    "boundscheck": CHECKED,
    "initializedcheck": CHECKED,
    "wraparound": False,  # negative indices do not count from the end; the checked build reports them
    "cdivision": True,  # scalar.pxd implements Python's rounding of quotients
    "embedsignature": True,
    "auto_pickle": False,  # generated unpickling functions would create uninitialized objects
    "binding": False,  # so that Python checks the type of `self`: `Tensor.dim(3)` raises TypeError
}

# flags that the C code requires; integers of scripts wrap on overflow, as in PyTorch
SEMANTICS_FLAGS = ["-fno-strict-aliasing", "-fwrapv"]
# compiler flags by setuptools' name of the compiler type: gcc and clang, or clang-cl on Windows
FLAGS_OF = {
    "unix": [
        "-O1" if CHECKED or SANITIZERS else "-O3",
        *(["-g1", "-fno-omit-frame-pointer"] if SANITIZERS else ["-g0"]),
        *([f"-fsanitize={SANITIZERS}"] if SANITIZERS else []),
        *SEMANTICS_FLAGS,
        # errors of GCC 14 and later, which `make checked` reports with every compiler
        *(["-Werror=incompatible-pointer-types", "-Werror=int-conversion"] if CHECKED else []),
        "-Wno-unused-function",
        "-Wno-cpp",
    ],
    "msvc": [
        "/O1" if CHECKED else "/O2",
        *(f"/clang:{flag}" for flag in SEMANTICS_FLAGS),
        "-Wno-unused-function",
    ],
}
LINK_FLAGS = [f"-fsanitize={SANITIZERS}"] if SANITIZERS else []
MACROS = [("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION"), *([("TS_CHECKED", "1")] if CHECKED else [])]
PROGRESS = os.environ.get("TS_PROGRESS", "")
PROGRESS_INTERVAL = 10.0  # seconds between two progress lines of the compilation
POLLING_INTERVAL = 0.5  # seconds between two counts of translated files
FILES_PER_LINE = 10  # translated files per progress line
OPTIONS_FILE = ROOT / "build" / "options.txt"  # the compile options of the files built in this tree
NO_COMPILER = (
    "ts needs a C compiler, gcc or clang, and Python's headers: {!r} cannot compile a file that includes "
    "Python.h ({}).  Debian and Ubuntu: apt install build-essential python3-dev.  Fedora: dnf install gcc "
    "python3-devel.  macOS: xcode-select --install.  Windows: Visual Studio's Build Tools with \"C++ Clang "
    'tools for Windows"; its own compiler does not support the vector types of the kernels.'
)


def report_progress(line: str) -> None:
    """Print a progress line, and append it to the file `TS_PROGRESS`."""
    print(line, flush=True)
    if PROGRESS:
        with open(PROGRESS, "a") as file:
            file.write(f"{line}\n")


@contextlib.contextmanager
def report_new_files(paths: list[Path], text: str) -> Iterator[None]:
    """Report how many of the files the block has written, after every ten files.

    A thread counts the files, because the processes of Cython report nothing. `text` contains `{}` for the
    count.
    """
    times = {path: path.stat().st_mtime_ns for path in paths if path.exists()}
    is_finished = threading.Event()

    def report() -> None:
        reported = 0
        while not is_finished.wait(POLLING_INTERVAL):
            count = sum(path.exists() and path.stat().st_mtime_ns != times.get(path) for path in paths)
            if count >= reported + FILES_PER_LINE:
                report_progress(text.format(count))
                reported = count

    thread = threading.Thread(target=report)
    thread.start()
    try:
        yield
    finally:
        is_finished.set()
        thread.join()


def write_generated_sources() -> None:
    """Generate ``opcodes.pxd`` and ``interp.pyx`` in ``ts/_core/vm``, if the opcode table has changed."""
    table = runpy.run_path(str(ROOT / "ts" / "bytecode" / "opcodes.py"))
    folder = ROOT / "ts" / "_core" / "vm"
    texts: dict[str, str] = {
        "opcodes.pxd": table["cython_enum"](),
        "interp.pyx": table["interpreter_source"]((folder / "interp.pyx.in").read_text()),
    }
    for name, text in texts.items():
        target = folder / name
        if not target.exists() or target.read_text() != text:
            target.write_text(text)


def remove_stale_outputs() -> None:
    """Delete C files and extension modules whose ``.pyx`` file no longer exists."""
    for path in [path for top in ("ts/_core", "backends") for path in (ROOT / top).rglob("*")]:
        source = path.with_name(path.name.partition(".")[0] + ".pyx")
        if path.suffix in (".c", ".so", ".pyd") and not source.exists():
            path.unlink()


def with_included_headers(headers: list[str]) -> list[str]:
    """Return headers with the headers that they include by relative paths, which Cython does not find."""
    found = {str(Path(header)) for header in headers if Path(header).exists()}
    for header in sorted(found):
        included = re.findall(r'^\s*#\s*include "([^"]+)"', Path(header).read_text(), re.MULTILINE)
        found.update(with_included_headers([str(Path(header).parent / name) for name in included]))
    return sorted(found)


def cimport_root() -> str:
    """Return a new include folder in which ``ts`` contains ``backends``, as in the installed package."""
    root = ROOT / "build" / "cimport"
    package = root / "ts"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").touch()
    link = package / "backends"
    if os.name == "nt":  # symbolic links need a privilege on Windows
        shutil.rmtree(link, ignore_errors=True)
        shutil.copytree(ROOT / "backends", link, ignore=shutil.ignore_patterns("*.c", "*.pyd", "__pycache__"))
    elif not link.is_symlink():
        link.symlink_to(os.path.relpath(ROOT / "backends", package), target_is_directory=True)
    return str(root)


def extension(source: Path) -> Extension:
    """Return the extension module of a ``.pyx`` file, with its name in the installed package."""
    top, *rest = source.relative_to(ROOT).with_suffix("").parts
    return Extension(
        ".".join([PACKAGE_OF[top], *rest]),
        [str(source.relative_to(ROOT))],
        include_dirs=[numpy.get_include(), "."],
        define_macros=MACROS,
        extra_link_args=LINK_FLAGS,
        libraries=[] if os.name == "nt" else ["m", "pthread"],
    )


def compiled_files() -> list[str]:
    """Return the Python files that mypyc compiles. Package files stay interpreted, because some are lazy."""
    files = [path.relative_to(ROOT) for top in COMPILED_PACKAGES for path in (ROOT / top).rglob("*.py")]
    return sorted(
        path.as_posix()
        for path in files
        if path.name != "__init__.py" and not {path, *path.parents} & {Path(name) for name in INTERPRETED}
    )


def insert_stack_checks(path: Path) -> int:
    """Insert a check of the C stack at the entry of functions that call others, and return their number.

    Compiled functions do not count for Python's recursion limit, so deep recursion could crash the process.
    """
    text, count = path.read_text(), 0

    def with_check(match: re.Match[str]) -> str:
        nonlocal count
        body = text[match.end() : text.find("\n}\n", match.end())]
        if not CALLS_FUNCTIONS.search(body):
            return match[0]
        count += 1
        return f"{match[0]}    TS_CHECK_STACK({ERROR_VALUES[match[1]]})\n"

    text_with_checks = COMPILED_FUNCTION.sub(with_check, text)
    if count:
        path.write_text(text_with_checks)
    return count


def compiled_modules() -> list[Extension]:
    """Translate the Python modules of `COMPILED_PACKAGES` to C by mypyc, and return their extension modules.

    One shared library, `ts._compiled__mypyc`, contains the code of all modules. The modules are compiled
    without optimization across functions: it doubles the compile time and gains 3 %.
    """
    from mypyc.build import mypycify  # imported here, because other builds do not need mypy

    report_progress(f"translating {len(compiled_files())} Python files to C")
    extensions = mypycify(
        [*compiled_files(), *MYPY_OPTIONS],
        group_name="ts._compiled",
        opt_level="1",
        debug_level="0",
        multi_file=True,
        target_dir=str(ROOT / "build" / "mypyc"),
    )
    sources = [Path(source) for extension in extensions for source in extension.sources]
    if sum(map(insert_stack_checks, sources)) < len(compiled_files()):
        raise CompileError("insert_stack_checks does not recognize the functions that this mypyc generates")
    header = str(ROOT / "ts" / "_core" / "thread" / "stack.h")
    for extension in extensions:
        # The headers of the group are in the folder of its package.
        extension.include_dirs.append(str(ROOT / "build" / "mypyc" / "ts"))
        extension.extra_compile_args += [f"/FI{header}"] if os.name == "nt" else ["-include", header]
    return extensions


def visual_studio_folders() -> list[str]:
    """Return the folders of Visual Studio: from the developer shell's variable, and from ``vswhere.exe``."""
    found = [os.environ["VSINSTALLDIR"]] if "VSINSTALLDIR" in os.environ else []
    programs = os.environ.get("PROGRAMFILES(X86)", "")
    vswhere = Path(programs, "Microsoft Visual Studio", "Installer", "vswhere.exe")
    if programs and vswhere.exists():
        command = [str(vswhere), "-products", "*", "-property", "installationPath"]
        found += subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return found


def jobs() -> int:
    """Return the number of parallel jobs: ``TS_JOBS``, or the number of cores that this process may use."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(os.environ.get("TS_JOBS") or usable)


def compile_options() -> str:
    """Return the compile options; a change requires a rebuild of all files."""
    flags = FLAGS_OF["msvc" if os.name == "nt" else "unix"]
    return repr([sorted(DIRECTIVES.items()), MACROS, flags, LINK_FLAGS])


def build_fingerprint() -> str:
    """Return a hash of all source files and the compile options."""
    digest = hashlib.blake2b(compile_options().encode(), digest_size=32)
    for path in sorted(path for top in PACKAGE_OF for path in (ROOT / top).rglob("*")):
        if path.suffix in (".py", ".pyx", ".pxd", ".h"):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(ROOT)} {len(content)}\n".encode() + content)
    return digest.hexdigest()


class BuildPython(build_py):
    """Command that also writes the build fingerprint, a key of the code cache (`ts/bytecode/disk_cache.py`).

    Editable installations have no fingerprint file, because their sources can change.
    """

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            Path(self.build_lib, "ts", "build.txt").write_text(build_fingerprint())


class BuildExtensions(build_ext):
    """Command that checks the compiler, then translates and compiles the extensions in parallel."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or jobs()
        if self.editable_mode:  # pip passes a new temporary folder, in which builds would not be incremental
            default = build(self.distribution)
            default.ensure_finalized()
            self.build_lib, self.build_temp = default.build_platlib, default.build_temp

    def initialize_options(self) -> None:
        super().initialize_options()
        self.finished_count = 0
        self.last_report_time = time.monotonic()
        self.lock = threading.Lock()

    def cython_extensions(self) -> list[Extension]:
        """Return the extensions that Cython translates. The sources of all others are C files."""
        return [extension for extension in self.extensions if extension.sources[0].endswith(".pyx")]

    def compile_in_parallel(self) -> None:
        """Let the compiler object compile the sources of one extension in parallel."""
        compile_in_sequence = self.compiler.compile

        def compile(sources: list[str], **options: Any) -> list[str]:
            with ThreadPoolExecutor(self.parallel) as executor:
                objects = executor.map(lambda source: compile_in_sequence([source], **options), sources)
                return [path for paths in objects for path in paths]

        self.compiler.compile = compile

    def build_extension(self, ext: Extension) -> None:
        super().build_extension(ext)
        with self.lock:  # called by several threads
            self.finished_count += 1
            if time.monotonic() - self.last_report_time > PROGRESS_INTERVAL:
                report_progress(
                    f"[{self.finished_count}/{len(self.extensions)}] {ext.name.replace('.', '/')}"
                )
                self.last_report_time = time.monotonic()

    def build_extensions(self) -> None:
        if self.compiler.compiler_type == "msvc":
            self.use_clang_cl()
        self.require_compiler()
        for extension in self.cython_extensions():
            extension.extra_compile_args = FLAGS_OF[self.compiler.compiler_type]
        remove_stale_outputs()
        if not OPTIONS_FILE.exists() or OPTIONS_FILE.read_text() != compile_options():
            self.force = True
            OPTIONS_FILE.unlink(missing_ok=True)  # if this build fails, the next one also rebuilds all files
        report_progress("translating changed Cython files to C")
        self.translate()
        report_progress(f"compiling changed C files on {self.parallel} cores")
        self.compile_in_parallel()
        super().build_extensions()
        OPTIONS_FILE.parent.mkdir(exist_ok=True)
        OPTIONS_FILE.write_text(compile_options())

    def use_clang_cl(self) -> None:
        """Compile by clang-cl, with the headers, linker and command-line syntax of Microsoft's compiler."""
        self.compiler.initialize()
        tools = [str(Path(folder, "VC", "Tools", "Llvm", "x64", "bin")) for folder in visual_studio_folders()]
        found = shutil.which("clang-cl") or shutil.which("clang-cl", path=os.pathsep.join(tools))
        self.compiler.cc = found or "clang-cl"

    def require_compiler(self) -> None:
        """Raise PlatformError with a one-line message, before the translation, if no compiler works."""
        unix = self.compiler.compiler_type == "unix"
        with tempfile.TemporaryDirectory() as folder:
            probe = Path(folder, "probe.c")
            probe.write_text("#include <Python.h>\n")
            try:
                if self.compiler.compiler_type not in FLAGS_OF:
                    raise CompileError("unsupported compiler")
                self.compiler.compile([str(probe)], folder)
            except CompileError as error:
                name = self.compiler.compiler_so[0] if unix else getattr(self.compiler, "cc", "it")
                raise PlatformError(NO_COMPILER.format(name, error)) from error

    def translate(self) -> None:
        """Translate the Cython files to C files in the same folders, and report the progress."""
        extensions = self.cython_extensions()
        outputs = [Path(extension.sources[0]).with_suffix(".c") for extension in extensions]
        with report_new_files(outputs, "translated {} Cython files"):
            self.run_cython(extensions)
        # Largest files first, so that the parallel jobs end at about the same time.
        self.extensions.sort(key=lambda extension: -os.stat(extension.sources[0]).st_size)

    def run_cython(self, extensions: list[Extension]) -> None:
        """Run Cython, and set the sources and dependencies of the extensions."""
        try:
            translated = cythonize(
                extensions,
                nthreads=self.parallel,
                force=self.force,
                quiet=True,
                include_path=[cimport_root(), str(ROOT)],
                compiler_directives=DIRECTIVES,
            )
        except CythonError as error:  # Cython has already printed the error
            raise CompileError(f"Cython cannot translate {error}") from None
        for extension, to_compile in zip(extensions, translated, strict=True):
            extension.sources = to_compile.sources
            extension.depends = with_included_headers(to_compile.depends)


if __name__ == "__main__":  # not in the worker processes of Cython
    write_generated_sources()
    sources = sorted(path for top in ("ts/_core", "backends") for path in (ROOT / top).rglob("*.pyx"))
    setup(
        ext_modules=[*map(extension, sources), *(compiled_modules() if COMPILED else [])],
        cmdclass={"build_ext": BuildExtensions, "build_py": BuildPython},
    )
