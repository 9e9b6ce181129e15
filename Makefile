# Every target sets up what it needs in .venv, once: the two stamps below depend on the pins and on pyproject.toml.
PYTHON ?= python3
BIN := .venv/bin
CORE := .venv/.core
DEV := .venv/.dev
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help setup torch ray llm reproduce test check wheel bench docs figures clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

setup: $(DEV)  ## make .venv with everything a developer needs

torch: $(DEV)  ## add PyTorch, for to_torch and its tests
	$(PIP) --editable '.[torch]'

ray: $(DEV)  ## add Ray, for sweeps on a cluster and their tests
	$(PIP) --editable '.[ray]'

llm: $(DEV)  ## add transformers, and get the small models, for descant llm and its tests
	$(PIP) --editable '.[llm]'
	$(BIN)/descant llm models --get smollm2 --get minilm

reproduce: $(CORE)  ## the main job: judge the papers' claims; report/index.html
	$(BIN)/descant reproduce --out report

test: $(DEV)  ## run the quick tests; PYTEST_ARGS='-m "slow or not slow"' for all
	$(BIN)/python -m pytest $(PYTEST_ARGS)

check: $(DEV)  ## ruff, pyright, and a strict build of the documentation
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

wheel: $(DEV)  ## build sdist and wheel, and try the wheel in clean environments; PYTHONS='--python 3.13' for one
	$(BIN)/python scripts/check_wheel.py $(PYTHONS)

bench: $(DEV)  ## benchmarks; each prints a ratio
	$(BIN)/python -m benchmarks

docs: $(DEV)  ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

figures: $(DEV)  ## make the pictures of the README and of the documentation again; needs chromium
	$(BIN)/descant crosscheck --out results/crosscheck
	cp results/crosscheck/heads.png docs/assets/heads.png
	$(BIN)/python -m descant.programs.studies docs/assets
	$(BIN)/descant reproduce --out report
	$(BIN)/python docs/screenshot.py report/index.html docs/assets/report.png

clean:  ## remove .venv and everything that was built
	rm -rf .venv .cache site dist results report .pytest_cache .ruff_cache .hypothesis

$(CORE): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --editable '.[claims]'
	touch $@

$(DEV): $(CORE)
	$(PIP) --editable '.[dev,docs,explorer,notebooks,tables]'
	touch $@
