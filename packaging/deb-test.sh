#!/bin/sh
# packaging/deb-test.sh BUILD [SUITE]: makes a new root of Debian (SUITE: bookworm) with debootstrap, installs the .deb of
# BUILD there, records a sample program on the simulated GPU, reads the recordings in samples/recorded, and removes the
# package. It needs root, debootstrap and a mirror (MIRROR; default: the first one of apt's list). The root is in a temporary
# folder (TMPDIR) and is deleted. For Ubuntu: MIRROR=http://archive.ubuntu.com/ubuntu packaging/deb-test.sh build noble
set -e
build=$(cd "$1" && pwd) suite=${2:-bookworm}
command -v debootstrap >/dev/null || { echo "make deb-test needs debootstrap" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || { echo "make deb-test needs root: it uses chroot" >&2; exit 1; }
: "${MIRROR:=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -v '^#' |
	grep -o 'https\?://[^ ]*/debian/\?\( \|$\)' | head -n 1)}"
root=$(mktemp -d)
chmod 755 "$root"
trap 'umount "$root/proc" "$root/dev/shm" 2>/dev/null; rm -rf "$root" "$root.log"' EXIT
trap 'exit 130' INT TERM HUP
echo "== a new $suite"
script=/usr/share/debootstrap/scripts/$suite
case $MIRROR in *ubuntu*) [ -e "$script" ] || script=/usr/share/debootstrap/scripts/gutsy ;; esac # that of all Ubuntus
debootstrap --variant=minbase "$suite" "$root" "${MIRROR% }" "$script" >"$root.log" 2>&1 || { tail -n 5 "$root.log"; exit 1; }
mount -t proc proc "$root/proc"
mount -t tmpfs shm "$root/dev/shm"
cp "$build"/gtrace_*.deb "$root/tmp/"
mkdir "$root/sample" && cp -R "$build/sim" "$build/samples/train" "$(dirname "$0")/../samples/recorded/"*.zst "$root/sample/"
inside() { chroot "$root" env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LD_LIBRARY_PATH="$in_library" "$@"; }
in_library=
echo "== installs"
inside sh -c 'dpkg -i /tmp/gtrace_*.deb'
inside dpkg --verify gtrace
for program in gtrace gtcollect gtanalyze gtview gtexport; do inside $program --version; done
inside sh -c 'gzip -t /usr/share/man/man1/gt*.1.gz'
echo "== records and reports"
in_library=/sample/sim
inside sh -c 'cd /tmp && gtrace run -o t.zst /sample/train -n 50 && gtrace report kernels t.zst && gtrace view --render 80x10 t.zst &&
	gtrace export --chrome -o t.json t.zst'
echo "== reads recordings"
for file in "$root"/sample/*.zst; do
	inside gtanalyze "/sample/${file##*/}" >"$root.log"
	head -n 2 "$root.log"
done
echo "== removes"
in_library=
inside dpkg --purge gtrace
for left in usr/bin/gtrace usr/bin/gtcollect usr/lib/gt usr/share/doc/gtrace; do
	[ ! -e "$root/$left" ] || { echo "left behind: $left"; exit 1; }
done
echo "the package works in a new $suite"
