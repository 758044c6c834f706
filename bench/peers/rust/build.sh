#!/bin/sh
# Builds the kube-rs player: build.sh OUTPUT. Nothing is written into this folder: cargo's target
# folder is CARGO_TARGET_DIR, or one in the cache folder.
set -eu
output=$(realpath -m "${1:?usage: build.sh OUTPUT}")
cd "$(dirname "$0")"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/listwatch/bench/rust}"
PLAYER_RUSTC=$(rustc --version | cut -d' ' -f2) cargo build --release --locked ${CARGO_BUILD_ARGS:-}
mkdir -p "$(dirname "$output")"
cp "$CARGO_TARGET_DIR/release/kube-rs-player" "$output"
