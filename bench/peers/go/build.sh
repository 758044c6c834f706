#!/bin/sh
# Builds the client-go player: build.sh OUTPUT. Nothing is written into this folder.
set -eu
output=$(realpath -m "${1:?usage: build.sh OUTPUT}")
cd "$(dirname "$0")"
mkdir -p "$(dirname "$output")"
GOFLAGS="${GOFLAGS:-} -buildvcs=false -modcacherw" exec go build -mod=readonly -trimpath -ldflags=-s -o "$output" .
