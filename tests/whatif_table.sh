#!/bin/sh
# What `wavetail whatif` predicts against what was measured (traces/h200/whatif): block sizes from the 256-thread trace alone,
# residencies from two traces; of blocks with very unequal work, block sizes from the 256-thread trace alone (those whose threads share
# their block's work: larger ones), where the measured launch, lucky or not, is the trace's own: 1 is its makespan. Ranges were
# chosen on ten of the kernels; the share of the others is told as well.
# usage: whatif_table.sh WAVETAIL FOLDER
wavetail=$1 folder=$2

# kernel, sizes|residencies, option, list, traces...
predict() {
    kernel=$1 what=$2 option=$3 list=$4
    shift 4
    "$wavetail" whatif --json "$option" "$list" "$@" | tr -d ' ",' | awk -F: -v kernel="$kernel" -v what="$what" '
        $1 == "makespan_measured" { base = $2 }
        $1 == "block" { block = $2 } $1 == "smem" { smem = $2 } $1 == "makespan" { predicted = $2 / base }
        $1 == "makespan_low" { low = $2 / base }
        $1 == "makespan_high" { print what, kernel, block, smem, predicted, low, $2 / base, base }'
}

rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
kernels=$(sed 1d "$folder/truth.csv" | cut -d, -f1 | uniq)
for kernel in $kernels; do
    sizes=$(awk -F, -v k="$kernel" '$1 == k && $2 != 256 { print $2 }' "$folder/truth.csv" | paste -sd,)
    shared=$(awk -F, -v k="$kernel" '$1 == k && $3 > 0 && ($3 < 90000 || $3 > 150000) { print $3 }' "$folder/truth.csv" | paste -sd,)
    trace=$folder/${kernel}_b256.csv.zst second=$folder/${kernel}_ds113000.csv.zst
    [ -n "$sizes" ] && predict "$kernel" sizes --block "$sizes" "$trace"
    [ -n "$shared" ] && [ -f "$second" ] && predict "$kernel" residencies --smem "$shared" "$trace" "$second"
done >"$rows"
for trace in "$folder"/unequal_*.csv.zst; do
    kernel=$(basename "$trace" .csv.zst | sed s/unequal_//)
    case $kernel in
        *_s*) predict "$kernel" unequal --block 320,384,512,640,768,1024 --work block "$trace" ;;
        *) predict "$kernel" unequal --block 64,96,128,160,192,320,384,512,640,768,1024 "$trace" ;;
    esac
done >>"$rows"
awk -v truth="$folder/truth.csv" -v unequal="$folder/unequal.csv" '
    function abs(x) { return x < 0 ? -x : x }
    function sort(v, n,   i, j, x) {
        for (i = 2; i <= n; i++) { x = v[i]; for (j = i - 1; j > 0 && v[j] > x; j--) v[j + 1] = v[j]; v[j + 1] = x }
    }
    function summary(name, what, odd,   i, n, m, in_range, held_out, e, u) {
        n = m = in_range = held_out = 0
        for (i = 1; i <= rows; i++) if (kind[i] == what && (!odd || 1024 % size[i])) {
            n++; e[n] = error[i]; u[n] = unchanged[i]; in_range += inside[i]
            if (!chosen[kernel[i]]) { m++; held_out += inside[i] }
        }
        sort(e, n); sort(u, n)
        printf "%-40s %4d points: error median %.2f %%, 90th percentile %.1f %%, worst %.1f %%; no change %.2f, %.1f, %.1f %%; " \
               "in range %.0f %% (%.0f %% of the kernels not used)\n",
            name, n, e[int((n + 1) / 2)], e[int(.9 * n + .5)], e[n], u[int((n + 1) / 2)], u[int(.9 * n + .5)], u[n],
            100 * in_range / n, 100 * held_out / m
    }
    BEGIN {
        clock_ghz = 1.98
        split("fma1 fma4 chase bar conflict4 atomic diverge r64 r128 matmul16", names, " ")
        for (i in names) chosen[names[i]] = 1
        while ((getline line < truth) > 0) { split(line, f, ","); span[f[1], f[2], f[3]] = f[4] }
        getline line < unequal
        split(line, size, ",")
        while ((getline line < unequal) > 0) { n = split(line, f, ","); for (i = 3; i <= n; i++) span[f[1], size[i], 0] = f[i] }
        printf "%-12s %-14s %5s %7s %9s %9s %17s\n", "what", "kernel", "block", "smem", "predicted", "measured", "range"
    }
    {
        measured = span[$2, $3, $4] / ($1 == "unequal" ? $8 / clock_ghz : span[$2, 256, 0])
        rows++; kind[rows] = $1; size[rows] = $3; kernel[rows] = $2
        error[rows] = 100 * abs($5 / measured - 1); unchanged[rows] = 100 * abs(1 / measured - 1)
        inside[rows] = measured >= $6 && measured <= $7
        printf "%-12s %-14s %5d %7d %9.3f %9.3f %8.3f %8.3f%s\n", $1, $2, $3, $4, $5, measured, $6, $7, inside[rows] ? "" : "  outside"
    }
    END {
        summary("block sizes from one trace", "sizes", 0)
        summary("of them, 96, 160, 192, 320 ... 768", "sizes", 1)
        summary("residencies from two traces", "residencies", 0)
        summary("unequal work: block sizes from one trace", "unequal", 0)
    }' "$rows"
