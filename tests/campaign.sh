#!/bin/sh
# tests/campaign.sh BUILD [KILLS [CORRUPTIONS [SEED]]]: sends SIGKILL to recorded programs, to
# gtcollect and to both at random moments until KILLS (1000) kills were effective, then has recorded
# programs overwrite their rings in CORRUPTIONS (300) runs. Each trace is compared with the calls
# that the program counted itself. CI does not run it: it takes minutes.
#
# A kill is effective when its victim was alive and not yet at its end: the program had not printed
# its result, or gtcollect had not closed the file. Five of six kills hit the counting program of
# tests/campaign/, the others a sample, of which only the trace, the exit status and the leftovers
# are checked. Each run has a folder of its own, in which gtcollect then records a second program.
# JOBS (2) runs go on at a time.
#
# The same SEED makes the same plan; the moment of a kill is as exact as the machine is. The exit
# status is 1 when a check failed; the folders of the failed runs are kept then, each with the
# command, all outputs, the trace (first.out) and the truth file.
set -u
SRC=$(cd "$(dirname "$0")/.." && pwd)

# ---- plans: one line a run ----

# kill_plan FROM TO: number, victim, microseconds, pick, program and arguments|gtcollect's options
kill_plan() {
	awk -v seed="$SEED" -v from="$1" -v to="$2" '
	function dice(n) { x = (x * 16807) % 2147483647; return int(x / 2147483647 * n) }
	function one(list,  n, word) { n = split(list, word, "|"); return word[1 + dice(n)] }
	function counting(ms, victim) {
		return "program -d " ms " -t " 1 + dice(6) " -p " (victim == "child") + dice(3) \
			" -c " dice(2) " -f " one("0|0|50000|100000") " -s " dice(10000)
	}
	BEGIN {
		samples = "train -n 3000|graph_replay -n 3000|multiproc -p 4 -n 3000|forkexec|" \
			"many_threads -t 16 -n 20000|churn -t 100 -p 50|through_runtime -n 300|" \
			"overlap -n 2000|spin_calls -n 1000000|hang -t 1"
		events = "api,ioctl|api,ioctl,gpu,nvtx|api,ioctl,gpu,nvtx|api,gpu,runtime,nvml"
		rings = "|| --lossless| --lossless --ring-memory 4M| --args all"
		victims = "program|child|recorder|recorder|recorder+program|program+recorder"
		for (i = from; i <= to; i++) {
			x = (seed * 7919 + i * 104729) % 2147483646 + 1
			for (k = 0; k < 5; k++)
				dice(1)
			victim = one(victims)
			ms = 60 + dice(victim == "recorder" && !dice(3) ? 2400 : 900)
			us = dice(4) ? dice(i % 6 ? ms * 1050 : 200000) : dice(40000)
			pick = dice(1000)
			options = "-e " one(events) one(rings) one("|| --wait all")
			program = i % 6 ? counting(ms, victim) : one(samples)
			print i, victim, us, pick, program "|" options
		}
	}'
}

# corruption_plan RUNS: number, which words, seed, gtcollect's options
corruption_plan() {
	awk -v seed="$SEED" -v runs="$1" 'BEGIN {
		n = split("ring ring chunk record record open process session any", where)
		for (i = 1; i <= runs; i++)
			print i, where[i % n + 1], seed * 1000 + i,
				i % 5 ? "" : "--lossless --ring-memory 4M"
	}'
}

# ---- one run ----

begin_run() {	# begin_run NUMBER: a folder of its own, and one for sessions
	mkdir -p "$WORK/$1/s" && cd "$WORK/$1" || exit 1
	export TMPDIR="$WORK/$1/s"
	: >verdict
	unreadable=0 leftovers=0
}

wrong() { echo "wrong: $*" >>verdict; }

traced() {
	echo "cd $PWD; LD_LIBRARY_PATH=$LD_LIBRARY_PATH TMPDIR=$TMPDIR $*" >command
	"$@" >program.out 2>program.err
}

