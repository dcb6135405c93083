# Thin on purpose: find or install a toolchain, then let cargo work.
# `setup` exits 4 when something is missing that only the reader can install;
# make shows that as "Error 4" and exits 2 itself, as it does for any failure.

# Either would silently replace the static build of .cargo/config.toml.
unexport RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET

PREFIX  ?= /usr/local
DESTDIR ?=

# What a recipe runs in: the cargo that setup finds, or no cargo at all, and node for the page of
# reports. Without node a build goes on, and its reports have no figures.
PAGE    = page=$$(./setup --page)
CARGO   = toolchain=$$(./setup) && PATH="$$toolchain:$$PATH" cargo
# With what tests compare with and boot guests with; where that cannot be had they skip and say so.
TESTING = $(PAGE); toolchain=$$(./setup --tools || ./setup) && PATH="$${page:+$$page:}$$toolchain:$$PATH" cargo

.PHONY: build demo quick test nightly install setup setup-tools clean

build:
	@$(PAGE); PATH="$${page:+$$page:}$$PATH" node web/build.mjs || echo "make: going on without the page; reports will have no figures" >&2
	@$(CARGO) build --release --locked

demo: build
	@$(CARGO) run --release --locked --package schedlab -- run suites/first-look.toml

# What is tested, when, and how long it takes: docs/tests.md.
quick:
	@$(TESTING) xtask quick

test:
	@$(TESTING) xtask test

nightly:
	@./setup --night || echo "make: going on; without a compiler of C++ guided fuzzing fails, without cargo-mutants no mutant is tried" >&2
	@$(TESTING) xtask nightly

install:
	@$(CARGO) xtask install --prefix "$(PREFIX)" --destdir "$(DESTDIR)"

setup:
	@./setup

setup-tools:
	@./setup --tools

clean:
	@$(CARGO) clean
