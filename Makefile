# Set-up is part of every target: nothing has to be prepared by hand.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTEST := $(BIN)/python -m pytest
WORKERS ?= auto
SYSTEM_WORKERS ?= 0
COVERAGE ?=
# Compiled modules are kept, whatever the surroundings say: every process of the tests needs them.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-system test-long test-lowest mutants fuzz benchmarks lint format wheel docs paper clean help

help: ## what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /	/' | expand -t 16

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("indiff needs Python 3.11 or later; set PYTHON=/path/to/python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip

$(VENV)/.installed: pyproject.toml requirements/constraints.txt | $(BIN)/python
	$(PIP) install --constraint requirements/constraints.txt --editable .
	$(BIN)/python -m indiff.cli.warmup
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) install --constraint requirements/constraints.txt --editable '.[dev,transport,dp,spark,dask,web,stats,pytest,sql]'
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(PIP) install --constraint requirements/constraints.txt --editable '.[docs]'
	@touch $@

# Tools that we compare with pin old libraries, so they live in an environment of their own.
.rivals/.installed: requirements/rivals.txt
	$(PYTHON) -m venv --clear .rivals
	.rivals/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --requirement requirements/rivals.txt
	@touch $@

# The oldest libraries that pyproject.toml allows, in an environment of their own.
.lowest/.installed: pyproject.toml requirements/lowest.py
	$(PYTHON) -m venv --clear .lowest
	.lowest/bin/python requirements/lowest.py > .lowest/constraints.txt
	.lowest/bin/python -m pip --disable-pip-version-check --quiet install --constraint .lowest/constraints.txt --editable '.[dev,transport,dp,spark,dask,web,stats,pytest,sql]'
	@touch $@

# The accessibility checker that the browser tests inject into a page.
.axe/.installed: requirements/axe.json
	@mkdir -p .axe
	@if command -v npm >/dev/null; then \
	  npm install --silent --no-audit --no-fund --prefix .axe "axe-core@$$(sed -n 's/.*"axe-core": "\(.*\)".*/\1/p' $<)" && touch $@; \
	else echo "npm is missing: the accessibility tests are skipped"; fi

demo: $(VENV)/.installed ## the whole job on built-in data
	$(BIN)/indiff demo

lint: $(VENV)/.installed-dev ## ruff, mypy --strict and the order of the folders
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache

test: lint .rivals/.installed .axe/.installed ## lint, types, unit and property tests; under five minutes
	$(PYTEST) -n $(WORKERS) --dist loadgroup -m 'not system and not long' $(COVERAGE)

test-system: $(VENV)/.installed-dev $(VENV)/.installed-docs .rivals/.installed .axe/.installed ## cluster, kill, browser and load tests; under twenty minutes; SYSTEM_WORKERS=2 for two files at a time
	$(PYTEST) -n $(SYSTEM_WORKERS) --dist loadfile -m system

test-long: $(VENV)/.installed-dev .rivals/.installed ## long property runs
	INDIFF_LONG=1 $(PYTEST) -n $(WORKERS) -m 'long'

test-lowest: .lowest/.installed .rivals/.installed .axe/.installed ## the quick tests with the oldest libraries that are allowed; ONLY=tests/cli for some
	.lowest/bin/python -m pytest -n $(WORKERS) --dist loadgroup -m 'not system and not long' $(ONLY)

mutants: $(VENV)/.installed-dev ## plant bugs in what decides, and name those no test sees; ONLY=audit, MINUTES=60, SEED=fresh
	PYTHONPATH=src:. $(BIN)/python -m tests.mutants $(if $(ONLY),--only $(ONLY)) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED)) $(if $(JOBS),--jobs $(JOBS)) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(OPEN),--open)

fuzz: $(VENV)/.installed-dev ## what nobody expects, at the command line and the server; MINUTES=10, SEED and FIRST go on
	PYTHONPATH=src:. $(BIN)/python -m tests.fuzz $(if $(SEED),--seed $(SEED)) $(if $(FIRST),--first $(FIRST)) $(if $(COUNT),--count $(COUNT)) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(ONLY),--only "$(ONLY)")

benchmarks: $(VENV)/.installed-dev .rivals/.installed ## every speed claim, as a ratio in one run
	@for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

docs: $(VENV)/.installed-docs ## the documentation's site, in build/docs; a warning is an error
	$(BIN)/python -m sphinx -E -W --keep-going -q -b html docs build/docs
	@echo "build/docs/index.html"

paper: $(VENV)/.installed-docs ## the note on the two theorems, as build/note.pdf
	@mkdir -p build
	$(BIN)/python -c 'import typst; typst.compile("docs/paper/note.typ", output="build/note.pdf", root="docs")'
	@echo "build/note.pdf"

format: $(VENV)/.installed-dev ## let ruff rewrite the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

wheel: $(VENV)/.installed-dev ## build the wheel and the source archive, and try the wheel where nothing else is
	$(PIP) install --constraint requirements/constraints.txt build
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(PYTHON) -m venv --clear build/wheel
	build/wheel/bin/python -m pip --disable-pip-version-check --quiet install --only-binary :all: --constraint requirements/constraints.txt "$$(echo dist/*.whl)[pytest]"
	build/wheel/bin/python tests/from_wheel.py

clean: ## remove what set-up made
	rm -rf $(VENV) .rivals .lowest .axe .mypy_cache .pytest_cache .ruff_cache .hypothesis
