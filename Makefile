# `make run` judges the bundled SQLite saver; `make test` passes everything that CI passes.
# Both set up a virtual environment first, and need nothing but Python 3.11 or newer with venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PACKAGES := conformance savers faults reports
SOURCES := $(PACKAGES) tests .ci

# More than there are cores: many tests wait, for a process that ends or a call that never does.
WORKERS ?= 3
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist worksteal --durations=40

# The schemas that the checker brings along: it fetches nothing.
SCHEMA := $(BIN)/check-jsonschema --quiet --builtin-schema vendor

# What a change is tried with while it is made (CONTRIBUTING.md): tests that need no judge process, no
# server and no kill, and not the two of the documentation that run the whole kit.
QUICK := tests/project tests/docs tests/reports tests/savers \
	$(patsubst %,tests/conformance/test_%.py, model model_against_memory codec values values_comparison describing \
		generating directed differences features shrinking axes contracts contract_links items flaky known targets extensions) \
	$(patsubst %,tests/conformance/run/test_%.py, course cli cli_reports) \
	$(patsubst %,tests/faults/test_%.py, statements_plan cancel proxy outside_view)
LEFT_OUT := --ignore tests/savers/test_targets.py --ignore tests/savers/test_concurrency.py \
	--deselect tests/docs/test_snippets.py::test_what_the_readme_shows_of_a_run_is_what_a_run_says \
	--deselect tests/docs/test_snippets.py::test_the_suite_is_imported_and_a_notebook_judges

# Tests start hundreds of interpreters, and each would compile the whole kit again.
unexport PYTHONDONTWRITEBYTECODE


# What the makers of its generator have to say about the next one is not for us.
export NO_MKDOCS_2_WARNING := 1

.PHONY: run test quick lint types imports docs pages mistakes check tests nightly selftest-full crowds ablation steady right-on-servers oldest oldest-by-day bench lock wheel release field costs clean

run: $(VENV)/ready
	$(BIN)/pytest --saver=sqlite

test: check tests

# Two minutes on two cores: lint, types, imports, docs and the tests of QUICK.
quick: check
	$(PYTEST) $(LEFT_OUT) $(QUICK)

check: lint types imports docs

