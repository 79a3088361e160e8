# Needs Python 3.11 or newer (with pip) and make; everything else goes into .venv.
# Another Python: make PYTHON=python3.12 test

PYTHON ?= python3
JOBS   ?= 2
FUZZ_SECONDS ?= 60
FUZZ_SEED ?= 1

VENV := .venv
BIN  := $(VENV)/bin
# The stamps: touched after set-up, older than pyproject.toml when it must happen again.
USER_SETUP := $(VENV)/.set-up-user
DEV_SETUP  := $(VENV)/.set-up-dev
FUZZ_SETUP := $(VENV)/.set-up-fuzz
TORCH_SETUP := $(VENV)/.set-up-torch
RELEASE_SETUP := $(VENV)/.set-up-release
EDITORS_SETUP := editors/node_modules/.package-lock.json
PAGE_SETUP := playground/node_modules/.package-lock.json

# Twice quiet: pip says nothing but errors.
PIP_INSTALL := $(BIN)/python -m pip install -q -q --disable-pip-version-check
# What is compiled, from the text to the report; the other tests are about other things or laws.
COMPILED_TESTS := tests/test_compiled.py tests/test_golden.py tests/test_rules_fire.py tests/test_cli_contract.py tests/importers tests/unit
# Those that draw as many examples as AXON_PROFILE allows.
RANDOM_TESTS := tests/properties tests/oracle tests/unit tests/backends/test_ragged.py
# Those that compare a backend with NumPy; AXON_BACKEND says which.
TORCH_TESTS := tests/examples tests/run tests/backends tests/test_docs.py
# Those of them that are about JAX, whatever AXON_BACKEND says.
JAX_TESTS := $(addprefix tests/,examples/test_buckets.py run/test_buckets.py run/test_ragged_jax.py \
	run/test_rows_in_buckets.py \
	$(addprefix backends/test_,attention_on_jax.py jax_cache.py padded_operators.py shared_calls.py \
	stacked_layers.py what_gradients_keep.py))
