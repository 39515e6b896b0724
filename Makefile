# What can be done with a checkout. Each target sets up the machine first; a step already done is skipped.

SHELL := /bin/sh
export PATH := $(PATH):$(HOME)/.cargo/bin
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
COLT := $(TARGET_DIR)/release/colt
# csmith programs compared with their native builds.
CSMITH_COUNT ?= 100

.PHONY: help setup build demo test lint bench fuzz real examples

help:
	@echo 'make demo      set up, build, run Colt on a program with bugs'
	@echo 'make test      set up, build, run every test'
	@echo 'make lint      formatting and clippy'
	@echo 'make fuzz      compare 2,000 csmith programs, 10,000 solver questions, every solver layer'
	@echo 'make bench     measure speed; BENCH=--save keeps the figures as the baseline, BENCH=NAME measures some programs'
	@echo 'make examples  run every example again and keep its output beside it'
	@echo 'make real      whole programs: coreutils, bc, lua, ... (REAL_TIME=300 s each, REAL_ONLY=echo,cat, REAL_JOBS=2 at a time)'

setup:
	@scripts/setup

build: setup
	@echo 'build: colt, release'
	@cargo build --release --locked -p cli

demo: build
	@echo 'demo: $(COLT) run examples/calculator.c'
	@out=$$(mktemp -d) && status=0 && \
	$(COLT) run examples/calculator.c --out "$$out/calculator" || status=$$?; \
	if [ "$$status" = 10 ]; then echo "demo: status 10, Colt found bugs; everything it wrote is in $$out/calculator"; \
	else echo "demo: expected status 10 (findings), got $$status"; exit 1; fi

# One build for the command and all tests: their dependencies together ask for other features than the command's alone,
# and would be built a second time.
test: setup
	@echo 'build: colt and the tests, release'
	@cargo build --release --locked --workspace --bins --tests
	@echo 'test: every crate, the fixtures, $(CSMITH_COUNT) csmith programs, bad input'
	@COLT=$(abspath $(COLT)) CSMITH_COUNT=$(CSMITH_COUNT) scripts/test

lint:
	@cargo fmt --all --check
	@cargo clippy --release --locked --workspace --all-targets -- -D warnings

fuzz: build
	@COLT=$(abspath $(COLT)) CSMITH_COUNT=2000 cargo test --release --locked -p testkit --test csmith -- --nocapture
	@COLT=$(abspath $(COLT)) TECHNIQUE_FIXTURES=all cargo test --release --locked -p testkit --test techniques -- --nocapture
	@COLT=$(abspath $(COLT)) QUERIES=10000 SWITCH_FIXTURES=all cargo test --release --locked -p testkit --test queries --test switches -- --nocapture
	@COLT=$(abspath $(COLT)) KILLS=100 cargo test --release --locked -p testkit --test killed -- --nocapture
	@COLT=$(abspath $(COLT)) PARTITION_FIXTURES=all cargo test --release --locked -p testkit --test partition -- --nocapture
	@COLT=$(abspath $(COLT)) COLT_GRAMMARS=300 cargo test --release --locked -p testkit --test grammar --test simplecalc -- --nocapture
	@COLT=$(abspath $(COLT)) COLT_LENGTHS=1000 cargo test --release --locked -p testkit --test lengths -- --nocapture
	@COLT=$(abspath $(COLT)) LASSO_LOOPS=2000 cargo test --release --locked -p testkit --test lassos -- --nocapture
	@COLT=$(abspath $(COLT)) COLT_SHAPES_PROGRAMS=500 cargo test --release --locked -p testkit --test shapes -- --nocapture
	@COLT=$(abspath $(COLT)) UNWRITTEN=1000 cargo test --release --locked -p testkit --test unwritten -- --nocapture
	@PARTITION_COUNT=5000 RWSET_COUNT=20000 cargo test --release --locked -p techniques --test partition --test rwset -- --nocapture
	@COLT=$(abspath $(COLT)) LAZY_COUNT=5000 cargo test --release --locked -p testkit --test lazy -- --nocapture
	@FLOAT_PAIRS=1000000 cargo test --release --locked -p term --test processor -- --nocapture

bench: build
	@COLT=$(abspath $(COLT)) cargo run --release --locked -q -p testkit --bin bench -- $(BENCH)
	@for more in scripts/bench.d/*; do printf '\n%s\n' "$$(basename "$$more")"; "$$more" $(abspath $(COLT)); done

examples: build
	@scripts/examples $(abspath $(COLT))

real: build
	@scripts/real $(abspath $(COLT))
