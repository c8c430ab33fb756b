# Everything that simulates is built with -tags synctests: without it a simulated
# world can hang for ever. See docs/contributing.md.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
GO ?= go
TAGS := -tags synctests
FUZZTIME ?= 20s

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-6s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: test
test: ## run all tests
	$(GO) test $(TAGS) ./...

.PHONY: run
run: ## simulate every world for a few seconds and print the hop table
	$(GO) run $(TAGS) ./cmd/simrun

.PHONY: ci
ci: ## do what continuous integration does, with the time of each step
	bash .ci/run

.PHONY: fmt
fmt: ## format the Go files
	gofmt -w .

.PHONY: vet
vet: ## vet, with the build tag and without
	$(GO) vet $(TAGS) ./...
	$(GO) vet ./...

.PHONY: lint
lint: ## run the linter that go.mod pins
	$(GO) tool staticcheck $(TAGS) ./...

.PHONY: tidy
tidy: ## show what `go mod tidy` would change, and change nothing
	$(GO) mod tidy -diff

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (20s)
	@$(GO) test $(TAGS) -list '^Fuzz' ./... | \
	awk '/^Fuzz/ {name[n++] = $$1} /^ok/ {for (i = 0; i < n; i++) print $$2, name[i]; n = 0}' | \
	while read -r package target; do \
		echo "== $$target in $$package"; \
		$(GO) test $(TAGS) -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) \
			"$$package" </dev/null; \
	done

.PHONY: bench
bench: ## measure schedules per second
	$(GO) test $(TAGS) -run '^$$' -bench Schedules ./sim/worlds
