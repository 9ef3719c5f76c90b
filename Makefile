# Everything sets itself up: a fresh machine needs Python 3.11 or newer, and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# One test process a core; more threads inside would only fight.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --durations=30

.PHONY: demo test test-all lint warm bench docs screenshots clean

demo: $(READY)
	rm -rf demo && mkdir demo
	$(BIN)/tamis mine madelon-fresh --split official --budget 90s --run demo/run --model demo/model --report demo/report.html

# The kernels are compiled once, beside the checks that keep one core busy, and not by every test process.
test:
	$(MAKE) -j2 lint warm
	$(PYTEST)

test-all:
	$(MAKE) -j2 lint warm
	$(PYTEST) -m ""

warm: $(READY)
	$(BIN)/tamis warm

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python -m benchmarks

docs: $(READY)
	$(BIN)/python docs/make_tables.py

screenshots: $(READY)
	$(BIN)/python docs/make_screenshots.py demo/report.html docs/images

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
