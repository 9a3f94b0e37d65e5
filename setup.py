"""Build of the Cython extensions; everything else about the package is in ``pyproject.toml``.

Every ``.pyx`` under ``ts/_core`` and ``backends`` is one extension.  The opcode enum that the
interpreter switches over is generated from the opcode table (``ts/bytecode/opcodes.py``), so the
table stays the one place that says what an opcode is.

Translating and compiling use every core, and do again only what changed and what depends on it: a
``.pxd`` that is cimported, a ``.h`` that is included.  Four variables of the environment matter:

    TS_JOBS=1                           how many files at once, where memory is short
    TS_CHECKED=1                        bounds and initialisation are checked, and what the interpreter's loop
                                        takes for proved (``ts/_core/vm/debug_asserts.pxd``)
    TS_SANITIZE=address,undefined       the sanitizers of these names, with debug information
    TS_PROGRESS=FILE                    how far the build is, a line every ten seconds, to the end of this
                                        file: pip shows nothing of what a build prints

Code of one kind never meets objects of another: when these variables change, everything is built again.
"""

from __future__ import annotations

import hashlib
import os
import re
import runpy
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

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

DIRECTIVES = {
    "language_level": 3,
    # The verifier has proved the registers, constants and jumps of bytecode, and nothing else: kernels and
    # containers check their own.
    "boundscheck": CHECKED,
    "initializedcheck": CHECKED,
    "wraparound": False,  # an index from the end is written out where it is meant: checked, -1 is an error
    "cdivision": True,  # Python's rounding is written out in scalar.pxd
    "embedsignature": True,
    "auto_pickle": False,  # what it would make for pickles makes objects that nothing has filled
    "binding": False,  # Python checks the type of `self` then: `Tensor.dim(3)` is a TypeError
}

# By the kind of compiler, as setuptools names it: gcc and clang, which know each other's names; on Windows
# clang in the dress of Microsoft's compiler.
MEANT = ["-fno-strict-aliasing", "-fwrapv"]  # script ints wrap, as PyTorch's do
FLAGS_OF = {
    "unix": [
        "-O1" if CHECKED or SANITIZERS else "-O3",
        *(["-g1", "-fno-omit-frame-pointer"] if SANITIZERS else ["-g0"]),
        *([f"-fsanitize={SANITIZERS}"] if SANITIZERS else []),
        *MEANT,
        "-Wno-unused-function",
        "-Wno-cpp",
    ],
    "msvc": ["/O1" if CHECKED else "/O2", *(f"/clang:{flag}" for flag in MEANT), "-Wno-unused-function"],
}
LINK_FLAGS = [f"-fsanitize={SANITIZERS}"] if SANITIZERS else []
MACROS = [("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION"), *([("TS_CHECKED", "1")] if CHECKED else [])]
PROGRESS = os.environ.get("TS_PROGRESS", "")
SECONDS = 10.0  # between two lines of progress
KIND = ROOT / "build" / "kind.txt"  # what the translated and compiled files of this tree were made with
NO_COMPILER = (
    "ts needs a C compiler, gcc or clang, and Python's headers: {!r} cannot compile a file that includes "
    "Python.h ({}).  Debian and Ubuntu: apt install build-essential python3-dev.  Fedora: dnf install gcc "
    "python3-devel.  macOS: xcode-select --install.  Windows: Visual Studio's Build Tools with \"C++ Clang "
    'tools for Windows"; its own compiler does not support the vector types of the kernels.'
)


def tell(line: str) -> None:
    """Say how far the build is."""
    print(line, flush=True)
    if PROGRESS:
        with open(PROGRESS, "a") as file:
            file.write(f"{line}\n")


def write_opcode_enum() -> None:
    """Write ``ts/_core/vm/opcodes.pxd`` from the opcode table, only when it changed."""
    table = ROOT / "ts" / "bytecode" / "opcodes.py"
    text: str = runpy.run_path(str(table))["cython_enum"]()
    target = ROOT / "ts" / "_core" / "vm" / "opcodes.pxd"
    if not target.exists() or target.read_text() != text:
        target.write_text(text)


def remove_left_over() -> None:
    """What was made of sources that are gone: a module that moved could still be imported where it was."""
    for path in [path for top in ("ts/_core", "backends") for path in (ROOT / top).rglob("*")]:
        source = path.with_name(path.name.partition(".")[0] + ".pyx")
        if path.suffix in (".c", ".so", ".pyd") and not source.exists():
            path.unlink()


def with_included(headers: list[str]) -> list[str]:
    """Headers, and those of this tree that they include: what Cython does not look for."""
    found = {str(Path(header)) for header in headers if Path(header).exists()}
    for header in sorted(found):
        beside = re.findall(r'^\s*#\s*include "([^"]+)"', Path(header).read_text(), re.MULTILINE)
        found.update(with_included([str(Path(header).parent / name) for name in beside]))
    return sorted(found)


def cimport_root() -> str:
    """A folder where Cython finds ``ts.backends``, which lies beside ``ts`` here and in it once installed."""
    root = ROOT / "build" / "cimport"
    package = root / "ts"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").touch()
    link = package / "backends"
    if os.name == "nt":  # where not everybody may make links
        shutil.rmtree(link, ignore_errors=True)
        shutil.copytree(ROOT / "backends", link, ignore=shutil.ignore_patterns("*.c", "*.pyd", "__pycache__"))
    elif not link.is_symlink():
        link.symlink_to(os.path.relpath(ROOT / "backends", package), target_is_directory=True)
    return str(root)


