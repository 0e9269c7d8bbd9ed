# Everything a contributor or a visitor runs. `make` alone lists it.
#
# .venv is made once at the root and changed only when pyproject.toml or constraints.txt changes. Choose the Python that
# makes it with PYTHON=python3.13.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INPUTS := pyproject.toml constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

.PHONY: help demo test chaos check lint format types imports unit generate generated bench constraints clean distclean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/server.stamp ## the main job, end to end, on a registry of its own
	@$(BIN)/python tools/demo.py

test: $(VENV)/dev.stamp ## everything: units, real Postgres, real processes, the wheel
	$(BIN)/python -m pytest

check: format lint types imports generated unit ## what must hold before a commit; under a minute

format: $(VENV)/dev.stamp ## is everything formatted?
	$(BIN)/ruff format --check .

lint: $(VENV)/dev.stamp ## ruff
	$(BIN)/ruff check .

types: $(VENV)/dev.stamp ## mypy, strict
	$(BIN)/mypy

imports: $(VENV)/dev.stamp ## do the arrows point inward?
	$(BIN)/lint-imports

generated: $(VENV)/dev.stamp ## are generated files up to date?
	$(BIN)/python -m pytest -q tests/architecture/test_generated.py

unit: $(VENV)/dev.stamp ## tests without network and database
	$(BIN)/python -m pytest -q tests/unit tests/rules tests/engines

generate: $(VENV)/dev.stamp ## write generated files
	@set -e; for tool in tools/generate_*.py; do $(BIN)/python $$tool; done

chaos: $(VENV)/dev.stamp ## kill client, service and Postgres at random moments, for minutes
	$(BIN)/python -m pytest tests/chaos

bench: $(VENV)/dev.stamp ## ratios, each from one run, with the method
	@set -e; for script in bench/*.py; do echo "== $$script"; $(BIN)/python $$script; done

constraints: $(VENV)/dev.stamp ## pin what is installed now
	$(BIN)/python tools/pin_constraints.py > constraints.new && mv constraints.new constraints.txt

clean: ## remove what the demo and the tools left behind
	@if [ -d .demo/data ] && [ -x $(BIN)/roost ]; then $(BIN)/roost down --data .demo/data; fi
	rm -rf .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find registry cli tests tools bench -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## the same, and the virtual environment
	rm -rf $(VENV)

# The demo needs the service only, so a visitor waits for less. Both stamps say what is installed, and from what.
$(VENV)/server.stamp: $(INPUTS) | $(VENV)/made.stamp
	@echo "installing roost[server] into $(VENV)"
	@$(PIP) install --quiet --constraint constraints.txt --editable '.[server]'
	@touch $@

$(VENV)/dev.stamp: $(INPUTS) | $(VENV)/made.stamp
	@echo "installing roost[server,test,dev] into $(VENV)"
	@$(PIP) install --quiet --constraint constraints.txt --editable '.[server,test,dev]'
	@touch $@ $(VENV)/server.stamp

$(VENV)/made.stamp:
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo "error: no $(PYTHON) here; name a Python with make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: Roost needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) -V 2>&1); name a newer one with make PYTHON=python3.13" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "error: $(PYTHON) cannot make a virtual environment; on Debian and Ubuntu: apt install python3-venv" >&2; rm -rf $(VENV); exit 1; }
	@touch $@
