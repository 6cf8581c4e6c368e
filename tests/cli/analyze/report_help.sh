# REPORT --help prints the question that a report answers, its options, tables, columns and states. Its keys are those in the table of
# keys in the manual.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze

want kernels 0 "$A" kernels --help
check kernels-usage stdout_has "Usage: gtanalyze [options] kernels FILE..."
check kernels-question stdout_has "$("$A" --list --format csv | tr -d '\r"' | sed -n 's/^kernels,no,//p')"
check kernels-options stdout_has "      --spark "
check kernels-table stdout_has "Kernels on the GPU, by total time"
check kernels-duration grep -Eq '^  total_ns +Total +ns; in text with a unit$' want.out
check kernels-not-in-text grep -Eq '^  joined +- +number$' want.out
check kernels-percent grep -Eq '^  occupancy_percent +Occupancy % +percent$' want.out
tr -s " \n" " " <want.out >words
check kernels-unanswered grep -qF "cannot answer 4: data is missing, or the options leave it out; for example: what GPUs did was not recorded (gtcollect -e gpu)" words
check kernels-finds-nothing stdout_lacks "  found "
check kernels-example stdout_has "  gtanalyze kernels --format json trace.zst"
check kernels-is-not-all stdout_lacks "--per-rank"
want advice 0 "$A" --help advice
check advice-finds grep -Eq '^  found +3$' want.out
check advice-option stdout_has "      --gap TIME "
check advice-example stdout_has "  gtanalyze advice --gap TIME trace.zst"
want overlap 0 "$A" overlap -h
tr -s " \n" " " <want.out >words
check overlap-match grep -qF "cannot answer 4: data is missing, or --match or --exclude leave out operations" words
# several reports print their help one after the other; no report prints the program's help
want two 0 "$A" kernels copies --help
is two-usages 2 "$(grep -c '^Usage:' want.out)"
want none 0 "$A" --help
check none-is-the-programs stdout_has "gtanalyze REPORT --help explains a report."
want not-a-report 0 "$A" trace.zst --help
check not-a-report-is-the-programs stdout_has "Usage: gtanalyze [options] [REPORT...] FILE..."
want diff 0 "$A" diff --help
check diff-is-the-programs stdout_has "gtanalyze [options] diff [REPORT...] A B"
want diff-report 0 "$A" diff kernels --help
check diff-report-is-the-reports stdout_has "Usage: gtanalyze [options] kernels FILE..."
want misspelt 2 "$A" kernel --help
check misspelt-hint grep -q "did you mean 'kernels'?" want.err
want wrong-option 2 "$A" kernels --help --nonsense
[ ! -w /dev/full ] || { "$A" kernels --help >/dev/full 2>full.err; is full-disk 1 $?; }

# Compares the help of every report with the table of keys in the manual, which omits rows of several reports and of special options.
keys() { awk -v table="$1" '/^  \(in csv and json: / { on = $0 == "  (in csv and json: " table ")"; next } on && /^  Key / { next } on && /^$/ { on = 0 } on { printf "%s%s", s, $1; s = " " }' want.out; }
awk -F '|' '/^\| report \| table \| keys \|/ { on = 1; next } on && /^\|---/ { next } on && !/^\|/ { exit }
	on { for (i = 2; i < 5; i++) gsub(/^ +| +$/, "", $i); if ($2 == "") $2 = last; last = $2; if (($2 $3) !~ /[ ,`]/ && $4 !~ /,/) print $2, $3, $4 }' "$SRC/docs/gtanalyze.1.md" >manual
for report in $("$A" --list --format csv | sed 1d | cut -d , -f 1); do
	want "help-$report" 0 "$A" "$report" --help
	check "help-$report-has-a-table" stdout_has "  (in csv and json: "
	sed -n "s/^$report //p" manual >tables
	while read -r table list; do
		is "keys-$report-$table" "$list" "$(keys "$table")"
	done <tables
done
