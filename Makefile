# Thin on purpose: find or install a toolchain, then let cargo work.
# `setup` exits 4 when something is missing that only the reader can install;
# make shows that as "Error 4" and exits 2 itself, as it does for any failure.

# Either would silently replace the static build of .cargo/config.toml.
unexport RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET

PREFIX  ?= /usr/local
DESTDIR ?=
SECONDS_OF_FUZZING ?= 30

# A recipe's cargo: the one that setup finds, or no cargo at all.
CARGO = toolchain=$$(./setup) && PATH="$$toolchain:$$PATH" cargo
# With what tests compare with and boot guests with; where that cannot be had they skip and say so.
TESTING = toolchain=$$(./setup --tools || ./setup) && PATH="$$toolchain:$$PATH" cargo

.PHONY: build demo test validate install setup setup-tools clean

build:
	@$(CARGO) build --release --locked --package schedlab

demo: build
	@$(CARGO) run --release --locked --package schedlab -- run suites/first-look.toml

test:
	@$(TESTING) test --workspace --locked
	@$(CARGO) xtask fuzz --seconds $(SECONDS_OF_FUZZING)

validate:
	@$(CARGO) xtask validate

install:
	@$(CARGO) xtask install --prefix "$(PREFIX)" --destdir "$(DESTDIR)"

setup:
	@./setup

setup-tools:
	@./setup --tools

clean:
	@$(CARGO) clean
