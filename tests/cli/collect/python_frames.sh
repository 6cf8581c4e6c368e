# The frames of Python programs as the guest reads them, compared with Python's own, by each python3 of this machine
# (in PATH, and those of pyenv). tests/unit/collect/guest/python_stacks.py has the kinds of code.
. "$SRC/tests/lib.sh"
library=$B/guest/fake/libpythonstacks.so

for p in $(printf '%s\n' "$PATH" | tr : '\n' | sed 's,$,/python3,') "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
	"$p" -c 'import sys, ctypes; sys.version_info >= (3, 9) and print(sys.version.split()[0], sys.executable)' 2>/dev/null
done | sort -u >pythons
[ -s pythons ] || { skip python3 "no python3 with ctypes, of version 3.9 or later"; exit 0; }

while read -r version python; do
	status=0
	"$python" "$SRC/tests/unit/collect/guest/python_stacks.py" "$library" >out 2>err </dev/null || status=$?
	sed -n "s/^\(ok\|skip\|FAIL\) /&$version-/p" out
	is "$version-ends-well" "0 " "$status $(tail -n 1 err | cut -c 1-300)"
	check "$version-compares-thousands" test "$(sed -n 's/^\([0-9]*\) stacks.*/\1/p' out)" -gt 3000
	check "$version-until-the-end" grep -q '^ok interpreter_is_finalized' out
done <pythons