BENCHMARKS  := $(wildcard benchmarks/*.py)

# Tests start hundreds of processes, each of which would compile Axon's modules anew.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run test compiled torch lint golden pictures grammars editors vsix playground play site release bench fuzz stress mutate attack clean

help: ## show this list
	@echo "Axon: tensor shapes, inferred. Targets:"
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: $(USER_SETUP) ## see Axon infer, explain and run examples
	@printf '\n%s\n\n' "== axon infer: the type of every definition in examples/attention.axon"
	@$(BIN)/axon infer examples/attention.axon
	@printf '\n%s\n\n' "== axon explain --short: how the type of 'attention' was found"
	@$(BIN)/axon explain examples/attention.axon attention --short
	@printf '\n%s\n\n' "== axon infer: what an ONNX model accepts and makes, from its weights"
	@$(BIN)/axon infer examples/onnx/encoder.onnx
	@printf '\n%s\n\n' "== axon run: causal self-attention with four heads, on arrays made up for it"
	@$(BIN)/axon run examples/multihead.axon causal_attention 'x=rand[2,3,8]' 'Wq=rand[8,8]' 'Wk=rand[8,8]' 'Wv=rand[8,8]' 'Wo=rand[8,8]'

test: lint ## lint, then run every test
	@echo "== pytest"
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal

compiled: $(DEV_SETUP) ## build Axon as C extensions into dist/ (a few minutes), and test that
	@echo "== mypyc"
	@rm -rf dist/*-cp*.whl build/compiled
	@HATCH_BUILD_HOOKS_ENABLE=1 $(BIN)/python -m hatchling build -t wheel -d dist
	@$(PIP_INSTALL) --no-deps --target build/compiled dist/*-cp*.whl
	@echo "== pytest, compiled"
	@AXON_COMPILED=1 AXON_PROFILE=quick PYTHONPATH=build/compiled $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal $(COMPILED_TESTS)

torch: $(TORCH_SETUP) ## run programs on PyTorch, and compare the examples with it (installs a CPU build)
	@AXON_BACKEND=torch $(BIN)/python -m pytest -q -n $(JOBS) -p no:cacheprovider tests_torch $(TORCH_TESTS) $(JAX_TESTS:%=--ignore=%)

lint: $(DEV_SETUP) ## ruff, mypy, the import contracts, and whether the mutants still fit
	@echo "== ruff"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check . || \
		{ echo "Some files are not formatted; '$(BIN)/ruff format .' does it." >&2; exit 1; }
	@echo "== mypy"
	@$(BIN)/mypy
	@echo "== import-linter"
	@$(BIN)/lint-imports --no-logo
	@echo "== mutants: each is of a text that is there once"
	@$(BIN)/python scripts/mutate.py --list >/dev/null

golden: $(DEV_SETUP) ## rewrite the golden files; read the diff before you commit it
	@AXON_GOLDEN=write $(BIN)/python -m pytest -q tests/test_golden.py tests/editor/test_hints_golden.py

pictures: $(DEV_SETUP) ## write the pictures in docs/images anew
	@$(BIN)/python scripts/pictures.py

grammars: $(DEV_SETUP) ## rewrite the grammars of editors/ from the words and signs of the lexer
	@$(BIN)/python scripts/grammars.py

editors: $(DEV_SETUP) $(EDITORS_SETUP) ## test the grammars and the VS Code extension (needs node, vim and a C compiler)
	@CI=1 $(BIN)/python -m pytest -q tests/highlight

vsix: $(EDITORS_SETUP) ## package the VS Code extension as editors/vscode/axon.vsix (needs node)
	@cd editors && npm run --silent vsix

playground: $(DEV_SETUP) $(PAGE_SETUP) ## build the playground into build/playground (needs node)
	@cd playground && npm run --silent build
	@$(BIN)/python scripts/playground.py build/playground

play: playground ## build the playground, and open it in the browser
	@$(BIN)/axon play

site: playground ## build the documentation and the playground into build/site
	@rm -rf build/site
	@$(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs build/site
	@cp -R build/playground build/site/playground
	@echo "the site is in build/site; for a look: $(BIN)/python -m http.server -d build/site"

release: $(RELEASE_SETUP) playground ## build wheel and sdist into dist/, check and try them; uploads nothing
	@$(BIN)/python scripts/release.py

bench: $(DEV_SETUP) ## run the benchmarks
	@test -n "$(BENCHMARKS)" || { echo "There are no benchmarks yet (benchmarks/*.py)." >&2; exit 1; }
	@status=0; for file in $(BENCHMARKS); do \
		echo "== $$file"; $(BIN)/python $$file || status=1; \
	done; exit $$status

fuzz: $(FUZZ_SETUP) ## fuzz syntax, checker, solver and calls, FUZZ_SECONDS (60) each, from FUZZ_SEED (1; 0: by chance)
	@for name in syntax check solver run; do \
		echo "== fuzz/$$name.py, $(FUZZ_SECONDS) s"; \
		FUZZ_SEED=$(FUZZ_SEED) $(BIN)/python fuzz/$$name.py $(FUZZ_SECONDS) >.fuzz-$$name.log 2>&1 || \
			{ tail -n 60 .fuzz-$$name.log >&2; echo "the input is in .fuzz/$$name/" >&2; exit 1; }; \
		grep -e '^FUZZ_SEED' -e '^stat::number_of_executed_units' .fuzz-$$name.log; \
	done

stress: $(DEV_SETUP) ## the random tests with eight times the examples of `make test` (long)
	@AXON_PROFILE=night $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal $(RANDOM_TESTS)

mutate: $(DEV_SETUP) ## break each law on purpose: do the tests notice? (long)
	@$(BIN)/python scripts/mutate.py --jobs $(JOBS)

attack: $(DEV_SETUP) ## random programs with run-time and ragged sizes, against an interpreter (long)
	@$(BIN)/python scripts/attack.py --programs 30000

clean: ## remove .venv, caches and builds
	rm -rf $(VENV) .node build dist .fuzz .fuzz*.log .lint.log .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	rm -rf editors/node_modules editors/vscode/dist editors/vscode/*.vsix
	rm -rf playground/node_modules src/axon/playground/built
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# --- set-up -----------------------------------------------------------------------------------

$(USER_SETUP): pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "== set-up: installing Axon into $(VENV)"
	@$(PIP_INSTALL) --editable '.[onnx]'
	@touch $@

$(DEV_SETUP): pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "== set-up: installing Axon and the tools for its development into $(VENV)"
	@$(PIP_INSTALL) --editable '.[dev]'
	@touch $(USER_SETUP) $@

$(FUZZ_SETUP): $(DEV_SETUP)
	@echo "== set-up: installing the fuzzer into $(VENV)"
	@$(PIP_INSTALL) --editable '.[dev,fuzz]'
	@touch $@

$(RELEASE_SETUP): $(DEV_SETUP)
	@echo "== set-up: installing what builds and checks a release into $(VENV)"
	@$(PIP_INSTALL) --editable '.[dev,release]'
	@touch $@

$(TORCH_SETUP): $(DEV_SETUP)
	@echo "== set-up: installing PyTorch into $(VENV)"
	@$(PIP_INSTALL) --editable '.[dev,torch-tests]'
	@touch $@

$(PAGE_SETUP): playground/package.json playground/package-lock.json
	@command -v npm >/dev/null || { echo "The playground needs node 20 or newer, with npm." >&2; exit 1; }
	@echo "== set-up: installing what the playground is made of into playground/node_modules"
	@cd playground && npm ci --silent --ignore-scripts
	@touch $@

$(EDITORS_SETUP): editors/package.json editors/package-lock.json
	@command -v npm >/dev/null || { echo "The editors' parts need node 20 or newer, with npm." >&2; exit 1; }
	@echo "== set-up: installing what the editors' parts are built and tested with into editors/node_modules"
	@cd editors && npm ci --silent --ignore-scripts
	@touch $@

$(VENV)/pyvenv.cfg:
	@command -v "$(PYTHON)" >/dev/null || { echo "Axon needs Python 3.11 or newer, and there is no '$(PYTHON)' here; name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Axon needs Python 3.11 or newer, but '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1); name another: make PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); echo "'$(PYTHON) -m venv' failed; on Debian and Ubuntu 'apt install python3-venv' mends it" >&2; exit 1; }
