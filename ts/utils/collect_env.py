"""Description of the environment for bug reports: `python -m ts.utils.collect_env`.

`get_pretty_env_info` returns the versions of ts, Python, compilers and libraries, the system and the
processor.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable
from importlib import metadata
from typing import Any, Final

import ts
from ts.unsupported import names_for

__getattr__ = names_for(__name__)
TORCH_AVAILABLE: Final = True
COMMON_PATTERNS: Final = ["torch", "numpy", "triton", "optree"]
PIP_PATTERNS: Final = ["mypy", "flake8", "onnx"]
_NOT_FOUND: Final = "Could not collect"
_NOT_APPLICABLE: Final = "N/A"
COMMAND_TIMEOUT_SECONDS: Final = 30

# Fields of the description, in PyTorch's order.
SystemEnv = namedtuple(
    "SystemEnv",
    "torch_version is_debug_build cuda_compiled_version gcc_version clang_version cmake_version os "
    "libc_version python_version python_platform is_cuda_available cuda_runtime_version cuda_module_loading "
    "nvidia_driver_version nvidia_gpu_models cudnn_version is_xpu_available pip_version pip_packages "
    "conda_packages hip_compiled_version hip_runtime_version miopen_runtime_version caching_allocator_config "
    "is_xnnpack_available cpu_info",
)
_LINES: Final = (
    ("PyTorch version", "torch_version"),
    ("Is debug build", "is_debug_build"),
    ("CUDA used to build PyTorch", "cuda_compiled_version"),
    ("ROCM used to build PyTorch", "hip_compiled_version"),
    None,
    ("OS", "os"),
    ("GCC version", "gcc_version"),
    ("Clang version", "clang_version"),
    ("CMake version", "cmake_version"),
    ("Libc version", "libc_version"),
    None,
    ("Python version", "python_version"),
    ("Python platform", "python_platform"),
    ("Is CUDA available", "is_cuda_available"),
    ("CUDA runtime version", "cuda_runtime_version"),
    ("CUDA_MODULE_LOADING set to", "cuda_module_loading"),
    ("GPU models and configuration", "nvidia_gpu_models"),
    ("Nvidia driver version", "nvidia_driver_version"),
    ("cuDNN version", "cudnn_version"),
    ("Is XPU available", "is_xpu_available"),
    ("HIP runtime version", "hip_runtime_version"),
    ("MIOpen runtime version", "miopen_runtime_version"),
    ("Is XNNPACK available", "is_xnnpack_available"),
    ("Caching allocator config", "caching_allocator_config"),
)
env_info_fmt = (
    "\n".join("" if line is None else f"{line[0]}: {{{line[1]}}}" for line in _LINES)
    + "\n\nCPU:\n{cpu_info}\n\nVersions of relevant libraries:\n{pip_packages}\n{conda_packages}"
)
RunCommand = Callable[[Any], tuple[int, str, str]]


def run(command: Any) -> tuple[int, str, str]:
    """Run a list of arguments, or a string by the shell. Return exit status, output and error output."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            shell=isinstance(command, str),
            timeout=COMMAND_TIMEOUT_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        return 127, "", f"Command not found: {command}"
    except subprocess.TimeoutExpired:
        return 124, "", f"Command did not end in {COMMAND_TIMEOUT_SECONDS} seconds: {command}"
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def run_and_read_all(run_lambda: RunCommand, command: Any) -> str | None:
    """Return the output of a command, or None if the command failed."""
    status, out, _ = run_lambda(command)
    return None if status else out


def run_and_parse_first_match(run_lambda: RunCommand, command: Any, regex: str) -> str | None:
    """Return the first match group of a regular expression in command output, or None without match."""
    output = run_and_read_all(run_lambda, command)
    match = None if output is None else re.search(regex, output)
    return None if match is None else match.group(1)


def run_and_return_first_line(run_lambda: RunCommand, command: Any) -> str | None:
    """Return the first line that a command wrote, or None if the command failed."""
    output = run_and_read_all(run_lambda, command)
    return None if output is None else output.split("\n")[0]


def get_gcc_version(run_lambda: RunCommand) -> str | None:
    """Return the version of gcc."""
    return run_and_parse_first_match(run_lambda, ["gcc", "--version"], r"gcc (.*)")


def get_clang_version(run_lambda: RunCommand) -> str | None:
    """Return the version of clang."""
    return run_and_parse_first_match(run_lambda, ["clang", "--version"], r"clang version (.*)")


def get_cmake_version(run_lambda: RunCommand) -> str | None:
    """Return the version of cmake."""
    return run_and_parse_first_match(run_lambda, ["cmake", "--version"], r"cmake (.*)")


def get_platform() -> str:
    """Return the name of the system: `linux`, `darwin`, `win32`."""
    return sys.platform


