# `make demo` runs a first study, `make test` runs the tests. Both install what they need.

# rustup installs cargo here; a shell that is already open does not have it in its PATH.
export PATH := $(HOME)/.cargo/bin:$(PATH)

RAIDLAB = target/x86_64-unknown-linux-gnu/release/raidlab
DEMO = results/first-look

# How long `make fuzz` runs each parser.
SECONDS ?= 60

.PHONY: demo test test-all fuzz soak bench studies controls reproducible suites stacks scale kill-test safety deb deb-test lint docs docs-check calibration build compiler clean

demo: build
	$(RAIDLAB) doctor --install
	@mkdir -p results && rm -f $(DEMO).db $(DEMO).db-*
	$(RAIDLAB) run studies/first-look.toml --store $(DEMO).db
	$(RAIDLAB) report --store $(DEMO).db -o $(DEMO).html
	@echo "The report: $(CURDIR)/$(DEMO).html"

test: compiler
	scripts/test

# Every test, also those that take long and repeat what others show once.
test-all: compiler
	scripts/test --all

# Parsers and misbehaving guests, for longer than `make test` does.
fuzz: compiler
	RAIDLAB_FUZZ_SECONDS=$(SECONDS) cargo test --locked -p xtask parsers -- --nocapture
	cargo test --locked -p lab --test misbehaving_guests

# Random stacks, work and power cuts, for MINUTES.
MINUTES ?= 60
soak: build
	$(RAIDLAB) doctor --install
	$(RAIDLAB) soak --minutes $(MINUTES)

bench: build
	$(RAIDLAB) doctor --install
	scripts/bench

# Checks that raidlab finds known defects which are put back into Linux. Builds a kernel with each of them first.
controls: build
	scripts/controls

# Checks that kernel and init are identical when they are built in two folders.
reproducible: compiler
	scripts/reproducible

# Test suites of other projects, in guests: those of mdadm and stress-ng, and xfstests (RAIDLAB_XFSTESTS).
suites: build
	$(RAIDLAB) doctor --install
	scripts/suites

# The five published benchmarks, as studies: published and simulated tables side by side, in results/.
studies: build
	$(RAIDLAB) doctor --install --all
	scripts/studies

# Writes files on every supported stack, reads them back with cold caches and compares them: docs/stacks.md.
stacks: build
	$(RAIDLAB) doctor --install --all
	$(RAIDLAB) kernel build 6.12+more
	$(RAIDLAB) kernel build 6.12+zfs || true
	RAIDLAB_ALL_STACKS=1 cargo test --locked -p raidlab --test lab -- every_stack --show-output

# Merges, shows, reports and exports stores of 100,000 cells, each within a minute of processor time and 1 GiB of memory.
scale: compiler
	TMPDIR=/dev/shm RAIDLAB_SCALE=100000 cargo test --release --locked -p raidlab --test cli -- many_cells --show-output

# On loop devices, as root: kills raidlab, its trials, its tools and `clean` at 200 random moments, and checks that nothing
# is left behind or lost.
kill-test: compiler
	RAIDLAB_KILLS=200 cargo test --locked -p raidlab --test cli -- root_loop_killed --show-output

# In a guest: checks that raidlab overwrites no byte that it must not, in 5,000 random arrangements of disks. Also stacks
# with device mapper, LVM, ZFS and bcachefs, with a guest as the host.
safety: build
	$(RAIDLAB) kernel build 6.12+more
	cargo test --locked -p raidlab --test cli -- host_in_guest --include-ignored --show-output
	RAIDLAB_ARRANGEMENTS=5000 cargo test --locked -p raidlab --test cli -- lab_judgement --show-output

# Debian packages of the last commit, in results/deb: the program, the lab's kernel, and the source of that kernel.
deb: compiler
	scripts/deb

# As root: installs the packages in clean roots of Debian 12 and 13, runs a study there, and removes them.
deb-test:
	scripts/test-deb

lint: compiler
	cargo fmt --all --check
	@# A macro declares these modules, so cargo fmt does not find them.
	rustfmt --check --edition 2024 crates/filesystems/src/*.rs
	cargo clippy --workspace --all-targets -- -D warnings
	scripts/typos

# Checks the rules for sources (lengths, words, dependencies between crates), and that the reference pages are up to date.
docs-check: compiler
	cargo test --locked --quiet -p xtask

# Reference pages that are generated from the code's own tables.
docs: compiler
	cargo run --quiet -p xtask -- study > docs/study.md
	cargo run --quiet -p xtask -- stacks > docs/stacks.md
	cargo run --quiet -p xtask -- disks > docs/disks.md
	cargo run --quiet -p xtask -- disk-fit > data/disk-fit.toml

# How often the intervals of drawn disk models cover published figures: minutes.
calibration: compiler
	cargo run --quiet --release -p xtask -- calibration

build: compiler
	cargo build --release --locked -p raidlab

compiler:
	@scripts/compiler

clean:
	cargo clean
	rm -rf results
