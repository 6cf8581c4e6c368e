# The frames of Python programs as the guest reads them, compared with Python's own, by each python3 of this machine
# (in PATH, and those of pyenv). tests/unit/collect/guest/python_stacks.py has the kinds of code.
. "$SRC/tests/lib.sh"
[ -z "$SAN" ] || { skip sanitized "the guest library is never sanitized: the plain run of this test does it"; exit 0; }
fake=$B/guest/fake

cat >describe.py <<'P'
import ctypes, sys, sysconfig
if sys.version_info >= (3, 9):
    library = "%s/%s" % (sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME"))
    print(sys.version.split()[0], sys.executable, sys.base_prefix, library)
P
for p in $(printf '%s\n' "$PATH" | tr : '\n' | sed 's,$,/python3,') "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
	"$p" describe.py 2>/dev/null
done | sort -u >pythons
[ -s pythons ] || { skip python3 "no python3 with ctypes, of version 3.9 or later"; exit 0; }

while read -r version python prefix library; do
	status=0
	"$python" "$SRC/tests/unit/collect/guest/python_stacks.py" "$fake/libpythonstacks.so" >out 2>err </dev/null || status=$?
	sed -n "s/^\(ok\|skip\|FAIL\) /&$version-/p" out
	is "$version-ends-well" "0 " "$status $(tail -n 1 err | cut -c 1-300)"
	check "$version-compares-thousands" test "$(sed -n 's/^\([0-9]*\) stacks.*/\1/p' out)" -gt 3000
	check "$version-finds-recent-stacks" test "$(sed -n 's/.* \([0-9]*\) found among recent stacks/\1/p' out)" -gt 1000
	check "$version-until-the-end" grep -q '^ok interpreter_is_finalized' out

	# an interpreter that a program loads, ends and begins again
	case $library in *.so*) ;; *) library= ;; esac
	[ -e "$library" ] || { skip "embedded-$version" "no libpython"; continue; }
	status=0
	PYTHONHOME=$prefix "$fake/python-embedded" "$library" "$fake/libpythonstacks.so" >out 2>err </dev/null || status=$?
	is "$version-embedded-ends-well" 0 $status
	is "$version-embedded" "14 of 14" "$(grep -c '^ok' out) of $(wc -l <out)"
done <pythons
