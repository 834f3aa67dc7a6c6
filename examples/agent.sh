#!/bin/sh
# A shell script that takes part: it joins, works under a lease, tells the reviewer, and leaves.
set -eu

joined=$(mufakat agents join nightly --role builder --json)
MUFAKAT_TOKEN=$(printf '%s' "$joined" | sed -n 's/.*"token": "\([^"]*\)".*/\1/p')
export MUFAKAT_TOKEN
trap 'mufakat agents leave >/dev/null' EXIT

mufakat state working --detail "building"
mufakat guard -r task:nightly-build --ttl 60s -- sh -c 'echo built > build.log'
mufakat send role:reviewer --intent request -m "The nightly build is done: build.log"
mufakat state idle
