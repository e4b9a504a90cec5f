#!/bin/sh
# Kernels that Nsight Compute profiled, simulated from SASS, source page and hit rates, beside its counters.
# Usage: tests/warp_table.sh WAVETAIL NAME FOLDER… [NAME FOLDER…]…; a folder (with a slash in it) has kernels.txt, metrics.csv (or
# .zst) and what they name. What stands behind each NAME (fit, test, …) is summed up apart. HITS=no leaves the hit rates out.
wavetail=$1
shift

simulate() {
    metrics="$folder/metrics.csv"
    [ -e "$metrics" ] || metrics="$metrics.zst"
    hits="--ncu-metrics $metrics"
    [ "$HITS" = no ] && hits=
    grep -v '^#' "$folder/kernels.txt" | while read -r name function source sass grid block registers static dynamic; do
        echo "kernel $name"
        # shellcheck disable=SC2086
        "$wavetail" run --sass "$folder/$sass" --kernel "$function" --ncu-source "$folder/$source" $hits --grid "$grid" \
            --block "$block" --regs "$registers" --smem "$static" --dynamic-smem "$dynamic" --gpu h200 --quiet --json \
            --compare "$metrics"
    done
}

for folder; do
    case $folder in
    */*) echo "folder $folder" && simulate ;;
    *) echo "set $folder" ;;
    esac
done | awk '
    function error(name) { return measured[name] ? simulated[name] / measured[name] - 1 : 0 }
    function magnitude(x) { return x < 0 ? -x : x }
    function spread(list, count,   i, j, t) {
        for (i = 2; i <= count; i++)
            for (j = i; j > 1 && list[j] < list[j - 1]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
        return sprintf("%.1f %% and %.1f %%", 100 * (list[int((count + 1) / 2)] + list[int(count / 2) + 1]) / 2, 100 * list[count])
    }
    # The counters are printed with two digits; the stalls, which add up to the active warps of an issue, tell more.
    function sharpen(   key, sum) {
        for (key in measured) if (key ~ /issue_stalled/) sum += measured[key]
        if (!sum) return
        measured["smsp__issue_active.avg.per_cycle_active"] = measured["smsp__warps_active.avg.per_cycle_active"] / sum
        measured["smsp__warps_eligible.avg.per_cycle_active"] = measured["smsp__issue_active.avg.per_cycle_active"] * \
            (measured[per_issue("selected")] + measured[per_issue("not_selected")])
    }
    function per_issue(state) { return "smsp__average_warps_issue_stalled_" state "_per_issue_active.ratio" }
    function finish(   key, cycles, most, of, with) {
        if (kernel == "") return
        sharpen()
        most = ""; of = ""
        for (key in measured) if (key ~ /issue_stalled/ && key !~ /selected/) {
            if (most == "" || measured[key] > measured[most]) most = key
            if (of == "" || simulated[key] > simulated[of]) of = key
        }
        rows++
        c[rows] = magnitude(error("sm__cycles_elapsed.avg")); a[rows] = magnitude(error("smsp__warps_active.avg.per_cycle_active"))
        i[rows] = magnitude(error("smsp__issue_active.avg.per_cycle_active"))
        e[rows] = magnitude(error("smsp__warps_eligible.avg.per_cycle_active"))
        s[rows] = magnitude(error(most)); same += most == of
        split(most, with, "stalled_"); sub(/_per_issue.*/, "", with[2])
        printf "%-20s %+8.1f %% %+8.1f %% %+8.1f %% %+8.1f %%   %-20s %s %8.2f %8.2f\n", kernel, 100 * error("sm__cycles_elapsed.avg"),
            100 * error("smsp__warps_active.avg.per_cycle_active"), 100 * error("smsp__issue_active.avg.per_cycle_active"),
            100 * error("smsp__warps_eligible.avg.per_cycle_active"), with[2], most == of ? "same " : "other",
            simulated[most], measured[most]
        fflush()
        kernel = ""
    }
    function sum_up() {
        finish()
        if (!rows) return
        printf "%s, %d launches; median and worst error: cycles %s, active warps %s, issued %s, eligible %s\n", set, rows,
            spread(c, rows), spread(a, rows), spread(i, rows), spread(e, rows)
        printf "%s: largest stall the same in %d of %d; its size off by %s\n\n", set, same, rows, spread(s, rows)
        rows = same = 0
    }
    BEGIN { set = "all" }
    /^set / { sum_up(); set = $2; next }
    /^folder / { finish(); printf "%s (%s)\n%-20s %10s %10s %10s %10s   %-20s %5s %8s %8s\n", $2, set, "kernel", "cycles", "active",
                     "issued", "eligible", "largest stall", "", "ours", "measured"; next }
    /^kernel / { finish(); kernel = $2; split("", measured); split("", simulated); inside = 0; next }
    /"measured": \{/ { inside = 1 }
    /^  }/ { inside = 0 }
    match($0, /"[^"]*": [-0-9]/) { name = $1; gsub(/[":]/, "", name); value = $2; sub(/,/, "", value)
        if (inside) measured[name] = value + 0; else simulated[name] = value + 0 }
    END { sum_up() }'
