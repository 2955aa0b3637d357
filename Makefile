# make demo    build, and compare the servers that this machine can run (first page in about four minutes)
# make board   the site of the first board, in target/board
# make tour    what one load on one server reports
# make test    install what the tests need, then format check, lints, all tests, a fuzz smoke
# make check   format check, lints, and the unit tests of each room that has changed since they passed; nothing is installed
# make install PREFIX=/usr/local   the program, its manual pages, and completions for bash, zsh and fish
# make uninstall PREFIX=/usr/local
# make nats    dyno-nats, with which agents meet at a NATS broker; make install-nats PREFIX=/usr/local
# make deb      a package for Debian, by cargo-deb; make deb-test installs it in an empty Debian, and runs it (as root)
# make trouble run servers with planted faults, and say which of the faults were found
# make torture kills, signals, damaged stores, mutated files, faulty servers and full disks by chance, for TORTURE_MINUTES (10);
#              stores of other programs (TORTURE_STORES, 2,000), gates that are killed (five times TORTURE_GATES, 10) and gates
#              that begin together; dynos in other namespaces (TORTURE_CONTAINERS, 20 of each kind); and builds that are killed
#              (TORTURE_BUILDS, 100)
# make worlds  a coordinator and its agents in 10,000 simulated worlds (WORLDS) that lose, hold back and repeat what they
#              say, and end any of them at any time
# make searches  2,000 searches (SEARCHES) for the capacity of each of three simulated servers that is known by formula
# make capacity-truth  real searches (HUNTS of each of LAWS) for capacities of dyno's own server that theory knows; what
#              HUNT_FILE has counts, so that they may be collected in several sittings
# make clocks  a thousand meetings (MEETINGS) with a host whose clock is ahead, over ways that are slower in one direction
# make gate-truth  the bounds of `dyno gate`, and how often its rule is wrong over simulated pairs: the figures of
#              results/error-rates.md
# make gate-aa  real gates of equal code (GATES), of a head that is slower (KIND=ab5, ab10) and beside another program (spun);
#              what GATE_FILE has counts, so that they may be collected in several sittings
# make difference-truth  how often races, runs and comparisons of simulated servers name a difference: the figures of
#              results/differences.txt
# make trend-truth  what `dyno trend` says of simulated histories of each kind: the figures of
#              results/error-rates.md
# make public-truth  a thousand public files in which a byte, a number or a trial was changed: how many are found
# make why-truth  profiles of 150 processes whose functions cost what is known, in ten minutes: how often intervals hold the
#              truth, pairs of equals claim anything, and 1 µs more is named
# make readme-output  valid outputs for README and docs/start.md, recorded on this machine
# make subjects  every handler of every server that runs here under a short load of each of its workloads
# make bench   the figures of results/bench.md and README, against the load generators that are installed
# make bench-peers   the same, installing those that can be had first

SHELL := /bin/bash
# What is compiled for the tests is linted on the way: `cargo clippy` would compile all of it once more.
CARGO_TEST := cargo --config 'build.rustc-workspace-wrapper="./.ci/lint"' test
# Its programs fuzz until they are stopped; `fuzz/run` compiles them otherwise.
NO_FUZZ := --exclude dyno-fuzz
CARGO_TARGET_DIR ?= target
export CARGO_TARGET_DIR
PROFILE := release
DYNO = $(CARGO_TARGET_DIR)/$(PROFILE)/dyno
FUZZ_SECONDS ?= 3

.PHONY: all build nats check check-lints install install-nats uninstall deb deb-test demo board tour trouble torture worlds searches capacity-truth clocks gate-truth gate-aa difference-truth trend-truth public-truth why-truth readme-output subjects test test-build formats carriers-build fuzz-build test-whole test-real test-rooms test-parts test-carriers bench bench-peers fuzz needs clean

all: build

build:
	cargo build --profile $(PROFILE) --locked --package dyno-http

# A workspace of its own, with what NATS needs.
CARRIER = --manifest-path carriers/nats/Cargo.toml
nats:
	cargo build --release --locked $(CARRIER)

demo: PROFILE := demo
demo: build
	@$(DYNO) run demo || test $$? -eq 2

board: build
	@$(DYNO) publish board -o $(CARGO_TARGET_DIR)/board

tour: build
	@./tour $(DYNO)

trouble: build
	@./crates/dyno/tests/it/trouble/run $(DYNO) $(CARGO_TARGET_DIR)/trouble

