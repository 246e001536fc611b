# Every target sets up what it needs by itself, in .venv: a Python from 3.11, make and a C++20 compiler are enough.
#
#   make test PYTHON=python3.13     choose the interpreter (when .venv is made)
#   make test ARGS="-k voted -x"    arguments for pytest
#   make test WORKERS=0             in one process (for a debugger); the default is one a core

PYTHON  ?=
ARGS    ?=
WORKERS ?= auto

VENV    := .venv
BIN     := $(VENV)/bin
PIP     := $(BIN)/python -m pip --disable-pip-version-check --quiet
SOURCES := $(wildcard engine/*.hpp engine/*.cpp)
FUZZERS := $(wildcard fuzz/*.cpp)

# Prints one list of requirements of pyproject.toml, a line each: $(call requirements,["build-system"]["requires"])
requirements = $(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))$(1), sep="\n")'

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-all check check-lint check-format check-types check-engine check-imports \
        format bench docs wheel sanitize fuzz clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.installed  ## learn four real data sets, and report what was learned
	@$(BIN)/rosenblatt demo

test: $(VENV)/.installed  ## run the tests, without the slow ones and those that need downloaded data
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

test-all: $(VENV)/.installed  ## run every test
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "" $(ARGS)

check: check-lint check-format check-types check-engine check-imports  ## lint, formatting, types, import contract

check-lint: $(VENV)/.installed
	@echo "lint (ruff)"
	@$(BIN)/ruff check --quiet .

check-format: $(VENV)/.installed
	@echo "format of the Python code (ruff)"
	@$(BIN)/ruff format --check --quiet . || { $(BIN)/ruff format --diff --quiet .; echo "make format repairs this"; exit 1; }

check-types: $(VENV)/.installed
	@echo "types (mypy --strict)"
	@$(BIN)/mypy --no-error-summary

check-engine: $(VENV)/.installed
	@echo "format of the engine (clang-format)"
	@$(if $(SOURCES),$(BIN)/clang-format --dry-run -Werror $(SOURCES) $(FUZZERS) || { echo "make format repairs this"; exit 1; })

check-imports: $(VENV)/.installed
	@echo "imports go one way (import-linter)"
	@out=$$($(BIN)/lint-imports 2>&1) || { echo "$$out"; exit 1; }

format: $(VENV)/.installed  ## repair lint and formatting where that can be done by a program
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .
	@$(if $(SOURCES),$(BIN)/clang-format -i $(SOURCES) $(FUZZERS))

bench: $(VENV)/.bench  ## measure side by side with the peers
	@$(BIN)/python -m benchmarks $(ARGS)

docs: $(VENV)/.docs  ## build the documentation; a warning is an error
	@$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

# Built as a user's pip would build it, away from .venv and its build tree; then installed into an empty environment and tried.
wheel: $(VENV)/.created  ## build a wheel into dist/ and try it in a fresh environment
	@rm -rf build/wheel .venv-wheel dist && mkdir -p dist
	@$(PIP) wheel --no-deps --wheel-dir dist --config-settings=build-dir=build/wheel .
	@$(BIN)/python -m venv .venv-wheel
	@.venv-wheel/bin/python -m pip --disable-pip-version-check --quiet install dist/*.whl
	@cd dist && ../.venv-wheel/bin/rosenblatt --version && ../.venv-wheel/bin/python -c "import rosenblatt as rb; \
	    model = rb.Perceptron().fit([[-2.0], [-1.0], [1.0], [3.0]], [0, 0, 1, 1]); \
	    assert model.converged_ and model.separates_ and (model.predict([[-9.0], [9.0]]) == [0, 1]).all()"
	@ls -l dist

# LD_PRELOAD: python itself is not built with the sanitizers, so their run-time libraries must come first; libstdc++ with
# them, or the first C++ exception finds no thrower. detect_leaks=0: the interpreter keeps memory until the process ends.
# --capture=sys: pytest leaves the standard error of the process alone, so that a report of the sanitizers is seen.
SANITIZE_CXX ?= g++
PRELOAD       = $(foreach library,libasan.so libubsan.so libstdc++.so.6,$(shell $(SANITIZE_CXX) -print-file-name=$(library)))
sanitize: .venv-sanitize/.installed  ## run the engine's tests under AddressSanitizer and UndefinedBehaviorSanitizer (Linux)
	@LD_PRELOAD="$(PRELOAD)" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc \
	    .venv-sanitize/bin/python -m pytest tests -m "engine and not slow and not data" --capture=sys $(ARGS)

# libFuzzer is part of clang. The seeds are in fuzz/corpus; what the fuzzer finds interesting is kept in build/fuzz, and
# what breaks the parser as build/fuzz/crash-...: a file to repeat it with (build/fuzz/parse_bytes FILE) and to add to the seeds.
FUZZ_CXX     ?= clang++
FORMAT       ?= csv
SECONDS      ?= 60
FUZZ_SOURCES := fuzz/parse_bytes.cpp $(addprefix engine/,chunks.cpp formats.cpp format_libsvm.cpp format_csv.cpp format_json.cpp \
                format_vw.cpp json_text.cpp row_features.cpp words.cpp)
fuzz: build/fuzz/parse_bytes  ## mutate text of a FORMAT (libsvm, csv, json, vw) for SECONDS and parse it, with the sanitizers (clang)
	@mkdir -p build/fuzz/$(FORMAT) && cd build/fuzz && FORMAT=$(FORMAT) ./parse_bytes -max_total_time=$(SECONDS) -timeout=10 \
	    -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 $(FORMAT) ../../fuzz/corpus/$(FORMAT)

build/fuzz/parse_bytes: $(FUZZ_SOURCES) $(wildcard engine/*.hpp)
	@command -v $(FUZZ_CXX) > /dev/null || { echo "make fuzz needs clang with libFuzzer, and there is no $(FUZZ_CXX)."; \
	    echo "Debian, Ubuntu: apt-get install clang 'libclang-rt-*-dev'; or name one: make fuzz FUZZ_CXX=clang++-18"; exit 1; }
	@mkdir -p build/fuzz
	@$(FUZZ_CXX) -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Iengine $(FUZZ_SOURCES) \
	    -pthread -o $@

clean:  ## remove the environments and everything built
	@rm -rf $(VENV) .venv-wheel .venv-sanitize build dist docs/_build docs/reference/generated \
	    .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find src tests benchmarks docs examples -name __pycache__ -prune -exec rm -rf {} +

# --- The environments -----------------------------------------------------------------------------------------------

$(VENV)/.created:
	@python=$$(sh scripts/check_machine.sh "$(PYTHON)") && echo "making $(VENV) with $$python" && "$$python" -m venv $(VENV)
	@touch $@

# The tools that build the engine stay in .venv (no build isolation), so that a changed engine is compiled in part, not anew.
$(VENV)/.tools: pyproject.toml | $(VENV)/.created
	@echo "installing the build tools"
	@$(call requirements,["build-system"]["requires"]) > $@.txt
	@$(PIP) install --requirement $@.txt cmake ninja
	@touch $@

# Editable: a change of Python code is live at once; this rule runs again when the engine or the dependencies change.
$(VENV)/.installed: pyproject.toml CMakeLists.txt $(SOURCES) $(VENV)/.tools
	@echo "building the engine and installing rosenblatt with its development tools"
	@$(PIP) install --no-build-isolation --editable ".[dev]"
	@touch $@

$(VENV)/.docs: pyproject.toml $(VENV)/.installed $(if $(filter bench,$(MAKECMDGOALS)),| $(VENV)/.bench)
	@$(call requirements,["project"]["optional-dependencies"]["docs"]) > $@.txt
	@$(PIP) install --requirement $@.txt
	@touch $@

# A peer without a wheel for this Python is left out, not compiled: the table says which peers it has.
$(VENV)/.bench: pyproject.toml $(VENV)/.installed
	@$(call requirements,["project"]["optional-dependencies"]["bench"]) > $@.txt
	@while read -r peer; do \
	    $(PIP) install --only-binary :all: "$$peer" 2>/dev/null || echo "no wheel of $$peer for this Python: left out"; \
	done < $@.txt
	@touch $@

# Everything but rosenblatt comes from .venv, through a path file.
.venv-sanitize/.installed: CMakeLists.txt $(SOURCES) $(VENV)/.installed
	@echo "building the engine with the sanitizers"
	@$(BIN)/python -m venv --without-pip .venv-sanitize
	@$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	    > "$$(.venv-sanitize/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/development_tools.pth"
	@CXX="$(SANITIZE_CXX)" .venv-sanitize/bin/python -m pip --disable-pip-version-check --quiet install --no-deps \
	    --no-build-isolation --config-settings=build-dir=build/sanitize \
	    --config-settings=cmake.define.ROSENBLATT_SANITIZE=ON --editable .
	@touch $@
