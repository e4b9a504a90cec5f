#!/bin/sh
# Usage: optimisation.sh WAVETAIL WAVETAIL: do two builds of the command give the same bytes?
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for workload in "$root"/tests/data/every-distribution.cfg "$root"/configs/workloads/small-kernels.cfg; do
    name=$(basename "$workload" .cfg)
    for build in "$1" "$2"; do
        "$build" run "$workload" --quiet --json --blocks "$scratch/blocks" >"$scratch/json"
        cat "$scratch/json" "$scratch/blocks" >>"$scratch/$name.$([ "$build" = "$1" ] && echo first || echo second)"
    done
    if ! cmp "$scratch/$name.first" "$scratch/$name.second"; then
        echo "$workload: $1 and $2 differ" >&2
        exit 1
    fi
    echo "$name: the same $(wc -c <"$scratch/$name.first") bytes from $1 and $2"
done
