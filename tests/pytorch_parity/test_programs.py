"""PyTorch has the outcomes in the comments of the program files, except for noted differences."""

import pytest

torch = pytest.importorskip("torch")

from tests.program_files import FOLDER, all_programs, read  # noqa: E402

PROGRAMS = [path for path in all_programs() if "# not in PyTorch" not in path.read_text()]


@pytest.mark.parametrize("path", PROGRAMS, ids=[str(path.relative_to(FOLDER)) for path in PROGRAMS])
def test_pytorch_agrees(path, capfd):
    program = read(path)
    if program.scripts_itself:
        failing = program.compile_error or program.runtime_error
        if failing is None:
            program.load("torch", "run")
        else:
            with pytest.raises(Exception) as failure:
                program.load("torch", "run")
            assert failing[1] in str(failure.value)
        assert capfd.readouterr().out.splitlines() == program.output
        return
    main = program.load("torch", "run")
    if program.compile_error is not None:
        with pytest.raises(Exception) as failure:
            torch.jit.script(main)
        assert program.compile_error[1].partition(";")[0] in str(failure.value)
        return
    scripted = torch.jit.script(main)
    if program.runtime_error is not None:
        with pytest.raises(Exception) as failure:
            scripted()
        assert program.runtime_error[1] in str(failure.value)
    else:
        scripted()
    assert capfd.readouterr().out.splitlines() == program.output
