# Needs make and Python >= 3.11 with venv; everything else goes into .venv.
#
#   PYTHON=python3.12   the interpreter to make .venv with (otherwise the newest one found)
#   ARGS="..."          further arguments for the command that a target runs
#   HOURS=1             how long `make soak` takes
#   SEED=1              the random examples of `make test-all`

PYTHON ?=
PYTHONS ?= 3.11 3.12 3.13 3.14
ARGS ?=
WORKERS ?= logical
SECONDS ?= 60
HOURS ?= 1
TRIALS ?= 2000
SEED := $(or $(SEED),$(shell date +%s))

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp

# Packages on a foreign path must not shadow the locked ones.
unexport PYTHONPATH PYTHONHOME
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# One test process per core, so one thread per process.
PYTEST = OMP_NUM_THREADS=1 MPLBACKEND=Agg $(BIN)/python -m pytest \
	-n $(WORKERS) --maxprocesses 8 --dist worksteal --benchmark-disable

.DEFAULT_GOAL := help
.PHONY: help setup verify test matrix test-all test-wheel browser soak golden size fuzz attack balls blur docs lint format bench gate lock clean force

help:
	@echo 'usage: make TARGET [PYTHON=python3.12] [ARGS="..."]'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' Makefile

setup: $(STAMP) ## make .venv with the locked dependencies and the gammabar command
	@echo 'ready: $(BIN)/gammabar'

verify: $(STAMP) ## check every statement; the results are kept in build/verify.sqlite
	@mkdir -p build
	@$(BIN)/gammabar verify --store build/verify.sqlite --resume $(ARGS)

test: $(STAMP) ## the fast tests: the same examples on every machine, embedded data
	@$(PYTEST) -m "not full and not slow" $(ARGS)

matrix: ## the fast tests with each Python of PYTHONS that is installed, in build/python3.x
	@for version in $(PYTHONS); do \
	    python$$version -c '' 2>/dev/null || { echo "python$$version is not installed"; continue; }; \
	    $(MAKE) --no-print-directory test VENV=build/python$$version PYTHON=python$$version || exit 1; \
	done

test-all: $(STAMP) ## all tests but the slow ones, with random examples (SEED=N: those of an earlier run)
	@echo 'random examples: make test-all SEED=$(SEED)'
	@$(PYTEST) -m "not slow" --hypothesis-seed=$(SEED) $(ARGS)

soak: $(STAMP) ## slow tests, attack, fuzzing, error balls and blur for about HOURS=1
	@OMP_NUM_THREADS=1 MPLBACKEND=Agg $(BIN)/python -m tests.soak --hours $(HOURS) $(ARGS)

# size of the source, and modules that three commands touch (ARGS="--base COMMIT")
size: $(STAMP)
	@$(BIN)/python -m tests.size $(ARGS)

# the verdicts of the plan, compared with the frozen ones
golden: $(STAMP)
	@OMP_NUM_THREADS=1 $(BIN)/python -m tests.golden $(ARGS)

# one search of the long tier: make attack TRIALS=5000, make fuzz SECONDS=600, make balls, make blur
attack: $(STAMP)
	@OMP_NUM_THREADS=1 $(BIN)/python -m tests.attack --trials $(TRIALS) $(ARGS)

fuzz: $(STAMP)
	@OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(ARGS)

balls: $(STAMP)
	@OMP_NUM_THREADS=1 $(BIN)/python tests/harness/verify/test_balls.py 1000000 $(ARGS)

blur: $(STAMP)
	@OMP_NUM_THREADS=1 $(BIN)/python -m tests.blur $(ARGS)

# build the wheel, install it elsewhere and try every command of it
test-wheel: $(STAMP)
	@$(BIN)/python -m pytest tests/gammabar/test_wheel.py $(ARGS)

# install Chromium, in which tests look at the report (Debian and Ubuntu)
browser:
	@tests/report/get-chromium

