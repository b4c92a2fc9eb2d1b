# The two commands: `make demo` does the main job, `make test` runs every test. Both install what they need.

# rustup puts cargo here without telling a shell that is open already.
export PATH := $(HOME)/.cargo/bin:$(PATH)

RAIDLAB = target/x86_64-unknown-linux-gnu/release/raidlab
DEMO = results/first-look

# How long `make fuzz` tries each parser.
SECONDS ?= 60

.PHONY: demo test fuzz soak bench studies controls reproducible suites stacks scale kill-test safety deb deb-test lint docs docs-check build compiler clean

demo: build
	$(RAIDLAB) doctor --install
	@mkdir -p results && rm -f $(DEMO).db $(DEMO).db-*
	$(RAIDLAB) run studies/first-look.toml --store $(DEMO).db
	$(RAIDLAB) report --store $(DEMO).db -o $(DEMO).html
	@echo "The report: $(CURDIR)/$(DEMO).html"

test: compiler
	scripts/test

# Parsers and misbehaving guests, for longer than `make test` does.
fuzz: compiler
	RAIDLAB_FUZZ_SECONDS=$(SECONDS) cargo test --locked -p xtask parsers -- --nocapture
	cargo test --locked -p lab --test misbehaving_guests

# Random stacks, work and power cuts, for so many minutes.
MINUTES ?= 60
soak: build
	$(RAIDLAB) doctor --install
	$(RAIDLAB) soak --minutes $(MINUTES)

bench: build
	$(RAIDLAB) doctor --install
	scripts/bench

# Are known defects found that are put back into Linux? A kernel of each is built first.
controls: build
	scripts/controls

# Are kernel and init equal to the bit from two folders?
reproducible: compiler
	scripts/reproducible

# Tests that others wrote, in guests: mdadm's own, stress-ng's of filesystems, xfstests (RAIDLAB_XFSTESTS).
suites: build
	$(RAIDLAB) doctor --install
	scripts/suites

# The five published benchmarks, as studies: their tables next to what was published, under results/.
studies: build
	$(RAIDLAB) doctor --install --all
	scripts/studies

# Every stack that can be, each with files written, read back cold and compared: docs/stacks.md.
stacks: build
	$(RAIDLAB) doctor --install --all
	$(RAIDLAB) kernel build 6.12+more
	$(RAIDLAB) kernel build 6.12+zfs || true
	RAIDLAB_ALL_STACKS=1 cargo test --locked -p raidlab --test lab -- every_stack --show-output

# Stores of 100,000 cells: merged, shown, reported and exported in a minute each and 1 GiB of memory.
scale: compiler
	TMPDIR=/dev/shm RAIDLAB_SCALE=100000 cargo test --release --locked -p raidlab --test cli -- many_cells --show-output

# On loop devices, as root: raidlab, its trials and tools killed at 200 random moments, and `clean` as well, leave nothing
# and lose nothing.
kill-test: compiler
	RAIDLAB_KILLS=200 cargo test --locked -p raidlab --test cli -- root_loop_killed --show-output

# In a guest: 5,000 random arrangements of disks, of which no byte changes that must not; and stacks of device mapper, LVM,
# ZFS and bcachefs on a guest as the host.
safety: build
	$(RAIDLAB) kernel build 6.12+more
	RAIDLAB_SAFETY=1 cargo test --locked -p raidlab --test cli -- host_in_guest --show-output
	RAIDLAB_SAFETY=1 RAIDLAB_ARRANGEMENTS=5000 cargo test --locked -p raidlab --test cli -- lab_judgement --show-output

# Debian packages of the last commit, in results/deb: the program, the lab's kernel, and the source of that kernel.
deb: compiler
	scripts/deb

# As root: installs them in clean roots of Debian 12 and 13, runs a study there, and removes them again.
deb-test:
	scripts/test-deb

lint: compiler
	cargo fmt --all --check
	@# The registry's macro declares these modules, where cargo fmt does not look.
	rustfmt --check --edition 2024 crates/filesystems/src/*.rs
	cargo clippy --workspace --all-targets -- -D warnings
	scripts/typos

# That the sources keep their rules (lengths, words, who uses whom), and that the reference pages are up to date.
docs-check: compiler
	cargo test --locked --quiet -p xtask

# Reference pages that are generated from the code's own tables.
docs: compiler
	cargo run --quiet -p xtask -- study > docs/study.md
	cargo run --quiet -p xtask -- stacks > docs/stacks.md
	cargo run --quiet -p xtask -- disks > docs/disks.md

build: compiler
	cargo build --release --locked -p raidlab

compiler:
	@scripts/compiler

clean:
	cargo clean
	rm -rf results
