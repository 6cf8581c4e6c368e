# The runner counts rightly: a test that fails, dies, hangs, or says nothing must not look like a good one.
. "$SRC/tests/lib.sh"

mkdir -p src/tests/cli/a src/tests/fuzz b/unit
cp "$SRC/tests/run" "$SRC/tests/lib.sh" "$SRC/tests/long-first" src/tests/
echo 'cli/skips:known*	# a reason' >src/tests/may-skip

# says NAME LAST STATUS [ENV...]: the runner over src/tests/cli ends with LAST and exits with STATUS
says() {
	name=$1 last=$2 status=$3; shift 3
	env -u CI -u SAN -u ASAN_OPTIONS -u UBSAN_OPTIONS "$@" sh src/tests/run b >out 2>&1
	got=$?
	if [ "$(tail -n 1 out)" = "$last" ] && [ $got -eq "$status" ]; then ok "$name"
	else fail "$name" "status $got, '$(tail -n 1 out)' and not '$last'"; fi
}
test_is() { rm -f src/tests/cli/a/*; printf '%s\n' "$2" >"src/tests/cli/a/$1.sh"; }

test_is good 'echo "ok a"; echo "ok b"; echo chatter'
says counts-passes '2 passed, 0 failed, 0 skipped' 0 A=1
test_is bad 'echo "ok a"; echo "FAIL b: because"'
says counts-failures '1 passed, 1 failed, 0 skipped' 1 A=1
check shows-why grep -q '^FAIL cli/bad: b: because$' out
test_is dies 'echo "ok a"; exit 3'
says a-bad-exit-fails '1 passed, 1 failed, 0 skipped' 1 A=1
test_is killed 'echo "ok a"; kill -SEGV $$'
says a-crash-fails '1 passed, 1 failed, 0 skipped' 1 A=1
test_is verdict 'echo "ok a"; { echo "x.c:1: runtime error: boom"; echo "#0 main"; echo "#1 start"; } >&2; exit 99'
says a-sanitizers-exit-fails '1 passed, 1 failed, 0 skipped' 1 A=1
check shows-the-verdict grep -q 'exit status 99: x.c:1: runtime error: boom' out
test_is hangs 'echo "ok a"; sleep 100'
says a-hang-fails '1 passed, 1 failed, 0 skipped' 1 TEST_SECONDS=10
test_is silent 'echo nothing to say'
says silence-fails '0 passed, 1 failed, 0 skipped' 1 A=1
test_is skips 'echo "ok a"; echo "skip known-1: no such thing here"; echo "skip other: neither"'
says skips-are-counted '1 passed, 0 failed, 2 skipped' 0 A=1
says ci-fails-unlisted-skips '1 passed, 1 failed, 1 skipped' 1 CI=1
test_is report 'echo "ok a"; echo "x.c:1: runtime error: boom" >"${ASAN_OPTIONS##*log_path=}.1"'
says a-sanitizer-report-fails '1 passed, 1 failed, 0 skipped' 1 SAN=address
test_is ordinary 'mkdir "$SRC/running"; sleep 1; rmdir "$SRC/running"; echo "ok ordinary"'
for name in one two; do
	printf '# serial\n%s\n' 'mkdir "$SRC/running" && echo "ok alone" && sleep 0.1; rmdir "$SRC/running"' >src/tests/cli/a/$name.sh
done
says serial-tests-run-alone '3 passed, 0 failed, 0 skipped' 0 JOBS=3
rm -f src/tests/cli/a/*
says no-tests-is-no-success '0 passed, 0 failed, 0 skipped' 1 A=1

# What CI runs adds all three runs up, and a run that does not end in the line of figures is a failure.
mkdir -p ci/.ci fake && cp "$SRC/.ci/run" ci/.ci/
ci() {	# ci NAME LAST STATUS MAKE: make is played by the script MAKE
	printf '#!/bin/sh\n%s\n' "$4" >fake/make; chmod +x fake/make
	env -u SAN PATH="$PWD/fake:$PATH" ci/.ci/run >out 2>&1
	got=$?
	if [ "$(tail -n 1 out)" = "$2" ] && [ $got -eq "$3" ]; then ok "$1"; else fail "$1" "status $got, '$(tail -n 1 out)' and not '$2'"; fi
}
ci ci-adds-up '11 passed, 0 failed, 1 skipped' 0 'if [ "$SAN" ]; then echo "3 passed, 0 failed, 1 skipped"; else echo "4 passed, 0 failed, 0 skipped"; fi'
ci ci-fails-when-one-fails '12 passed, 1 failed, 0 skipped' 1 '[ "$SAN" ] || { echo "4 passed, 0 failed, 0 skipped"; exit 0; }; echo "4 passed, 1 failed, 0 skipped"; echo "make: Error 1"; exit 2'
ci ci-counts-a-broken-build '8 passed, 1 failed, 0 skipped' 1 '[ "$SAN" ] || { echo "4 passed, 0 failed, 0 skipped"; exit 0; }; echo "error: no"; exit 2'
ci ci-asks-for-strictness '3 passed, 0 failed, 0 skipped' 0 'echo "$1 $2 CI=$CI" >>made; echo "1 passed, 0 failed, 0 skipped"'
check ci-is-strict sh -c '[ "$(sort -u ci/made | tr "\n" ,)" = "check WERROR=1 CI=1,check-consumers WERROR=1 CI=1,setup lint CI=1," ]'
ci ci-counts-a-failed-lint '3 passed, 1 failed, 0 skipped' 1 '[ "$2" != lint ] || exit 1; echo "1 passed, 0 failed, 0 skipped"'
