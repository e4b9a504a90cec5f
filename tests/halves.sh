#!/bin/sh
# Cross-check: the H200's traces in two halves, by experiment; a config is calibrated on each and predicts the other.
# Usage: tests/halves.sh WAVETAIL. Prints the errors of each half with the other's config and with the shipped one: of blocks that last,
# and of blocks that end while the distributor is still busy.
set -e
wavetail=$(realpath "$1")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Every other experiment, all repetitions of one on the same side; calibration takes only kernels that share nothing.
half() {
    ls traces/h200/fit/*.zst traces/h200/test/short/*.zst traces/h200/test/long/*.zst |
        awk -v want="$1" '{ name = $0; sub(/.*\//, "", name); sub(/\.r[0-9].*/, "", name)
                            if (name != last) { side = 1 - side; last = name }
                            if (side == want) print }'
}

short='/(empty_|spin[0-9]{3}_|spin1[05]00_)'

errors() {
    printf '%s, blocks that last\n' "$1"
    $wavetail validate --quiet --gpu "$2" $(half "$3" | grep -vE "$short") | grep -E '^(makespan error|start error|first-wave)'
    printf '%s, short blocks\n' "$1"
    $wavetail validate --quiet --gpu "$2" $(half "$3" | grep -E "$short") | grep -E '^(makespan error|start error)'
}

for side in 0 1; do
    $wavetail calibrate --quiet --base _h200-base -o "$work/$side.cfg" $(half $side) >"$work/$side.log"
    grep -h 'kept from the base' "$work/$side.log" || true
done
for side in 0 1; do
    errors "half $side by the config of half $((1 - side))" "$work/$((1 - side)).cfg" $side
    errors "half $side by the shipped config" configs/gpus/h200.cfg $side
done
