# gtrace: a verb runs the program in gtrace's folder with all other arguments; `gtrace run` prints the report at the end.
. "$SRC/tests/lib.sh"
G=$B/gtrace
export LD_LIBRARY_PATH="$B/sim" SIMGPU_SPEED=20

# The program's exit status, its arguments and streams, the name of the file, the report.
want run 0 "$G" run "$B/samples/train" -n 20
says run-names-the-file '^gtcollect: simulated GPU: gt-train-[0-9-]*\.zst: .*; next: gtview gt-train-'
check run-prints-the-programs-output grep -q '^20 steps' want.out
check run-prints-the-report grep -q 'calls and ioctls in 1 process' want.out
file=$(echo gt-train-*.zst)
grep -v -e '^device: ' -e '^20 steps' want.out >ran
want report 0 "$G" report "$file"
same the-report-is-the-default-one want.out ran
want options-are-passed-on 0 "$G" run -q -o t.zst -e api -- "$B/samples/train" -n 20
check quiet test ! -s want.err
check only-calls sh -c "'$G' report --format csv header t.zst | grep -q ',api,'"
want status-is-kept 7 "$G" run -q sh -c "$B/samples/train -n 5 >x; exit 7"
check the-report-of-what-failed grep -q ' in 1 process' want.out
want not-found 127 "$G" run ./absent
want nothing-recorded 0 "$G" run -o n.zst true
says nothing-recorded-gives-the-reason 'no CUDA call was seen'
check nothing-recorded-has-no-report test ! -s want.out
want ranges-only 0 "$G" run -o a.zst "$B/guest/fake/nvtx" alone
says ranges-only-counts '^gtcollect: a.zst: .*, 0 events, 4 ranges and marks, .*; next: gtview a.zst$'
says ranges-only-gives-the-reason '^gtcollect: no CUDA call was seen: '
check ranges-only-has-a-report grep -Eq '^  alone +user +3 ' want.out
want without-the-verb 0 "$B/gtcollect" -o w.zst "$B/samples/train" -n 5
check gtcollect-prints-no-report sh -c '! grep -q "calls and ioctls" want.out'

# A signal to gtrace's process reaches the program, and the report still follows.
for s in INT TERM; do
	env --default-signal=INT "$G" run -o $s.zst "$B/samples/hang" >$s.out 2>$s.err &
	pid=$!
	until_it_is 1 hung $s.zst
	kill -$s $pid
	wait $pid
	is ended-by-$s "$([ $s = INT ] && echo 130 || echo 143)" $?
	check report-after-$s grep -q 'in 1 process' $s.out
done

# A script that cannot be executed is run by Python, here by a stand-in.
cat >python <<-'end'
	#!/bin/sh
	echo "python $*"
end
chmod +x python && echo 'exit 3' >script.py
want python 0 env GT_PYTHON="$PWD/python" "$G" run script.py --epochs 3
is python-gets-the-script 'python script.py --epochs 3' "$(cat want.out)"
says python-file 'gt-script.py-.*\.zst'
chmod +x script.py
want an-executable-script-runs-itself 3 env GT_PYTHON="$PWD/python" "$G" run ./script.py
want a-script-that-is-not-there 127 env GT_PYTHON="$PWD/python" "$G" run absent.py

# The other verbs.
want export 0 "$G" export --jsonl t.zst
check export-exports grep -q '"name":"cuLaunchKernel"' want.out
if [ -x "$B/gtview" ]; then
	want view 0 "$G" view --render 80x10 t.zst
	check view-draws grep -q 'pid' want.out
fi
want version 0 "$G" --version
is version-message "$("$B/gtanalyze" --version | sed s/gtanalyze/gtrace/)" "$(cat want.out)"
want help 0 "$G" help
"$G" --help >help.txt
same help-is-help help.txt want.out
want help-of-a-verb 0 "$G" help report
check help-of-a-verb-names-the-program grep -q '^gtrace report is gtanalyze:$' want.out
check help-of-a-verb-is-the-programs grep -q '^Usage: gtanalyze' want.out
want no-verb 2 "$G"
says no-verb-prints-help '^Usage: gtrace VERB'
unknown() {	# unknown WORD MESSAGE
	want "unknown-$1" 2 "$G" $1
	says "unknown-$1-message" "^gtrace: there is no verb '$1'; $2"
	want "unknown-$1-in-help" 2 "$G" help $1
}
unknown rum "did you mean 'run'?"
unknown reprot "did you mean 'report'?"
unknown record "did you mean 'run'?"
unknown foo 'there are run, report, view, export and help'
want a-file-is-no-verb 2 "$G" t.zst
says a-file-is-no-verb-message "'t.zst' is a file, not a verb: .*gtrace report reads a trace"

# gtrace finds the programs in the folder of the file that a link points to, from any working folder. A missing program is an error.
mkdir links && ln -s "$G" links/gtrace
want through-a-link 0 env PATH="$PWD/links:$PATH" gtrace report t.zst
mkdir alone && cp "$G" "$B/gtcollect" "$B/libgtpreload.so" alone
want missing-program 125 alone/gtrace report t.zst
says missing-program-message 'alone/gtanalyze: No such file'
want missing-report 4 alone/gtrace run -o m.zst sh -c "$B/samples/train -n 5; exit 4"
says missing-report-message '^gtcollect: --report cannot run .*/gtanalyze'

# Completion offers the verbs, and after a verb the completions of its program.
complete() { bash -c 'eval "$("$1" --completion bash)"; COMP_WORDS=("${@:2}"); COMP_CWORD=$(($# - 2)); _gtrace "$1" "${@: -1}" "${@: -2:1}"; echo "${COMPREPLY[@]}"' - "$G" "$@"; }
is complete-verbs 'run report' "$(complete gtrace r)"
is complete-options --explain "$(complete gtrace report --expl)"
is complete-values 'csv' "$(complete gtrace report --format c)"
is complete-help 'export' "$(complete gtrace help e)"
want completion-fish 0 "$G" --completion fish
check completion-fish-verbs grep -q '__fish_use_subcommand -f -a run' want.out