def extension(source: Path) -> Extension:
    """One extension from one ``.pyx``, named by where its package is installed."""
    top, *rest = source.relative_to(ROOT).with_suffix("").parts
    return Extension(
        ".".join([PACKAGE_OF[top], *rest]),
        [str(source.relative_to(ROOT))],
        include_dirs=[numpy.get_include()],
        define_macros=MACROS,
        extra_link_args=LINK_FLAGS,
        libraries=[] if os.name == "nt" else ["m"],
    )


def visual_studios() -> list[str]:
    """Where Visual Studio is, as its own list says, and the shell that it opens."""
    found = [os.environ["VSINSTALLDIR"]] if "VSINSTALLDIR" in os.environ else []
    programs = os.environ.get("PROGRAMFILES(X86)", "")
    asker = Path(programs, "Microsoft Visual Studio", "Installer", "vswhere.exe")
    if programs and asker.exists():
        command = [str(asker), "-products", "*", "-property", "installationPath"]
        found += subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return found


def jobs() -> int:
    """How many files to translate or compile at once: the cores that this process may use, or ``TS_JOBS``."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(os.environ.get("TS_JOBS") or usable)


def kind() -> str:
    """What files are made with, besides their sources."""
    flags = FLAGS_OF["msvc" if os.name == "nt" else "unix"]
    return repr([sorted(DIRECTIVES.items()), MACROS, flags, LINK_FLAGS])


def stamp() -> str:
    """What tells these sources, built like this, from any others."""
    made = hashlib.blake2b(kind().encode(), digest_size=32)
    for path in sorted(path for top in PACKAGE_OF for path in (ROOT / top).rglob("*")):
        if path.suffix in (".py", ".pyx", ".pxd", ".h"):
            content = path.read_bytes()
            made.update(f"{path.relative_to(ROOT)} {len(content)}\n".encode() + content)
    return made.hexdigest()


class Copy(build_py):
    """Writes the stamp beside what is installed: kept code goes by it (`ts/bytecode/disk_cache.py`).

    In an editable installation sources change by themselves, and there is none.
    """

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            Path(self.build_lib, "ts", "build.txt").write_text(stamp())


class Build(build_ext):
    """Asks for the compiler first, then translates and compiles several files at a time."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or jobs()
        if self.editable_mode:  # pip names a fresh folder, in which nothing would ever be up to date
            usual = build(self.distribution)
            usual.ensure_finalized()
            self.build_lib, self.build_temp = usual.build_platlib, usual.build_temp

    def initialize_options(self) -> None:
        super().initialize_options()
        self.done = 0
        self.told = time.monotonic()
        self.lock = threading.Lock()

    def build_extension(self, ext: Extension) -> None:
        super().build_extension(ext)
        with self.lock:  # several are built at a time
            self.done += 1
            if time.monotonic() - self.told > SECONDS:
                tell(f"[{self.done}/{len(self.extensions)}] {ext.name.replace('.', '/')}")
                self.told = time.monotonic()

    def build_extensions(self) -> None:
        if self.compiler.compiler_type == "msvc":
            self.take_clang()
        self.require_compiler()
        for extension in self.extensions:
            extension.extra_compile_args = FLAGS_OF[self.compiler.compiler_type]
        remove_left_over()
        if not KIND.exists() or KIND.read_text() != kind():
            self.force = True
            KIND.unlink(missing_ok=True)  # until the build is done: one that fails goes on as it began
        tell("translating changed Cython files to C")
        self.translate()
        tell(f"compiling changed C files on {self.parallel} cores")
        super().build_extensions()
        KIND.parent.mkdir(exist_ok=True)
        KIND.write_text(kind())

    def take_clang(self) -> None:
        """Of Microsoft's compiler the headers, the linker and the words, and clang-cl for the compiler."""
        self.compiler.initialize()
        tools = [str(Path(folder, "VC", "Tools", "Llvm", "x64", "bin")) for folder in visual_studios()]
        found = shutil.which("clang-cl") or shutil.which("clang-cl", path=os.pathsep.join(tools))
        self.compiler.cc = found or "clang-cl"

    def require_compiler(self) -> None:
        """One line at once where there is none, and no traceback after the translation."""
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
        """Cython to C, beside the sources."""
        write_opcode_enum()
        try:
            translated = cythonize(
                self.extensions,
                nthreads=self.parallel,
                force=self.force,
                quiet=True,
                include_path=[cimport_root(), str(ROOT)],
                compiler_directives=DIRECTIVES,
            )
        except CythonError as error:  # which has been printed; the stacks of processes say nothing
            raise CompileError(f"Cython cannot translate {error}") from None
        for extension, to_compile in zip(self.extensions, translated, strict=True):
            extension.sources = to_compile.sources
            extension.depends = with_included(to_compile.depends)
        # The longest first, so that the cores end together.
        self.extensions.sort(key=lambda extension: -os.stat(extension.sources[0]).st_size)


if __name__ == "__main__":  # and not in the processes that translate
    sources = sorted(path for top in ("ts/_core", "backends") for path in (ROOT / top).rglob("*.pyx"))
    setup(ext_modules=[extension(path) for path in sources], cmdclass={"build_ext": Build, "build_py": Copy})
