# Native stacks of samples and waits: of programs without frame pointers, each stack is the known one, or a part of it with a mark.
. "$SRC/tests/lib.sh"
G=$B/gtcollect prog=$B/unit/stacks_prog host=$B/host
if ! "$G" --doctor | grep -q '^ok *samples '; then
	skip unwind "the kernel refuses perf events"
	exit
fi

# record NAME EVENTS COMMAND...: the rows with stacks are then in NAME.rows
record() {
	rn=$1 re=$2; shift 2
	want "$rn" 0 "$G" -q -f -e "$re" -o "$rn.zst" -- "$@"
	"$prog" "$rn.zst" host >"$rn.rows"
}
# stacks NAME FRAME...: of the samples of work() in NAME.rows, how many have exactly these callers, innermost first, how many a part
# of them and then a mark, and how many others. A FRAME is a pattern; ~PATTERN: any number of such frames.
stacks() {
	awk -F ' [|] ' 'BEGIN { n = ARGC - 2; for (i = 1; i <= n; i++) { e[i] = ARGV[i + 1]; ARGV[i + 1] = "" } }
		{
			for (i = 2; i <= NF && $i != "work"; i++);
			if (i > NF) next
			for (k = 1; k <= n && ++i <= NF;) {
				if (e[k] ~ /^~/) { if ($i ~ ("^(" substr(e[k], 2) ")$")) continue; k++; i--; continue }
				if ($i !~ ("^" e[k] "$")) break
				k++
			}
			if (k > n) equal++
			else if ($i == "[native frames unknown]" && i == NF) part++
			else wrong++
		}
		END { print equal + 0, part + 0, wrong + 0 }' "$@"
}
# whole NAME FRAME...: all are exactly these, and there are many
whole() {
	wn=$1; shift
	s=$(stacks "$wn.rows" "$@")
	is "$wn-stacks-are-the-known-ones" "0 0" "${s#* }"
	check "$wn-many" test "${s%% *}" -ge 20
}
libc='~.*qsort.*|msort.*|libc.*'

record nest samples "$host/unwind" nest
whole nest align_first work_aligned compare "$libc" enter_second enter_first nest main

record stripped samples "$host/unwind_stripped" nest
whole stripped align_first work_aligned compare "$libc" enter_second enter_first nest main
record signal samples "$host/unwind" signal
whole signal handle '~__restore_rt|__kernel_rt_sigreturn|.*kill.*|raise|gsignal|libc.*' interrupted main

# ---- a frame that is larger than what a sample has of the stack ----
record deep samples "$host/unwind" deep
is deep-is-a-part "0 0" "$(stacks deep.rows align_first work_aligned compare "$libc" enter_second enter_first nest main | awk '{ print $1, $3 }')"
check deep-has-the-inner-frames grep -q 'enter_second | enter_first | \[native frames unknown\]$' deep.rows

# ---- compiled code without call frame information ----
record compiled samples "$host/unwind" compiled
whole compiled '.*0x.*' '\[native frames unknown\]' compiled main

# ---- the vDSO, which has no file ----
record clock samples "$host/unwind" clock
is clock-functions-have-names 0 "$(grep -c 'vdso.*+0x' clock.rows)"
n=$(grep -c '| __\(vdso\|kernel\)_clock_gettime |' clock.rows)
check clock-is-read-there test "$n" -ge 20
is clock-stacks-are-whole "$n" "$(grep -c '| __\(vdso\|kernel\)_clock_gettime | \([^|]*clock_gettime[^|]* | \)*read_clock | main |' clock.rows)"

# ---- a library that is unloaded below a stack, and another one at its place ----
record unloaded samples "$host/unwind" unload "$host/libunwind3.so"
whole unloaded align_first below
record replaced samples "$host/unwind" unload "$host/libunwind3.so" "$host/libunwind4.so"
s=$(stacks replaced.rows align_first below)
is replaced-none-is-wrong 0 "${s##* }"
check replaced-has-whole-ones test "${s%% *}" -ge 5

# ---- a wait of 400 ms: gtcollect looks at it ----
record wait samples,sched "$host/unwind" wait
is wait-has-its-stack 1 "$(grep -c '^[0-9]* pipe read | [^|]*read | wait_for_byte | compare |.*| enter_second | wait_inner | wait_outer | wait_in_read | main | ' wait.rows)"
