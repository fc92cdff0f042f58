# What differs from one run of a script to the next: times, rates, ratios of times, dates, drawn values, ids of the
# machine, and rows of charts that show times. A figure in a column keeps the column's width, so that what stands out of
# line is seen. Other work that runs beside a test is none of its business.

# Blots what matches, where no letter follows.
function blot(what, rest, out, before, blanks, hit) {
    out = ""
    rest = $0
    while (match(rest, what)) {
        before = substr(rest, 1, RSTART - 1)
        hit = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        if (rest ~ /^[A-Za-z0-9]/) {
            out = out before hit
            continue
        }
        for (blanks = 0; before ~ / $/; blanks++)
            before = substr(before, 1, length(before) - 1)
        if (blanks > 1)
            out = out before "  " substr(hashes, 1, blanks - 2 + length(hit))
        else
            out = out before (blanks ? " #" : "#")
    }
    $0 = out rest
}

BEGIN {
    hashes = "########################################################"
    day = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
}

/^ portwright  / { zone = "" }
/reference time over target time/ { zone = "speed"; print; next }
/^ Timeline/ { zone = "timeline"; print; next }
/when in the run/ { zone = "nodes" }
zone == "speed" && ($0 ~ day || /^ [A-Z]/ || /\? help/) { zone = "" }
zone == "timeline" && (/ target  /) { zone = "" }
zone == "nodes" && /^ [A-Z]/ { zone = "" }
zone == "speed" { print "   #"; next }
zone == "timeline" && !/wrong/ { print "   #"; next }
{
    if (zone == "nodes")
        gsub(/ *(█|▒|░|▁|▂|▃|▄|▅|▆|▇)+/, " #")
    gsub(/; other work ran beside it/, "")
    gsub(/[0-9.]+ a second/, "# a second")
    gsub(/verify: [0-9]+ of/, "verify: # of")
    gsub(/verify ended: [0-9]+ of/, "verify ended: # of")
    gsub(/cancelled after [0-9]+ of/, "cancelled after # of")
    gsub(/over target [0-9.]+ x, between [0-9.]+ and [0-9.]+/, "over target #")
    gsub(/got -?[0-9][-+.e0-9]*/, "got #")
    gsub(/golden -?[0-9][-+.e0-9]*/, "golden #")
    gsub(/error -?[0-9][-+.e0-9]*/, "error #")
    gsub(/[0-9]\.[0-9]+e[-+][0-9][0-9]/, "#######")
    gsub(day "[ T][0-9][0-9:]*(Z|…)?", "#")
    gsub(/Speed \([0-9]+ slices/, "Speed (# slices")
    blot("[0-9.]+ (ns|us|ms|s)")
    blot("[0-9.]+ [kMGT]?(FLOP|B)/s")
    blot("[0-9.]+x")
    gsub(/##+ # [a-z ]*…/, "# …") # a time and a ratio that are cut: how much of them is seen depends on the time's digits
    gsub(/ +▐$/, " ▐") # what stands before it may have become shorter
    print
}
