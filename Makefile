# Everything sets itself up: a fresh machine needs Python 3.11 or newer, and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# The lower bounds of the dependencies, and the tests of the code that leans on them most.
OLDEST := .venv-oldest
OLDEST_TESTS := test_common.py test_scores.py test_plan.py test_validate.py test_dataset.py test_load.py test_cli.py \
	test_predict_cli.py $(notdir $(wildcard tests/test_reader_*.py))
# One test process a core; more threads inside would only fight. Bytecode is kept, or every process would make its own.
SETTINGS := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=
# One process more than there are cores: some tests wait for processes, browsers and clocks.
PYTEST := -m pytest -n $(shell expr $$(nproc) + 1) --no-loadscope-reorder --durations=30

.PHONY: demo test test-all test-oldest pytest lint warm bench soak docs screenshots clean

demo: $(READY)
	rm -rf demo && mkdir demo
	$(BIN)/tamis mine madelon-fresh --split official --budget 90s --run demo/run --model demo/model --report demo/report.html

# Lint runs beside the tests, of which some wait more than they compute; what it says is shown whole at the end.
test: $(READY)
	@$(MAKE) --no-print-directory lint >$(VENV)/lint.log 2>&1 & lint=$$!; \
	$(MAKE) --no-print-directory pytest MARKED='$(MARKED)'; tests=$$?; \
	wait $$lint; linted=$$?; cat $(VENV)/lint.log; \
	test $$tests -eq 0 -a $$linted -eq 0

test-all: MARKED := -m ""
test-all: test test-oldest

# All cores compile the kernels, before the tests keep them busy.
pytest: warm
	$(SETTINGS) $(BIN)/python $(PYTEST) $(MARKED)

# The lower bounds of pyproject.toml hold. Kernels of another numba are kept apart.
test-oldest: export NUMBA_CACHE_DIR := $(abspath $(OLDEST))/kernels
test-oldest: $(OLDEST)/.ready
	$(OLDEST)/bin/tamis warm
	$(SETTINGS) $(OLDEST)/bin/python $(PYTEST) $(addprefix tests/, $(OLDEST_TESTS))

$(OLDEST)/.ready: pyproject.toml tests/oldest-constraints.txt
	$(PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --upgrade pip
	$(OLDEST)/bin/python -m pip install --quiet --constraint tests/oldest-constraints.txt --editable ".[dev]"
	touch $@

warm: $(READY)
	$(BIN)/tamis warm

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --strict examples/doors.py
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python -m benchmarks

# Searches under kills, full disks and silence, with a table of what came of them: make soak MINUTES=10.
MINUTES := 60
soak: $(READY)
	$(BIN)/python tests/soak.py --minutes $(MINUTES)

# The table of parts, and the site in docs/_build.
docs: $(VENV)/.docs
	$(BIN)/python docs/make_tables.py
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build

$(VENV)/.docs: $(READY)
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@

screenshots: $(READY)
	$(BIN)/python docs/make_screenshots.py demo/report.html docs/images

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) $(OLDEST) .venv-flaml .venv-autogluon demo docs/_build docs/reference docs/gallery .mypy_cache .ruff_cache .pytest_cache .hypothesis