readable() {	# readable TRACE: gtanalyze and gtexport read all of it
	for reads in "gtanalyze $1" "gtanalyze header --format tsv $1" "gtexport --jsonl $1"; do
		timeout 60 "$B"/$reads >"${reads%% *}.out" 2>"${reads%% *}.err" && continue
		wrong "$reads ends with $?: $(tail -n 1 "${reads%% *}.err")"
		unreadable=1
	done
}

# compare PROMISE: the trace with the truth. A recorder that was killed early has no file.
compare() {
	: >gtanalyze.out; : >gtexport.out
	[ ! -s t.zst ] || readable t.zst
	"$BIN/check" truth gtanalyze.out "$1" <gtexport.out >check.out ||
		grep '^wrong' check.out >>verdict
	! grep -q ', no losses, ' program.err || ! grep -q LOST gtanalyze.err ||
		wrong "gtcollect reports no losses, gtanalyze does"
}

# nothing_left SESSIONS: only the known files, and at most SESSIONS sessions.
nothing_left() {
	left=$(ls | grep -vE '^(command|verdict|truth2?|t\.zst|[a-z0-9]*\.(out|err)|s)$')
	[ "$(ls "$TMPDIR" | wc -l)" -le "$1" ] || left="$left $(ls "$TMPDIR")"
	[ -z "$left" ] || { leftovers=1; wrong "left behind: "$left; }
}

# Records into the same file. A session folder that a killed gtcollect left is old by then.
again() {
	touch -c -d '1 hour ago' "$TMPDIR"/gt-session-* 2>/dev/null
	"$BIN/kill" truth2 none 0 0 "$B/gtcollect" -q -f -e api -o t.zst \
		"$BIN/program" truth2 -d 20 -t 2 >again.out 2>again.err
	readable t.zst
	"$BIN/check" truth2 gtanalyze.out primary <gtexport.out >check2.out ||
		wrong "in the second run: $(head -n 1 check2.out)"
	nothing_left 0
}

end_run() {	# end_run NUMBER FIGURES
	echo "$2 $(tail -n 1 check.out) $unreadable $leftovers $(grep -c . verdict)" \
		>"$WORK/result.$1"
	cd "$WORK" && { [ -s "$1/verdict" ] || rm -rf "$1"; }
}

kill_run() {	# kill_run NUMBER VICTIM MICROSECONDS PICK PROGRAM ARGUMENTS...|OPTIONS
	number=$1 victim=$2 us=$3 pick=$4; shift 4
	options=${*#*|} command=${*%|*} promise=primary
	case $options in *'--wait all'*) promise=all ;; esac
	begin_run "$number"
	case $command in
	program*) command="$BIN/program truth${command#program}" ;;
	*) command=$B/samples/$command ;;
	esac
	traced "$BIN/kill" truth "$victim" "$us" "$pick" "$B/gtcollect" $options -o t.zst $command
	compare $promise
	nothing_left 1
	[ ! -e t.zst ] || cp t.zst first.out
	again
	end_run "$number" kill
}

# When the words of all, or of other processes, are overwritten, nothing is promised to the other
# processes; a session folder may stay for the process that runs on.
corruption_run() {	# corruption_run NUMBER WHERE SEED OPTIONS...
	number=c$1 where=$2 seed=$3 threads=$((1 + $1 % 4)) processes=$(($1 % 2)); shift 3
	promise=primary stays=0 reported=0
	case $where in session | any) promise=nothing stays=1 ;; esac
	begin_run "$number"
	traced "$BIN/kill" truth none 0 0 "$B/gtcollect" "$@" -o t.zst "$BIN/corrupt" truth \
		"$where" "$seed" "$BIN/program" truth -d 150 -t $threads -p $processes
	compare $promise
	nothing_left $stays
	grep -qE 'the program overwrote ring memory| LOST' program.err && reported=1
	end_run "$number" "$where $reported"
}

# ---- all runs, and their tables ----

effective() { cat "$WORK"/result.[0-9]* 2>/dev/null | awk '{ n += $3 } END { print n + 0 }'; }