# TORTURE_SEED=N and TORTURE_CASE=N, as it printed them, do one case again.
# One after the other: what SQLite may allocate is bounded for a whole process, and damaged stores use it up.
torture:
	$(CARGO_TEST) --locked --quiet --package dyno-http --test it -- --ignored --exact --nocapture --test-threads 1 torture::torture torture::stores_and_gates torture::containers
	TORTURE_BUILDS=$${TORTURE_BUILDS:-100} $(CARGO_TEST) --locked --quiet --package dyno-lab --test it -- a_build_that_was_killed

WORLDS ?= 10000
worlds:
	DYNO_POST_SEEDS=$(WORLDS) $(CARGO_TEST) --locked --quiet --package dyno-post --lib tests::

SEARCHES ?= 2000
searches:
	DYNO_SEARCHES=$(SEARCHES) $(CARGO_TEST) --locked --quiet --package dyno-analysis --lib -- --nocapture search::tests::the_bracket

HUNTS ?= 10
LAWS ?= mm1 md1
HUNT_FILE ?= $(CARGO_TARGET_DIR)/capacities.jsonl
capacity-truth: build
	@./crates/dyno/tests/it/capacity_truth/run $(DYNO) $(HUNT_FILE) $(HUNTS) $(LAWS)

MEETINGS ?= 1000
clocks: build
	DYNO_PROGRAM=$(abspath $(DYNO)) DYNO_MEETINGS=$(MEETINGS) \
	  $(CARGO_TEST) --locked --quiet --package dyno-http --test it -- --nocapture clocks::

gate-truth:
	cargo run --release --locked --quiet --package dyno-analysis --example gate_truth

GATES ?= 40
KIND ?= aa
GATE_FILE ?= $(CARGO_TARGET_DIR)/gates.jsonl
gate-aa: build
	@./crates/dyno/tests/it/gate_truth/run $(DYNO) $(GATE_FILE) $(KIND) $(GATES)

difference-truth:
	cargo run --release --locked --quiet --package dyno-report --example difference_truth

why-truth:
	$(CARGO_TEST) --locked --quiet --package dyno-http --test it -- --ignored --nocapture --test-threads 1 why_truth::campaign

# MINUTES=N: how long it may take in all; ONLY=NAME: those outputs whose name has it.
readme-output: build
	DYNO_PROGRAM=$(abspath $(DYNO)) $(CARGO_TEST) --package dyno-http --test it --locked --quiet -- --ignored readme_output::record

# CHANGES=N: how many changes of each kind.
CHANGES ?= 1000
public-truth:
	DYNO_PUBLIC_CHANGES=$(CHANGES) $(CARGO_TEST) --locked --quiet --package dyno-public --test it campaigns -- --nocapture --test-threads 1
	DYNO_PUBLIC_CHANGES=$(CHANGES) $(CARGO_TEST) --locked --quiet --package dyno-http --test it public_hostile

trend-truth:
	cargo run --release --locked --quiet --package dyno-analysis --example trend_truth

# A room that is tested together with this one, which has no library, has the features of the whole workspace, and is not
# built once more with others.
WITH_ALL_FEATURES := --package dyno-http

# A room is tested anew when a file of it has changed since it last passed. Its tests are linted as they are compiled; of all
# other rooms what is no test is linted here, because what they use may have changed.
CHECKED = $(CARGO_TARGET_DIR)/checked
check: check-lints $(patsubst crates/%,$(CHECKED)/%,$(wildcard crates/*))

check-lints:
	cargo fmt --all --check
	cargo fmt $(CARRIER) --check
	cargo clippy --workspace $(NO_FUZZ) --locked --quiet

.SECONDEXPANSION:
$(CHECKED)/%: $$(shell find crates/$$* -type f) Cargo.lock | check-lints
	$(CARGO_TEST) $(if $(wildcard crates/$*/src/lib.rs),--package dyno-$* --lib,--bins) $(WITH_ALL_FEATURES) --locked --quiet
	@mkdir -p $(@D) && touch $@

PREFIX ?= /usr/local
PROGRAM = $(DESTDIR)$(PREFIX)/bin/dyno
SHARE = $(DESTDIR)$(PREFIX)/share
PAGES = $(SHARE)/man/man1
FOR_BASH = $(SHARE)/bash-completion/completions
FOR_ZSH = $(SHARE)/zsh/site-functions
FOR_FISH = $(SHARE)/fish/vendor_completions.d

