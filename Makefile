.DEFAULT_GOAL := help
.PHONY: help test race soak fuzz lint bench figures quickstart ci

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## run all tests, as the README says
	go test work

race: ## run all tests with the race detector, in random order
	go test -race -shuffle=on -timeout 30m work

soak: ## run the long tests whole: 10,000 turns, many crashes, many random histories, every mode over every database, four processes on one
	LONGSESSION_SOAK=10 go test -count=1 -timeout 60m work

fuzz: ## run each fuzz target for FUZZTIME (10s)
	.ci/run fuzz

lint: ## check formatting, go vet, go.mod and staticcheck
	.ci/run lint

bench: ## run all benchmarks
	go test -run='^$$' -bench=. -benchmem work

figures: ## measure figures anew and write them into the documents; LONGSESSION_DATA names the conversations
	@test -n "$(LONGSESSION_DATA)" || { echo 'LONGSESSION_DATA names no folder of recorded conversations' >&2; exit 2; }
	cd bench && LONGSESSION_UPDATE=1 go test -count=1 -run '^TestTheDefaultMeetsItsGoals' ./masking
	cd bench && LONGSESSION_UPDATE=1 LONGSESSION_SOAK=1 go test -count=1 -timeout 60m -run '^(TestTheComparison|TestNoHardCase)' ./peers
	LONGSESSION_UPDATE=1 go test -count=1 -run 'Alarm|Caught|Measured' ./internal/kept
	LONGSESSION_UPDATE=1 LONGSESSION_SOAK=1 go test -p 1 -count=1 -timeout 60m -run '^(TestReal|TestPromptAfter|TestAPromptStays)' ./replay ./integration_test/soak

quickstart: ## play the 40-turn example, offline
	go run ./examples/quickstart

ci: ## everything that must pass before a change goes in
	.ci/run
