# Switchboard's commands. `make help` lists them.
.DEFAULT_GOAL := help
SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
# One heavy thing at a time: the builds and tests use every core by themselves.
.NOTPARALLEL:

BINARY := .build/release/switchboard
RELEASE_BUILD := scripts/release-build.sh
FORMATTED := $(wildcard Sources Plugins Tests Examples api lua web bench)
# Seconds for each fuzz target; on the command line also those of each step of bench-peers.
SECONDS ?= 60
MINUTES ?= 60
# Options for pytest, e.g. `make test PYTEST='-k recovery'`.
PYTEST :=

.PHONY: help
help: ## List these commands
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

.PHONY: run
run: packages-build product ## Build, then run everything on this machine and print the page's address
	@exec $(BINARY) dev

.PHONY: build
build: packages-build product ## Build the gateway for release: .build/release/switchboard

.PHONY: test
test: packages-test ## Run every test: units, and real clients against real gateways
	scripts/test.sh $(PYTEST)

.PHONY: shipped
shipped: packages-test ## Run the clients' tests on the release build, with those that need it
	scripts/test.sh --shipped $(PYTEST)

.PHONY: check
check: lint tsan product check-binary shipped test thorough ## What a change must pass: lint, ThreadSanitizer, the binary's rules, all tests

.PHONY: format
format: ## Format the Swift code in place
	swift format --in-place --parallel --recursive $(FORMATTED)

.PHONY: lint
lint: ## Check format and house rules
	swift format lint --strict --parallel --recursive $(FORMATTED)
	scripts/lint.sh
	scripts/architecture.py

.PHONY: fuzz
fuzz: packages-build ## Fuzz each parser with AddressSanitizer, SECONDS=60 each
	scripts/fuzz.sh $(SECONDS)

.PHONY: chaos
chaos: product bench venv ## Break everything under load for SECONDS=60 and check what clients saw; SEED=n repeats
	.venv/bin/python Tests/Chaos/chaos.py --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

.PHONY: fleet
fleet: product bench venv ## ROUNDS=5 of each fault of a Sentinel group, then of a Redis Cluster, under load; SEED=n repeats
	.venv/bin/python Tests/Chaos/fleet.py --rounds $(or $(ROUNDS),5) $(if $(SEED),--seed $(SEED))
	.venv/bin/python Tests/Chaos/cluster_rounds.py --rounds $(or $(ROUNDS),5) $(if $(SEED),--seed $(SEED))
	.venv/bin/python Tests/Chaos/apps_rounds.py --on group --rounds $(or $(ROUNDS),5) $(if $(SEED),--seed $(SEED))
	.venv/bin/python Tests/Chaos/apps_rounds.py --on cluster --rounds $(or $(ROUNDS),5) $(if $(SEED),--seed $(SEED))

.PHONY: mixed
mixed: product bench venv ## The version before and this one on one Redis, forward and back, under chaos; SEED=n repeats
	.venv/bin/python Tests/Chaos/mixed_versions.py $(if $(SEED),--seed $(SEED))

.PHONY: chaos-clients
chaos-clients: product venv ## The same faults with the libraries for apps as clients, in Swift and JavaScript; SECONDS=60, SEED=n
	swift build --configuration release --package-path Tests/Chaos/apps --scratch-path .build/apps
	.venv/bin/python Tests/Chaos/client_chaos.py .build/apps/release/AppCrowd --seconds $(SECONDS) \
	    $(if $(SEED),--seed $(SEED))

.PHONY: soak
soak: product bench venv ## A steady load for MINUTES=60; memory, descriptors and Redis as a plot: nothing may grow; SEED=n
	.venv/bin/python Tests/Chaos/soak.py --minutes $(MINUTES) --out bench/results $(if $(SEED),--seed $(SEED))

.PHONY: histories
histories: packages-build ## Both libraries for apps live through HISTORIES=100000 random histories with faults
	HISTORIES=$(or $(HISTORIES),100000) node --test clients/js/test/histories.js
	SWITCHBOARD_HISTORIES=$$(($(or $(HISTORIES),100000) / 200)) scripts/unit-tests.sh --filter SwitchboardClientTests.SimulationTests

.PHONY: client-package
client-package: product venv ## Build the Swift examples as an app does, by path and by version, and run them; compare the API
	scripts/client-package.sh
	scripts/client-package.sh --git
	scripts/client-api.sh

.PHONY: thorough
thorough: packages-test products venv ## Run the tests that cost much and seldom find anything
	scripts/autobahn.sh >/dev/null || true
	.venv/bin/python -m pytest -ra -m thorough --numprocesses $$(nproc) --dist loadgroup --no-loadscope-reorder \
	    $(PYTEST) Tests/Scripts Tests/EndToEnd Tests/Chaos Tests/Conformance Tests/Browser

.PHONY: autobahn
autobahn: packages-test product venv ## Run the Autobahn WebSocket conformance suite against a gateway
	AUTOBAHN_DEFLATE=all .venv/bin/python -m pytest -ra -m '' Tests/Conformance $(PYTEST)

.PHONY: docs
docs: venv ## Make one page of the documentation, with search and without any network: .build/docs/index.html
	.venv/bin/python scripts/docs.py .build/docs/index.html

.PHONY: bench-peers
bench-peers: packages-bench product bench ## Measure gateway, floor and peers side by side; PEERS= RATES= STEPS= SECONDS= for a part
	bench/peers.sh $(if $(PEERS),--peers '$(PEERS)') $(if $(RATES),--rates '$(RATES)') \
	    $(if $(STEPS),--steps '$(STEPS)') $(if $(filter command line,$(origin SECONDS)),--seconds $(SECONDS))

.PHONY: release
release: packages-release product ## Make the Debian package, tarball, container file, bill of materials and sums: .build/dist
	scripts/release.sh

.PHONY: reproducible
reproducible: packages-release ## Build the release of the last commit twice, in two folders, and compare the hashes
	scripts/reproducible.sh

.PHONY: clean
clean: ## Remove what was built; Python environments and .switchboard/ stay
	rm -rf .build Tests/Conformance/reports

# Steps of the commands above.
.PHONY: packages-build packages-test packages-bench packages-release product bench products unit tsan check-binary venv clients

packages-build:
	@scripts/packages.sh build

packages-test:
	@scripts/packages.sh test

packages-bench:
	@scripts/packages.sh bench

packages-release:
	@scripts/packages.sh release

product:
	$(RELEASE_BUILD) --product switchboard
	$(RELEASE_BUILD) --product switchboard-courier

bench:
	$(RELEASE_BUILD) --product switchboard-bench

# Both at once: each is mostly a chain of modules, which takes one core.
products:
	$(RELEASE_BUILD)

# `make unit HISTORIES=10` lets each simulation live through ten times as many histories as the gate does.
unit:
	SWITCHBOARD_HISTORIES=$(or $(HISTORIES),1) scripts/unit-tests.sh

# The sanitizer's objects live apart, so that the next plain build does not start over. Simulations, which have one
# thread, live through fewer histories there.
tsan:
	scripts/unit-tests.sh --sanitize=thread --scratch-path .build/tsan -Xswiftc -DTHREAD_SANITIZER

check-binary:
	scripts/check-binary.sh $(BINARY)
	scripts/check-binary.sh $(BINARY)-courier
	scripts/symbols.py $(BINARY)

venv:
	@scripts/venv.sh

# The clients' tests alone, one after the other.
clients: venv
	.venv/bin/python -m pytest -ra --durations=25 $(PYTEST) \
	    $(wildcard Tests/Scripts Tests/EndToEnd Tests/Chaos Tests/Conformance Tests/Browser)