# The program itself makes the pages and the completions, from its flags.
install: build
	install -D -m 755 $(DYNO) $(PROGRAM)
	install -d $(PAGES) $(FOR_BASH) $(FOR_ZSH) $(FOR_FISH)
	umask 022 && $(DYNO) man --to $(PAGES)
	umask 022 && $(DYNO) completions bash >$(FOR_BASH)/dyno
	umask 022 && $(DYNO) completions zsh >$(FOR_ZSH)/_dyno
	umask 022 && $(DYNO) completions fish >$(FOR_FISH)/dyno.fish

install-nats: nats
	install -D -m 755 $(CARGO_TARGET_DIR)/release/dyno-nats $(PROGRAM)-nats

uninstall:
	rm -f $(PROGRAM) $(PROGRAM)-nats $(PAGES)/dyno.1 $(PAGES)/dyno-*.1 $(FOR_BASH)/dyno $(FOR_ZSH)/_dyno $(FOR_FISH)/dyno.fish

# A package for Debian, in target/debian; needs cargo-deb (cargo install --locked cargo-deb).
DEB_STAGE = $(CARGO_TARGET_DIR)/release/deb
deb: build
	rm -rf $(DEB_STAGE)
	@$(MAKE) --no-print-directory install install-nats DESTDIR=$(DEB_STAGE) PREFIX=/usr
	gzip -9n $(DEB_STAGE)/usr/share/man/man1/*.1
	cargo deb --no-build --package dyno-http

# Installs the package in an empty Debian, and runs it there. As root.
deb-test: deb
	@./packaging/deb-test $(CARGO_TARGET_DIR)/debian/dyno-http_*.deb

needs:
	@./.ci/needs

# Tests that measure time are repeated on a busy machine; each repetition is a line of this file. Two busy loops beside the
# tests cause 13 of them; many more are a fault.
export DYNO_TEST_RETRIES = $(abspath $(CARGO_TARGET_DIR))/retries
RETRIES_MAX := 30

# Packages are fetched while the compiler works; and tests of whole programs wait for most of their time, so that many run
# at once.
test:
	@cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
	+@$(MAKE) --no-print-directory --jobs --output-sync=target test-build formats carriers-build fuzz-build
	@rm -f $(DYNO_TEST_RETRIES)
	+@status=0; $(MAKE) --no-print-directory --jobs --output-sync=target test-whole test-real test-rooms test-parts test-carriers fuzz || status=$$?; \
	  ./.ci/retries $(DYNO_TEST_RETRIES) $(RETRIES_MAX) || status=$$?; exit $$status

test-build:
	$(CARGO_TEST) --workspace $(NO_FUZZ) --locked --quiet --no-run

formats: needs
	cargo fmt --all --check

carriers-build: needs
	cargo fmt $(CARRIER) --check
	$(CARGO_TEST) $(CARRIER) --locked --quiet --no-run

fuzz-build: needs
	@./fuzz/run

# Where `python3` is a version manager's script, which starts ten programs, tests call what it would start.
WITH_PYTHON = PATH="$$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))' || echo /usr/bin):$$PATH"

test-whole:
	$(WITH_PYTHON) $(CARGO_TEST) --package dyno-http --test it --locked --quiet -- --skip real:: --test-threads $$((4 * $$(nproc)))

# The real servers, one after the other.
test-real:
	$(WITH_PYTHON) $(CARGO_TEST) --package dyno-http --test it --locked --quiet -- real::

# Those with planted faults wait longest.
test-rooms:
	$(CARGO_TEST) --workspace --exclude dyno-http $(NO_FUZZ) --test it --locked --quiet -- --test-threads $$((2 * $$(nproc)))

test-parts:
	$(CARGO_TEST) --workspace $(NO_FUZZ) --lib --bins --test tidy --test sockets --locked --quiet
	$(CARGO_TEST) --package dyno-oracle --package dyno-report --doc $(WITH_ALL_FEATURES) --locked --quiet # no other has examples

test-carriers:
	$(CARGO_TEST) $(CARRIER) --locked --quiet

fuzz:
	@./fuzz/run agent_message $(FUZZ_SECONDS)
	@./fuzz/run h1_response $(FUZZ_SECONDS)
	@./fuzz/run h2_response $(FUZZ_SECONDS)
	@./fuzz/run held $(FUZZ_SECONDS)
	@./fuzz/run lab_files $(FUZZ_SECONDS)

subjects: build
	$(DYNO) run handlers

bench: build
	cargo run --release --locked --quiet --package bench -- --dyno $(DYNO) --readme README.md $(BENCH)

bench-peers: build
	cargo run --release --locked --quiet --package bench -- --dyno $(DYNO) --readme README.md --install $(BENCH)

clean:
	cargo clean
