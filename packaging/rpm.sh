#!/bin/sh
# packaging/rpm.sh PORTABLE OUT: makes OUT/gtrace-VERSION-1.ARCH.rpm of the programs in the folder PORTABLE, and prints
# its name. XZ_LEVEL (9) is the compression.
set -e
portable=$(cd "$1" && pwd) out=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
. packaging/package.sh
command -v rpmbuild >/dev/null || { echo "make rpm needs rpmbuild (package rpm-build of Fedora, rpm of Debian)" >&2; exit 1; }
install_tree "$portable" "$work/tree" gtrace
same_dates "$work/tree"
rpmbuild -bb --quiet --define "_topdir $work/rpm" --define "_rpmdir $out" --define "_rpmfilename %{name}-%{version}-%{release}.%{_arch}.rpm" \
	--define "_prefix /usr" --define "_build_id_links none" --define "debug_package %{nil}" --define "__os_install_post %{nil}" \
	--define "_binary_payload w${XZ_LEVEL:-9}.xzdio" --define "_buildhost localhost" \
	--define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" \
	--define "tree $work/tree" --define "gt_version $version" packaging/gtrace.spec
ls "$out/gtrace-$version-1."*.rpm
