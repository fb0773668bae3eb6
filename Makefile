# `make demo` and `make test` need only Python 3.11+ and make; each builds .venv first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: help demo test test-all test-lowest lint types docs studies clean
# A half-made environment (no venv module, no network) must not pass for a finished one.
.DELETE_ON_ERROR:

help:
	@echo "make demo      install into $(VENV), without extras, and run momentdag on an embedded data set"
	@echo "make test      install all extras and tools into $(VENV) and run the tests"
	@echo "make test-all  the same with the slow tests"
	@echo "make test-lowest  the core tests with the lowest versions, in a fresh environment"
	@echo "make lint      style    make types  static types    make docs  HTML documentation"
	@echo "make studies   list the studies: tables and figures of the paper, benchmarks"
	@echo "make clean     remove $(VENV) and everything built"
	@echo "PYTHON=python3.12 make ...  chooses the interpreter"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("momentdag needs Python 3.11 or newer; set PYTHON=" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/installed: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable ".[all,docs]" --group dev
	@touch $@

demo: $(VENV)/installed
	$(BIN)/momentdag demo

test: $(VENV)/installed-dev
	$(BIN)/python -m pytest --numprocesses 2

test-all: $(VENV)/installed-dev
	$(BIN)/python -m pytest --numprocesses 2 -m "slow or not slow"

test-lowest:
	.ci/lowest

lint: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/installed-dev
	$(BIN)/mypy

docs: $(VENV)/installed-dev
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

studies: $(VENV)/installed-dev
	$(BIN)/python -m studies list

clean:
	rm -rf $(VENV) docs/_build docs/api artefacts momentdag-demo