in_parallel() { tr '\n' '\0' | xargs -0 -P "$JOBS" -n 1 sh "$SRC/tests/campaign.sh" "$1"; }

kills() {	# kills N: until N were effective
	from=1
	while missing=$(($1 - $(effective))) && [ $missing -gt 0 ] && [ $from -lt $(($1 * 10)) ]; do
		kill_plan $from $((from + missing - 1)) | in_parallel --kill-run
		from=$((from + missing))
	done
}

# late ms: how long before the kill of gtcollect the file ends, at most
kills_table() {
	printf '%-17s %6s %9s %9s %10s %10s %6s %10s %9s %7s %6s\n' victim kills effective \
		'too late' calls recorded lost unreadable leftovers 'late ms' wrong
	cat "$WORK"/result.[0-9]* | awk '
	function add(v) {
		n[v]++; e[v] += $3; made[v] += $4; recorded[v] += $5; lost[v] += $6; unread[v] += $10
		left[v] += $11; bad[v] += $12 > 0
		if ($7 > late[v])
			late[v] = $7
	}
	{ add($2); add("~all") }
	END {
		for (v in n)
			printf "%-17s %6d %9d %9d %10d %10d %6d %10d %9d %7d %6d\n", v, n[v], e[v],
				n[v] - e[v], made[v], recorded[v], lost[v], unread[v], left[v],
				late[v], bad[v]
	}' | sort | tr '~' ' '
}

# calls, recorded and lost are those of the process that does not overwrite anything; silent: calls
# of the other one are missing and no loss is reported; hurt: it crashed or hung
corruptions_table() {
	printf '%-17s %5s %9s %9s %7s %8s %9s %5s %5s %11s %10s %6s\n' overwritten runs \
		unharmed reported silent calls recorded lost hurt unreadable leftovers wrong
	cat "$WORK"/result.c* | awk '
	function add(v) {
		n[v]++; reported[v] += $2; silent[v] += !$2 && $9; made[v] += $5; recorded[v] += $6
		lost[v] += $7; hurt[v] += $10; unread[v] += $11; left[v] += $12; bad[v] += $13 > 0
	}
	{ add($1); add("~all") }
	END {
		for (v in n)
			printf "%-17s %5d %9d %9d %7d %8d %9d %5d %5d %11d %10d %6d\n", v, n[v],
				n[v] - reported[v] - silent[v], reported[v], silent[v], made[v],
				recorded[v], lost[v], hurt[v], unread[v], left[v], bad[v]
	}' | sort | tr '~' ' '
}

build() {
	mkdir "$BIN"
	for p in program kill check corrupt; do
		${CC:-gcc} -std=gnu11 -Wall -O2 -g -I"$SRC" "$SRC/tests/campaign/$p.c" \
			-o "$BIN/$p" -ldl -pthread || exit 1
	done
}

case ${1:-} in
--kill-run) kill_run $2; exit ;;
--corruption-run) corruption_run $2; exit ;;
'') sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 2 ;;
esac
B=$(cd "$1" && pwd) KILLS=${2:-1000} CORRUPTIONS=${3:-300} JOBS=${JOBS:-2}
SEED=${4:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
WORK=$(TMPDIR=/tmp mktemp -d) BIN=$WORK/bin	# a short path, because a socket's path is limited
LD_LIBRARY_PATH=$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export B SEED WORK BIN LD_LIBRARY_PATH
unset XDG_RUNTIME_DIR
build
echo "seed $SEED, in $WORK"
if [ "$KILLS" -gt 0 ]; then
	kills "$KILLS"
	kills_table
fi
if [ "$CORRUPTIONS" -gt 0 ]; then
	corruption_plan "$CORRUPTIONS" | in_parallel --corruption-run
	corruptions_table
fi
if cd "$WORK" && grep -Hs . [0-9c]*/verdict >verdicts; then
	head -n 40 verdicts
	echo "the folders of the failed runs are in $WORK"
	exit 1
fi
cd / && rm -rf "$WORK"
