# Native stacks of calls are gdb's: of 200 random launches in a program and 200 in Python, through functions with and without frame
# pointers of C and C++, each equals gdb's stack at the same launch, or is its inner part with a mark. Simulated GPU.
. "$SRC/tests/lib.sh"
fake=$B/guest/fake here=$SRC/tests/unit/collect/guest
[ -z "$SAN" ] || { skip sanitized "the guest library is never sanitized: the plain run of this test does it"; exit 0; }
gdb -batch -nx -ex 'python print(1)' 2>/dev/null | grep -q 1 || { skip gdb "there is no gdb with Python"; exit 0; }
[ -e "$fake/libunwindcalls.so" ] || { skip c++ "there is no compiler of C++"; exit 0; }
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# compare FILE: the launches of FILE with those of gdb.stacks. Prints how many stacks are equal, how many an inner part with a mark,
# and how many others; the first of these are in `wrong`.
compare() {
	PLACES=1 "$B/unit/stacks_prog" "$1" | awk -F ' [|] ' '
		FNR == NR { n[$1] = NF; for (i = 2; i <= NF; i++) want[$1, i] = $i; next }
		{
			if (split($1, head, " ") != 2 || head[2] != "cuLaunchKernel") next
			key = head[1] " " ++calls[head[1]]
			if (!(key in n)) next
			for (i = 2; i <= n[key] && i <= NF && same(want[key, i], $i); i++);
			if (i > n[key] && (i > NF || want[key, n[key]] == "interpreter")) equal++
			else if ($i == "[native frames unknown]" && (i == NF || $(i + 1) ~ /:[0-9]+\)$/)) part++
			else { wrong++; print key ": frame " i - 1 ": " want[key, i] ", not " $i >"wrong" }
		}
		# what gdb has, MODULE+OFFSET ADDRESS, and what the recording has: one of both, or a frame of Python
		function same(a, b,  both) {
			split(a, both, " ")
			return a == "interpreter" ? b ~ /:[0-9]+\)$/ : b == both[1] || b == both[2]
		}
		END { print equal + 0, part + 0, wrong + 0 }' gdb.stacks -
}

# stops NAME COMMAND...
stops() {
	sn=$1; shift
	: >wrong
	want "$sn" 0 env STOPS=200 "$B/gtcollect" -q -e api -o "$sn.zst" -- \
		gdb -batch -nx -x "$here/launch_stacks_gdb.py" --args "$@" 600 "$fake/libunwindcalls.so" "$fake/libunwindcalls-fp.so"
	s=$(compare "$sn.zst")
	echo "$sn: equal, an inner part, wrong: $s"
	is "$sn-stops" 200 "$(($(echo "$s" | tr ' ' '+')))"
	is "$sn-none-is-wrong" '' "$(head -n 3 wrong)"
	check "$sn-most-are-equal" test "${s%% *}" -ge 100
}
stops program "$fake/launch_depths"
python=$(command -v /usr/bin/python3 || command -v python3 || :)
if [ -n "$python" ]; then
	stops python "$python" "$here/launch_depths.py"
else
	skip python "there is no python3"
fi
