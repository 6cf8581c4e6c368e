#!/bin/bash
# Counts the calls of every function that libcuda exports, with one uprobe each: a count that is
# independent of gt and includes calls however they were resolved (also the driver's calls of its
# own exported functions). Needs root and tracefs. To be sourced:
#   uprobes_start LIBCUDA     takes half a minute with a real driver
#   uprobes_count OUT         "COUNT NAME[=ALIAS...]" lines since the last time
#   uprobes_stop
UT=/sys/kernel/tracing

uprobes_start() {
	[ -e $UT/uprobe_events ] || mount -t tracefs nodev $UT || return 1
	UW=$(mktemp -d)
	# file offset of each function: its address minus the difference of address and offset of
	# its segment
	readelf -lW "$1" | awk '$1 == "LOAD" { print $2, $3, $5 }' >"$UW/segments"
	readelf --dyn-syms -W "$1" | awk '$4 == "FUNC" && $7 != "UND" && $8 ~ /^cu[A-Z]/ { sub(/@.*/, "", $8); print $2, $8 }' | sort -u >"$UW/symbols"
	python3 - "$UW" <<'P'
import sys
work = sys.argv[1]
segments = [[int(x, 16) for x in l.split()] for l in open(work + "/segments")]
at = {}
for line in open(work + "/symbols"):
    address, name = line.split()
    address = int(address, 16)
    for offset, start, size in segments:
        if start <= address < start + size:
            at.setdefault(address - start + offset, []).append(name)
with open(work + "/probes", "w") as f:
    for k, names in sorted(at.items()):
        f.write(f"p{k:x} {k:#x} {'='.join(sorted(names))}\n")
P
	real=$(readlink -f "$1")
	awk -v lib="$real" '{ print "p:gtcount/" $1, lib ":" $2 }' "$UW/probes" >"$UW/events"
	cat "$UW/events" >>$UT/uprobe_events || return 1
	echo 0 >$UT/tracing_on
	echo 1 >$UT/events/gtcount/enable || return 1
	cat $UT/uprobe_profile >"$UW/before"
}

uprobes_count() {
	cat $UT/uprobe_profile >"$UW/now"
	awk 'FILENAME ~ /probes$/ { names[$1] = $3; next } FILENAME ~ /before$/ { was[$2] = $3; next }
		($2 in names) && $3 > was[$2] { print $3 - was[$2], names[$2] }' "$UW/probes" "$UW/before" "$UW/now" | sort -k2 >"$1"
	mv "$UW/now" "$UW/before"
}

uprobes_stop() {
	echo 0 >$UT/events/gtcount/enable
	echo >$UT/uprobe_events
	rm -rf "$UW"
}