def get_os(run_lambda: RunCommand) -> str:
    """Return name and version of the operating system, and the architecture of the machine."""
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        name = f"{platform.system()} {platform.release()}"
    return f"{name} ({platform.machine()})"


def get_python_platform() -> str:
    """Return Python's name of the platform."""
    return platform.platform()


def get_libc_version() -> str:
    """Return the version of the C library on Linux."""
    return _NOT_APPLICABLE if get_platform() != "linux" else "-".join(platform.libc_ver())


def get_pip_packages(run_lambda: RunCommand, patterns: list[str] | None = None) -> tuple[str, str]:
    """Return the pip command, and a line for each installed package that matches a pattern."""
    selected_patterns = COMMON_PATTERNS + PIP_PATTERNS if patterns is None else patterns
    lines = set()
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]
        if name and any(pattern in name for pattern in selected_patterns):
            lines.add(f"{name}=={distribution.version}")
    return "pip3" if sys.version_info[0] == 3 else "pip", "\n".join(sorted(lines, key=str.lower))


def get_conda_packages(run_lambda: RunCommand, patterns: list[str] | None = None) -> str | None:
    """Return the lines of `conda list` that match a pattern, or None without conda."""
    out = run_and_read_all(run_lambda, [os.environ.get("CONDA_EXE", "conda"), "list"])
    selected_patterns = COMMON_PATTERNS if patterns is None else patterns
    if out is None:
        return None
    lines = [line for line in out.splitlines() if not line.startswith("#")]
    return "\n".join(line for line in lines if any(pattern in line for pattern in selected_patterns))


def get_cpu_info(run_lambda: RunCommand) -> str:
    """Return a description of the processor."""
    return run_and_read_all(run_lambda, ["lscpu"]) or platform.processor() or _NOT_FOUND


def get_nvidia_driver_version(run_lambda: RunCommand) -> str | None:
    """Return the version of NVIDIA's driver."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return run_and_return_first_line(run_lambda, command)


def get_gpu_info(run_lambda: RunCommand) -> str | None:
    """Return a line for each NVIDIA GPU."""
    out = run_and_read_all(run_lambda, ["nvidia-smi", "-L"])
    return None if out is None else re.sub(r" \(UUID: [^)]+\)", "", out)


def get_running_cuda_version(run_lambda: RunCommand) -> str | None:
    """Return the version of the installed CUDA compiler."""
    return run_and_parse_first_match(run_lambda, ["nvcc", "--version"], r"release .+ V(.*)")


def is_xnnpack_available() -> str:
    """Return "False": `ts` does not use XNNPACK."""
    return "False"


def get_env_info() -> SystemEnv:
    """Return the description of the environment as a named tuple."""
    pip_version, pip_packages = get_pip_packages(run)
    has_cuda = ts.cuda.is_available()
    bits = sys.maxsize.bit_length() + 1
    return SystemEnv(
        torch_version=f"{ts.__version__} (ts {ts.version.ts})",
        is_debug_build="False",
        cuda_compiled_version=_NOT_FOUND if ts.version.cuda is None else ts.version.cuda,
        gcc_version=get_gcc_version(run),
        clang_version=get_clang_version(run),
        cmake_version=get_cmake_version(run),
        os=get_os(run),
        libc_version=get_libc_version(),
        python_version=f"{sys.version} ({bits}-bit runtime)".replace("\n", " "),
        python_platform=get_python_platform(),
        is_cuda_available=str(has_cuda),
        cuda_runtime_version=get_running_cuda_version(run),
        cuda_module_loading=os.environ.get("CUDA_MODULE_LOADING", _NOT_APPLICABLE),
        nvidia_driver_version=get_nvidia_driver_version(run),
        nvidia_gpu_models=get_gpu_info(run),
        cudnn_version=None,
        is_xpu_available="False",
        pip_version=pip_version,
        pip_packages=pip_packages,
        conda_packages=get_conda_packages(run),
        hip_compiled_version=_NOT_APPLICABLE,
        hip_runtime_version=_NOT_APPLICABLE,
        miopen_runtime_version=_NOT_APPLICABLE,
        caching_allocator_config=_NOT_APPLICABLE,
        is_xnnpack_available=is_xnnpack_available(),
        cpu_info=get_cpu_info(run),
    )


def pretty_str(envinfo: SystemEnv) -> str:
    """Return the text of a description of an environment."""
    fields = {name: value or _NOT_FOUND for name, value in envinfo._asdict().items()}
    for name, tag in (("pip_packages", envinfo.pip_version), ("conda_packages", "conda")):
        fields[name] = "\n".join(f"[{tag}] {line}" for line in fields[name].splitlines())
    return env_info_fmt.format(**fields)


def get_pretty_env_info() -> str:
    """Return the text of the description of this environment."""
    return pretty_str(get_env_info())


def main() -> None:
    """Print the description of this environment."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
