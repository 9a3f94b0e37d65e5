"""Archives of all programs in both directions: archives of PyTorch run in `ts`, archives of `ts` compile in
PyTorch."""

import io

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402
from tests.program_files import all_programs, read  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
PROGRAMS = [path for path in all_programs() if not read(path).compile_error and not read(path).scripts_itself]
# PyTorch's compiler generates code with other results for these.
DIFFERENT = {"format_fields.py", "generators.py", "any_values.py", "any_list.py"}
# PyTorch has no recursion, no self-referential classes and interfaces, no tasks with unused futures, and no
# unions from conditions; an index that is certainly out of range does not compile again, and neither does
# None as the default of a Tensor.
NOT_IN_PYTORCH = {
    "recursion.py", "mutual_recursion.py", "recursive.py", "linked_list.py", "fork_and_wait.py", "union_members.py",
    "tuple_index.py", "interface_variable.py", "interface_of_itself.py", "none_for_tensor.py",
}  # fmt: skip


def names(path):
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", PROGRAMS, ids=names)
def test_written_by_pytorch(path, capsys):
    """A program compiled and saved by PyTorch prints the expected output in `ts`."""
    program = read(path)
    try:
        buffer = io.BytesIO()
        torch.jit.save(torch.jit.script(program.load("torch", "archived")), buffer)
    except Exception as error:  # of many classes
        pytest.skip(f"not in PyTorch: {type(error).__name__}")
    loaded = ts.jit.load(io.BytesIO(buffer.getvalue()))
    if path.name.startswith("unused_"):
        pytest.skip("graphs do not hold expressions whose value nobody reads")
    if program.runtime_error is not None:
        with pytest.raises((RuntimeError, LookupError, ValueError, TypeError)):
            loaded()
        return
    loaded()
    printed = capsys.readouterr().out.splitlines()
    if path.name not in DIFFERENT:
        assert printed == program.output


@pytest.mark.parametrize("path", PROGRAMS, ids=names)
def test_read_by_pytorch(path):
    """PyTorch compiles the code of a program saved by `ts`."""
    if path.parent.name == "python" or path.name in NOT_IN_PYTORCH:
        pytest.skip("calls Python, or does what PyTorch does not know")
    data = ts.jit.script(read(path).load(package="saved")).save_to_buffer()
    torch.jit.load(io.BytesIO(data))