lint: $(VENV)/ready
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/codespell $(SOURCES) .github docs *.md *.cff
	$(SCHEMA).github-workflows .github/workflows/*.yml
	$(SCHEMA).github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
	$(SCHEMA).github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(SCHEMA).dependabot .github/dependabot.yml
	$(SCHEMA).github-actions action.yml
	$(SCHEMA).citation-file-format CITATION.cff

types: $(VENV)/ready
	$(BIN)/mypy

imports: $(VENV)/ready
	$(BIN)/lint-imports

# The site of the documentation, in .site; every warning (a link that leads nowhere) is an error.
docs: $(VENV)/ready
	$(BIN)/mkdocs build --strict --quiet

# What is generated in the documentation and in charts, written anew.
pages: $(VENV)/ready
	$(BIN)/python -m saverproof.contracts.page > docs/contracts.md
	$(BIN)/python -m saverproof.run.peer.page > docs/peer.md
	$(BIN)/python .ci/field.py page > docs/field.md
	$(BIN)/python .ci/field.py picture > docs/field.svg
	$(BIN)/python .ci/field.py known
	$(BIN)/python -m tests.docs.times
	$(BIN)/python -m tests.docs.mistake_classes
	$(BIN)/python -m tests.docs.sample_run
	$(BIN)/python -m tests.docs.compared
	$(BIN)/python -m tests.docs.reference_laws

tests: $(VENV)/ready
	$(PYTEST)

# The shortest program that shows each known mistake, found anew: takes some minutes.
mistakes: $(VENV)/ready
	$(BIN)/python -m tests.conformance.mistake_programs
	$(BIN)/python -m tests.conformance.mistake_graphs

nightly: check oldest selftest-full crowds ablation steady right-on-servers tests bench

# What operations cost is counted alike in ten runs, five of them beside busy loops: minutes for each saver.
# `make steady SAVERS="sqlite memory"` compares these alone; `SAVERS="--keep FOLDER"` can be ended and goes on.
steady: $(VENV)-costs/ready
	$(VENV)-costs/bin/python -m tests.conformance.cost.steady_counts $(SAVERS)

# Right savers on real servers are accused of nothing, in any family.
right-on-servers: $(VENV)/ready
	for module in postgres_savers mariadb_saver redis_saver; do \
		$(BIN)/pytest --saver=tests.servers.$$module:right --saver-profile=quick --saver-budget=60m || exit 1; done

selftest-full: $(VENV)/ready
	SAVERPROOF_SEEDS=1 $(PYTEST) -m nightly
	SAVERPROOF_SEEDS=5 $(PYTEST) tests/conformance/test_selftest.py tests/conformance/test_replays.py \
		tests/conformance/test_right_savers.py tests/conformance/test_prune_among_the_rest.py \
		tests/conformance/test_axes.py tests/conformance/run/test_init_workflow.py tests/conformance/cost/test_cost.py tests/conformance/cost/test_cost_selftest.py \
		tests/conformance/cost/test_resources.py tests/conformance/test_misbehaving.py tests/conformance/graphs/test_graphs.py \
		tests/conformance/test_shared_stores.py tests/conformance/concurrency/test_concurrency_elsewhere.py \
		tests/conformance/concurrency/test_concurrency_selftest.py tests/conformance/durability/test_durability_selftest.py \
		tests/conformance/upgrade/test_upgrade.py tests/servers/test_redis.py tests/servers/test_interrupted.py

# Which makers of programs find what no other does: a quarter of an hour or so of one core.
# `make ablation ABLATION="--profile default --every 10"`; --help has the rest.
ablation: $(VENV)/ready
	$(BIN)/python -m tests.conformance.ablation --jobs $(WORKERS) $(ABLATION)

# Savers with many flaws: no flaw is held or lost, and mending in the order of the report ends.
crowds: $(VENV)/ready
	$(BIN)/python -m tests.crowds.measure --pairs --fives --tens --jobs $(WORKERS)
	$(BIN)/python -m tests.crowds.measure --first --mend --jobs $(WORKERS)

# The table of docs/cost.md, judged anew: it needs the servers of the tests, and takes minutes.
# `make costs SAVERS="lmdb plainredis"` judges these alone.
costs: $(VENV)-costs/ready
	$(VENV)-costs/bin/python -m tests.docs.costs $(SAVERS)

# Released savers, each in an environment of its own: minutes for each. `make pages` shows the results.
field: $(VENV)/ready
	$(BIN)/python .ci/field.py run

# The oldest langgraph-checkpoint that is supported; CI has the part that judges the bundled saver.
oldest: oldest-by-day
	$(VENV)-oldest/bin/pytest --saver=memory --saver-profile=quick --saver-families functional \
		--saver-known tests/known/memory.toml

oldest-by-day: $(VENV)-oldest/ready
	$(VENV)-oldest/bin/pytest tests/oldest
	$(VENV)-oldest/bin/pytest --saver=sqlite --saver-profile=quick --saver-families functional

bench: $(VENV)/ready
	for script in tests/benchmarks/bench_*.py; do PYTHONPATH=. $(BIN)/python $$script || exit 1; done

lock: $(VENV)/ready
	$(BIN)/pip freeze --exclude-editable > constraints.txt

# The distributions, in dist/; the wheel is built from the other one, and used in an empty environment.
wheel: $(VENV)/ready
	rm -rf dist
	$(BIN)/python -m build
	PYTHON=$(PYTHON) .ci/check-wheel dist/*.whl

# make release VERSION=2026.12.0: version, changelog, build, check, commit and tag; publishes nothing.
release: $(VENV)/ready
	$(BIN)/python .ci/release.py make "$(VERSION)"

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

$(VENV)-oldest/ready: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/pip install --quiet --disable-pip-version-check --constraint constraints-oldest.txt \
		--editable '.[duckdb]' pytest-xdist pytest-cov
	touch $@

# One of the savers in that table, and of those counted ten times, is no part of the set-up for tests.
$(VENV)-costs/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)-costs
	$(VENV)-costs/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[dev]' langgraph-checkpoint-objectstorage==0.1.15
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-costs .saverproof .site
