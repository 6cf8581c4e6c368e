# gtanalyze writes to a pager on a terminal, like git: the choice of the pager, its environment, and that the output is unchanged.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze F=$SRC/samples/recorded/h200-train.zst
unset COLUMNS GT_PAGER PAGER LESS
export TERM=xterm
tty() { script -qec "stty cols 80 rows 24; $*; echo status \$?" /dev/null </dev/null 2>&1 | tr -d '\r'; }
if ! command -v script >/dev/null || [ "$(tty true)" != "status 0" ]; then
	skip pager "no script(1) that gives a terminal"
	exit 0
fi
mark='sed s/^/P:/'
paged() { grep -c '^P:' "$1" | sed 's/^[1-9].*/yes/;s/^0$/no/'; }
export GT_PAGER="$mark" PAGER='sed s/^/Q:/'
tty "'$A' --no-pager advice '$F'" >direct; is no-pager no "$(paged direct)"
tty "'$A' advice '$F'" >out; sed 's/^P://' out >same; same all-of-it direct same
is all-through-it "$(wc -l <direct)" "$(($(grep -c '^P:' out) + 1))"
is status-is-kept "status 3" "$(tail -n 1 out)"
check colours-stay grep -q "$(printf '\033')\\[1m" out
for what in "kernels --help" --help --explain --list; do
	tty "'$A' $what" >out; is "pages-$what" yes "$(paged out)"
	tty "'$A' --no-pager $what" >direct; sed 's/^P://' out >same; same "pages-all-$what" direct same
done
for what in "-o report.txt gpu '$F'" "gpu '$F' | cat" "gpu '$F' >file.txt" --version; do
	tty "'$A' $what" >out; is "pages-not: $what" no "$(paged out)"
done
is the-width-is-the-terminals '' "$(tty "'$A' gpu '$F'" | sed "s/^P://;s/$(printf '\033')\\[[0-9]*m//g" | awk 'length > 80')"

# gtcollect --report does not wait for a pager.
tty "LD_LIBRARY_PATH='$B/sim' '$B/gtcollect' --report -o r.zst '$B/samples/spin_calls' -n 10" >out
is pages-not-after-recording no "$(paged out)"
check prints-after-recording grep -q 'in 1 process' out

# ---- choice of the pager ----
unset GT_PAGER; tty "'$A' gpu '$F'" >out; is PAGER 0 "$(grep -vc '^Q:\|^status' out)"
for none in '' cat; do export GT_PAGER="$none"; tty "'$A' gpu '$F'" >out; is "none-$none" 0 "$(grep -c '^[PQ]:' out)"; done
export GT_PAGER="$mark"; tty "TERM=dumb '$A' gpu '$F'" >out; is dumb-terminal no "$(paged out)"
for missing in no-such-pager "no-such-pager -x" /no/such/pager; do
	export GT_PAGER="$missing"; tty "'$A' --color never gpu '$F'" >out
	check "missing-$missing" grep -q '^GPU$' out
	is "missing-$missing-status" "status 0" "$(tail -n 1 out)"
done
export GT_PAGER='echo "LESS is $LESS"; cat >/dev/null'
tty "'$A' gpu '$F'" >out; check LESS-has-a-default grep -qx 'LESS is FRX' out
tty "LESS=S '$A' gpu '$F'" >out; check LESS-of-the-user grep -qx 'LESS is S' out

# ---- the user quits the pager ----
export GT_PAGER='head -n 2'
for report in cuda_api_trace "advice cuda_api_trace" --explain; do
	case $report in --explain) file= ;; *) file="'$F'" ;; esac
	tty "'$A' $report $file" >out
	is "quit-$report-lines" 3 "$(wc -l <out | tr -d ' ')"
	case $report in advice*) want=3 ;; *) want=0 ;; esac
	is "quit-$report-status" "status $want" "$(tail -n 1 out)"
done
# the exit status of a failure is the same with a pager
export GT_PAGER="$mark"; tty "'$A' gpu no-such-file.zst" >out
check failure-has-a-message grep -q 'no-such-file.zst: cannot open' out
is failure-status "status 1" "$(tail -n 1 out)"
