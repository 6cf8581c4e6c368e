# The contents of the .deb and of the Python wheel work where they are unpacked or installed.
. "$SRC/tests/lib.sh"
[ -z "$SAN" ] || { skip packages "sanitized programs are not packaged"; exit 0; }
build=${B#"$SRC"/} port=$B/portable
flock "$B" make -s -C "$SRC" BUILD="$build" "$build/portable/complete" >make.out 2>&1 || { fail packages "$(tail -n 1 make.out)"; exit 0; }
export LD_LIBRARY_PATH="$B/sim" SIMGPU_SPEED=20

if ! command -v dpkg-deb >/dev/null; then skip deb "dpkg-deb is not installed"
else
	check deb env XZ_LEVEL=1 "$SRC/packaging/deb.sh" "$port" .
	deb=$(echo gtrace_*.deb)
	mkdir root && dpkg-deb -x "$deb" root && dpkg-deb -e "$deb" root/DEBIAN || fail deb-unpacks "dpkg-deb"
	check deb-md5sums sh -c 'cd root && md5sum -c --quiet DEBIAN/md5sums'
	is deb-is-of-this-version "$("$B/gtrace" --version)" "gtrace $(dpkg-deb -f "$deb" Version)"
	is deb-needs-the-c-library-only 'libc6' "$(dpkg-deb -f "$deb" Depends | sed 's/ (>= 2\.[0-9]*)$//')"
	want deb-records 0 root/usr/bin/gtrace run -o deb.zst "$B/samples/train" -n 20
	check deb-reports grep -q 'in 1 process' want.out
	check deb-manual sh -c 'gzip -dc root/usr/share/man/man1/gtrace.1.gz | grep -q "^.SH NAME"'
	check deb-copyright grep -q 'License: Apache-2.0' root/usr/share/doc/gtrace/copyright
	check deb-changelog sh -c 'gzip -dc root/usr/share/doc/gtrace/changelog.gz | grep -q "^gtrace (.*) unstable"'
	check deb-libraries grep -q 'zlib1g-dev' root/usr/share/doc/gtrace/LIBRARIES
	check deb-completion bash -n root/usr/share/bash-completion/completions/gtrace
	check deb-owned-by-root sh -c "dpkg-deb -c $deb | awk '\$2 != \"root/root\" { bad = 1 } END { exit bad }'"
fi
if ! command -v rpmbuild >/dev/null; then
	want rpm 1 "$SRC/packaging/rpm.sh" "$port" .
	says rpm-message '^make rpm needs rpmbuild'
	skip rpm-installs "rpmbuild is not installed"
elif [ "$(id -u)" -ne 0 ]; then skip rpm-installs "rpm --root needs root"
else	# into an empty root folder
	check rpm env XZ_LEVEL=1 "$SRC/packaging/rpm.sh" "$port" .
	rpm=$(echo gtrace-*.rpm) tree=$PWD/rpm-root
	mkdir "$tree" && rpm --root "$tree" --initdb >rpm.out 2>&1 || fail rpm-database "$(tail -n 1 rpm.out)"
	want rpm-installs 0 rpm --root "$tree" --nodeps -i "$PWD/$rpm"
	want rpm-verifies 0 rpm --root "$tree" --nodeps -V gtrace
	is rpm-is-of-this-version "$("$B/gtrace" --version)" "gtrace $(rpm -qp --qf '%{VERSION}' "$rpm" 2>/dev/null)"
	for program in gtrace gtcollect gtanalyze gtview gtexport; do
		is rpm-$program-runs "$("$B/$program" --version)" "$("$tree/usr/bin/$program" --version)"
	done
	want rpm-records 0 "$tree/usr/bin/gtrace" run -o rpm.zst "$B/samples/train" -n 20
	check rpm-reports grep -q 'in 1 process' want.out
	want rpm-removes 0 rpm --root "$tree" --nodeps -e gtrace
	check rpm-leaves-nothing test ! -e "$tree/usr/bin/gtrace" -a ! -e "$tree/usr/lib/gt" -a ! -e "$tree/usr/share/doc/gtrace"
fi

python3 -c 'import venv, ensurepip' 2>/dev/null || { skip wheel "python3 with venv and ensurepip is not installed"; exit 0; }
check wheel "$SRC/packaging/wheel.sh" "$port" .
whl=$(echo gtrace-*.whl)
mkdir again && check wheel-again "$SRC/packaging/wheel.sh" "$port" again
same wheel-is-reproducible "$whl" "again/$whl"
python3 -m venv venv >venv.out 2>&1 || { fail venv "$(tail -n 1 venv.out)"; exit 0; }
check wheel-installs venv/bin/pip install -q --no-index --disable-pip-version-check "$whl"
check wheel-is-consistent venv/bin/pip check --disable-pip-version-check
want wheel-command 0 venv/bin/gtrace --version
want wheel-other-command 0 venv/bin/gtanalyze --version
check wheel-other-command-is-it grep -q '^gtanalyze ' want.out
cp "$SRC/tests/cli/project/wheel_program.py" . && chmod -x wheel_program.py
want wheel-records 5 venv/bin/python -m gtrace run -o ranges.zst wheel_program.py 20
check wheel-reports grep -q 'in 1 process' want.out
venv/bin/python "$SRC/tests/cli/project/wheel_use.py" ranges.zst "$SRC/samples/recorded" || fail wheel-use "status $?"
