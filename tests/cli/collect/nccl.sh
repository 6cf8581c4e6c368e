# NCCL collectives in recordings: communicator and message size come from the payloads of NCCL's ranges. Kernels are matched by order
# within a communicator, also when they do not overlap in time. Without payloads kernels are matched by
# time.
. "$SRC/tests/lib.sh"
C=$B/gtcollect A=$B/gtanalyze X=$B/gtexport prog=$B/guest/fake/nccl
on_sim() { LD_LIBRARY_PATH=$B/sim "$@"; }
names() { "$A" --format csv collectives "$1" 2>/dev/null | tr -d '\r' | sed -n '/^# collectives_names/,$p' | sed '1d;/^$/d'; }
# value FILE COMMUNICATOR STREAM COLUMN: the value for each rank, in the order of the processes
value() { names "$1" | awk -F, -v c="$2" -v s="$3" -v column="$4" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["communicator"] == c && $at["stream"] == s { print $at["pid"], $at[column] }' | sort -n | cut -d' ' -f 2 | paste -sd ' '; }
at_least() { [ "$1" -ge "$2" ]; }

want record 0 on_sim "$C" -q -f -e api,gpu,nvtx -o t.zst -- "$prog"
"$X" --jsonl -f -o all t.zst 2>/dev/null
is range-has-both 40 "$(grep '"phase":"B","name":"ncclAllReduce"' all | grep -c '"communicator":"0xabcdef0123456789","message_bytes":1048576')"
is kernel-has-both 40 "$(grep '"phase":"B","name":"ncclDevKernel.*"kind":"gpu"' all | grep -c '"communicator":"0x1122334455667788","message_bytes":4096')"
first=0xabcdef0123456789 second=0x1122334455667788
is all-are-matched '22 22' "$(value t.zst $first 1 matched)"
is all-of-second-are-matched '22 22' "$(value t.zst $second 2 matched)"
# 20 messages of 1 MiB, and a group of 4 calls of 1000 bytes that launches two kernels
is bytes '20975520 20975520' "$(value t.zst $first 1 message_bytes)"
# 20 messages of 4 KiB, and a graph that launches one of 3000 bytes twice
is bytes-of-second '87920 87920' "$(value t.zst $second 2 message_bytes)"
is mean '3996 3996' "$(value t.zst $second 2 message_mean_bytes)"
check late-rank-of-second at_least "$(value t.zst $second 2 last | cut -d' ' -f 1)" 20
check late-rank-of-first at_least "$(value t.zst $first 1 last | cut -d' ' -f 2)" 20

# an exported Chrome trace has the same values, and gt reads it back
"$X" --chrome -f -o t.json t.zst 2>/dev/null
names t.zst | sort >before
names t.json | sort >after
same export-and-import before after

want record-unknown 0 on_sim "$C" -q -f -e api,gpu,nvtx -o u.zst -- "$prog" unknown
is unknown-has-no-communicator 0 "$("$X" --jsonl -f -o - u.zst 2>/dev/null | grep -c communicator)"
is unknown-is-a-range 90 "$("$X" --jsonl -f -o - u.zst 2>/dev/null | grep -c '"phase":"B","name":"ncclAllReduce"')"
is unknown-is-compared-by-time '' "$(names u.zst | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["stream"] == 2 && $at["matched"] + 0 { print }')"
