# `make demo` and `make test` do everything from a clean clone: Python 3.11+, a C compiler and make suffice.

PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
BUILD_INPUTS := setup.py pyproject.toml ts/bytecode/opcodes.py $(shell find ts backends -name '*.pyx' -o -name '*.h' -o -name '*.pxd' ! -name opcodes.pxd)

.PHONY: demo test test-cuda bench lint clean

demo: $(VENV)/installed
	$(PY) examples/demo.py

test: $(VENV)/installed-test
	$(PY) -m pytest --ignore=tests/oracle

# On a machine with a GPU: the CUDA tests on it, and the CUDA benchmarks.
test-cuda: $(VENV)/installed-test
	$(PY) -m pip install -q --disable-pip-version-check 'cupy-cuda12x[ctk]>=14'
	$(PY) -c 'import ts; ts.cuda.init(); print(ts.cuda.get_device_name())'
	$(PY) -m pytest -m cuda --ignore=tests/oracle
	$(PY) -m benchmarks cuda

bench: $(VENV)/installed
	$(PY) -m benchmarks

lint: $(VENV)/installed-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy

clean:
	rm -rf build dist *.egg-info $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find ts backends \( -name '*.so' -o -name '*.c' \) -delete
	rm -f ts/_core/vm/opcodes.pxd

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python $(BUILD_INPUTS)
	$(PY) -m pip install -q --disable-pip-version-check -e .
	touch $@

$(VENV)/installed-test: $(VENV)/installed
	$(PY) -m pip install -q --disable-pip-version-check 'pytest>=9' 'hypothesis>=6' 'scipy>=1.11' 'rich>=13' \
		"nvidia-cuda-nvrtc-cu12==12.1.105; sys_platform == 'linux' and platform_machine == 'x86_64'"
	touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(PY) -m pip install -q --disable-pip-version-check 'ruff>=0.6' 'mypy>=1.11' 'cython>=3.1' 'setuptools>=77'
	touch $@
