# Everything a person or CI runs. Each target makes the virtual environment it needs.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
DEMO   := $(VENV)/.demo-ready

.PHONY: demo setup lint type contracts test test-older unit docs wheel bench check demo-snapshot clean

# The main job on the snapshot that comes along.
demo: $(DEMO)
	$(BIN)/kauditor scan --demo -o text -o html=report.html
	@echo
	@echo "report.html is the full report: open it in a browser."

$(DEMO): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $(DEMO)

# Everything for development, pinned with hashes.
setup: $(STAMP)

$(STAMP): pyproject.toml requirements-dev.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(STAMP) $(DEMO)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

type: $(STAMP)
	$(BIN)/mypy

contracts: $(STAMP)
	$(BIN)/lint-imports

# All of it: lint, types, contracts, and every test, the real control plane's included.
test: lint type contracts
	$(BIN)/python -m pytest

# The cluster tests on the oldest Kubernetes that is tested (tests/cluster/older/go.mod).
test-older: $(STAMP)
	KAUDITOR_TEST_OLDER=1 $(BIN)/python -m pytest tests/cluster --ignore=tests/cluster/test_demo.py

# Without the real control plane.
unit: $(STAMP)
	$(BIN)/python -m pytest tests -m "not cluster"

docs: $(STAMP)
	$(BIN)/python -m docs.generate

wheel: $(STAMP)
	$(BIN)/python -m build --no-isolation

bench: $(STAMP)
	$(BIN)/python -m benchmarks

check: test

# Records kauditor/data/demo-snapshot.json again, from the real control plane.
demo-snapshot: $(STAMP)
	$(BIN)/python -m tests.cluster.demo

clean:
	rm -rf $(VENV) dist build report.html