docs: $(STAMP) ## build the site in build/site/html, with what verify finds
	@mkdir -p build
	@$(BIN)/gammabar verify --store build/verify.sqlite --resume
	@$(BIN)/python docs/site/build.py build/verify.sqlite

lint: $(STAMP) ## ruff check, ruff format --check, mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# apply ruff's fixes and formatting
format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP) ## run every asv benchmark once, and compare with what a user would pick instead
	@$(BIN)/asv machine --yes >/dev/null
	@$(BIN)/asv run --quick --python=same $(ARGS)
	@$(BIN)/gammabar bench --quick --only oracle

gate: $(STAMP) ## compare with the commit named in benchmarks/BASE (another: ARGS=COMMIT)
	@$(BIN)/gammabar gate $(ARGS)

# write requirements.lock anew from pyproject.toml (ARGS=--upgrade for newer versions)
lock:
	@set -e; $(find_python); \
	"$$python" -m venv build/lock; \
	build/lock/bin/python -m pip install -qq 'uv>=0.9'; \
	build/lock/bin/uv pip compile pyproject.toml --no-config --quiet --universal \
	    --fork-strategy fewest --generate-hashes --extra dev \
	    --custom-compile-command 'make lock' --output-file requirements.lock $(ARGS); \
	echo "requirements.lock: $$(grep -c '^[a-z]' requirements.lock) packages"

clean: ## remove .venv, caches and build products; results and stores stay
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Sets $python to PYTHON, or else to the newest usable interpreter. A version manager's stand-in
# may exist and not run, and some distributions split venv off: so each candidate is tried.
define find_python
python=; \
for candidate in $(or $(PYTHON),python3.14 python3.13 python3.12 python3.11 python3 python); do \
    if "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
        >/dev/null 2>&1; then python=$$candidate; break; fi; \
done; \
if [ -z "$$python" ]; then \
    echo 'gammabar needs Python 3.11 or newer with the venv module, and' \
        '$(if $(PYTHON),$(PYTHON) is not one,none was found): install one' \
        '(on Debian or Ubuntu: python3 and python3-venv) or name it with make PYTHON=/path/to/python3' >&2; \
    exit 1; \
fi
endef

# The stamp holds the folder and the PYTHON that .venv was made for. A virtual environment that was
# moved, copied, left unfinished or lost its interpreter is made anew; one that is merely older than
# the lock is brought up to date.
ifneq ($(shell [ -x $(BIN)/python ] && sed -n 1p $(STAMP) 2>/dev/null),$(CURDIR))
STALE := yes
else ifneq ($(PYTHON),)
ifneq ($(shell sed -n 2p $(STAMP)),$(PYTHON))
STALE := yes
endif
endif

ifdef STALE
$(STAMP): force
endif

$(STAMP): requirements.lock pyproject.toml
	@set -e; start=$$(date +%s); \
	if [ -n '$(STALE)' ]; then \
	    $(find_python); \
	    echo "[1/3] making $(VENV) with $$("$$python" --version)"; \
	    rm -rf $(VENV); \
	    "$$python" -m venv $(VENV); \
	    printf '%s\n' "$$python" > $(VENV)/.python; \
	else \
	    echo '[1/3] keeping $(VENV)'; \
	fi; \
	echo "[2/3] installing the $$(grep -c '^[a-z]' requirements.lock) packages of requirements.lock" \
	    '(the first time: a minute or two)'; \
	$(BIN)/python -m pip install -qq --no-input --only-binary :all: --require-hashes \
	    --requirement requirements.lock; \
	echo '[3/3] installing gammabar from this folder'; \
	$(BIN)/python -m pip install -qq --no-input --no-deps --no-build-isolation --editable .; \
	{ printf '%s\n' "$$(pwd -P)"; cat $(VENV)/.python; } > $(STAMP); \
	echo "ready after $$(( $$(date +%s) - start )) s"
