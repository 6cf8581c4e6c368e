# Converts docs/PROGRAM.1.md to a manual page. Supports the Markdown of these pages: #, ## and ###
# headings, paragraphs, lists (- item, 1. item), fenced blocks, indented blocks, tables (printed
# unchanged), `code`, **strong**, and comments (left out).
function text(s) {
	gsub(/\\/, "\\e", s)
	s = spans(s, "`", "\\fB")
	s = spans(s, "**", "\\fB")
	gsub(/-/, "\\-", s)
	if (s ~ /^[.']/)
		s = "\\&" s
	return s
}
function spans(s, mark, font,   at, rest, out, end) {
	while ((at = index(s, mark))) {
		rest = substr(s, at + length(mark))
		if (!(end = index(rest, mark)))
			break
		out = out substr(s, 1, at - 1) font substr(rest, 1, end - 1) "\\fR"
		s = substr(rest, end + length(mark))
	}
	return out s
}
function plain(on) {
	if (on && !asis)
		print ".PP\n.nf"
	if (!on && asis)
		print ".fi"
	asis = on
}
/^<!--/ { next }
/^```/ { fenced = !fenced; plain(fenced); next }
fenced { gsub(/\\/, "\\e"); gsub(/-/, "\\-"); print /^[.']/ ? "\\&" $0 : $0; next }
/^\|[-|: ]*$/ { next }
/^(\||    )/ { plain(1); print text($0); next }
{ plain(0) }
/^# / { n = $2; sub(/\(.*/, "", n); print ".TH " toupper(n) " 1 \"\" gt"
	if ((at = index($0, ": "))) print ".SH NAME\n" n " \\- " text(substr($0, at + 2)) "\n.SH DESCRIPTION"; next }
/^## / { print ".SH " toupper(substr($0, 4)); next }
/^### / { print ".SS " substr($0, 5); next }
/^[-*] / { print ".IP \\(bu 2\n" text(substr($0, 3)); list = 1; ended = 0; next }
/^[0-9]+\. / { print ".IP " $1 " 3\n" text(substr($0, length($1) + 2)); list = 1; ended = 0; next }
/^$/ { if (!list) print ".PP"; else ended = 1; list = 0; next }
{ if (ended) print ".PP"; ended = 0; sub(/^ +/, ""); print text($0) }
