# Thin on purpose: every target calls the seqcourse command or pytest. `make help` lists them.
# Needs python3.11 (or PYTHON=python3.12, python3.13, python3.14), git and make; everything else goes to .venv.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# Another PyTorch than the pinned one, such as TORCH=2.6.0.
TORCH  ?=
# Workers of the notebooks, which compute, and of the tests, which also wait for kernels and browsers;
# and the seconds that one cell of a notebook may take under test.
WORKERS      ?= 2
TEST_WORKERS ?= 3
CELL_TIMEOUT ?= 300
# One thread per worker: two workers with two threads each would only fight for two cores.
ONE_THREAD := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false
PYTEST := $(ONE_THREAD) PYTHONPATH="$(CURDIR)" $(BIN)/pytest --dist loadscope
UNITS := $(addprefix tests/,data functional house metrics nn notebooks/test_hygiene.py viz)
TESTS := $(PYTEST) -n $(TEST_WORKERS) tests --no-loadscope-reorder --durations=25 --durations-min=2
NOTEBOOKS := $(PYTEST) -n $(WORKERS) book solutions --nbval-lax --nbval-cell-timeout=$(CELL_TIMEOUT) -p tests.notebooks.times

.DEFAULT_GOAL := help
.PHONY: help course lab book pdf release grade check test test-all bench dist house exercise numbers constraints

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-12s %s\n", $$1, $$2 }'

course: $(READY) ## install, execute and render the book, release, grade a sample class
	@sh tests/ensure_tools.sh bubblewrap
	@$(BIN)/seqcourse course

lab: $(READY) ## open JupyterLab on your folder my-course, made at the first call
	@$(BIN)/seqcourse lab

book: $(READY) ## execute and render the book
	@$(BIN)/seqcourse book

pdf: $(READY) ## the book as one PDF, _build/seqcourse.pdf
	@$(BIN)/seqcourse book --pdf

release: $(READY) ## generate assignments/ from solutions/
	@$(BIN)/seqcourse release

grade: $(READY) ## grade what lies in grading/submitted
	@$(BIN)/seqcourse grade

check: $(READY) ## what to run before every commit: style, imports, hygiene of the notebooks, units
	@$(BIN)/ruff format --check --quiet cellgrader seqcourse tests benchmarks
	@$(PYTEST) -n $(WORKERS) -q $(UNITS) -m "not nightly and not slow and not browser"

# The pages that the tests look at are made from what the notebooks printed: nothing is executed twice.
test: $(READY) ## run every notebook of book/ and solutions/, then every test; the longest in a smaller size
	@PYTHON_OF_COURSE=$(BIN)/python sh tests/ensure_tools.sh browser bubblewrap postgresql
	@SEQCOURSE_STATIC=1 $(NOTEBOOKS) -p tests.notebooks.outputs
	@$(TESTS) -m "not nightly"

test-all: $(READY) ## the same with every test at its full size; CI does that every night
	@PYTHON_OF_COURSE=$(BIN)/python sh tests/ensure_tools.sh browser firefox bubblewrap postgresql
	@$(NOTEBOOKS)
	@$(TESTS)

bench: $(READY) ## run the side-by-side measurements in benchmarks/
	@$(BIN)/seqcourse bench

dist: $(READY) ## what is published: source distribution and wheel, in dist/
	@$(BIN)/python -m tests.house.dist dist $(TAG)

house: $(READY) ## draw the rooms into CONTRIBUTING.md, make the tables of the appendices, write out what packages hold of the cards (for maintainers)
	@$(BIN)/python -m tests.house.picture
	@$(BIN)/python -m tests.house.tables
	@$(BIN)/python -m seqcourse.check.cards.shipped

exercise: $(READY) ## lay out the exercise NAME, such as ps5/my_mask (for maintainers)
	@$(BIN)/python -m seqcourse.cli.exercise $(NAME)
	@$(BIN)/python -m seqcourse.check.cards.shipped

numbers: $(READY) ## bring the numbers of figures, formulas and sections in the book's texts up to date (for maintainers)
	@$(BIN)/python -m seqcourse.pages.plain

constraints: ## write constraints.txt from the versions in .venv (for maintainers)
	@( sed -n '/^#/p' constraints.txt; $(BIN)/python -m pip freeze --all --exclude-editable --exclude seqcourse --exclude pip \
	   | sed -E 's/\+[A-Za-z0-9.]+$$//' ) > constraints.tmp && mv constraints.tmp constraints.txt

# Installed again only when the package's list or the pinned versions change.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -P seqcourse/cli/install.py $(VENV) $(TORCH)
	@touch $@
