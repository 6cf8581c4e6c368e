# -e xid: messages about GPU errors in the kernel's log. Root can write to the log like the driver.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1 && [ "$(cat /proc/sys/kernel/dmesg_restrict 2>/dev/null)" = 1 ]; then
	theirs=$(mktemp -d) && chmod 777 "$theirs"
	want no-rights 0 setpriv --reuid=65534 --clear-groups "$G" -f -e api,xid -o "$theirs/no.zst" true
	says no-rights-is-reported 'not recorded: Xid messages (/dev/kmsg: .*root or with CAP_SYSLOG'
	"$A" header "$theirs/no.zst" >header.out 2>/dev/null
	check header-names-the-missing-source grep -q 'missing: Xid messages' header.out
	rm -r "$theirs"
else
	skip no-rights "needs root, setpriv and kernel.dmesg_restrict"
fi
if ! [ -w /dev/kmsg ] || ! [ -r /dev/kmsg ]; then
	skip xid "/dev/kmsg is not for this user"
	exit
fi
# an address without a GPU; the file has no message from before the recording
echo "NVRM: Xid (PCI:ffff:ff:1f): 13, pid=$$, before" >/dev/kmsg
want xid 0 "$G" -f -e api,xid -o x.zst -- sh -c 'echo "NVRM: Xid (PCI:ffff:ff:1f): 79, pid='$$', GPU has fallen off the bus." >/dev/kmsg; echo "gt: not an Xid" >/dev/kmsg'
"$B/gtexport" --jsonl -o x.jsonl x.zst 2>/dev/null
is message-is-a-mark 1 "$(grep -c "\"name\":\"Xid 79\".*\"device\":\"ffff:ff:1f\",\"message\":\"pid=$$, GPU has fallen off the bus.\"" x.jsonl)"
is only-messages-of-the-recording 0 "$(grep -c "\"name\":\"Xid 13\".*pid=$$," x.jsonl)"
