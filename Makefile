# Each target sets up what it needs in .venv on a machine that has Python and make; the second time that is instant.
#   make demo    compile on the sample's train split, evaluate on its dev split, show the comparison
#   make test    the tests
#   make fuzz    5,000 malformed inputs of each format, drawn by FUZZ_SEED (0)
#   make bench-files   small reports of an outside writer: right, abstained and wrong (10 minutes)
#   make lint    ruff, mypy, the order of packages, the size of rooms, the English, the pages' links
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-slow fuzz lint format lock base dev clean help

help:
	@sed -n 's/^#   //p' Makefile

base:
	@$(PYTHON) tools/bootstrap.py base

dev:
	@$(PYTHON) tools/bootstrap.py dev

demo: base
	@$(BIN)/finpath demo

test: dev
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

test-slow: dev
	$(BIN)/python -m pytest -m slow

fuzz: dev
	FUZZ_EXAMPLES=5000 $(BIN)/python -m pytest -n auto tests/attacks

bench-files: dev
	$(BIN)/python benchmarks/bench_files.py

lint: dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_house.py
	$(BIN)/python tools/check_english.py
	$(BIN)/python tools/check_english.py kg programs optimize experiments benchmarks/*.py tools finpath.py
	$(BIN)/mkdocs build --strict --quiet

format: dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock:
	@$(PYTHON) tools/lock.py

clean:
	rm -rf .venv .venv-lock dist build .pytest_cache .ruff_cache .mypy_cache
