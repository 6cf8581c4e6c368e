# Checks the Python frames of samples (stacks_prog FILE host) against the source of the program, which is the first file: in each
# pair of frames of that file, the line of the caller names the function that is called. Prints the number of stacks with
# such a pair, and each wrong pair.
FILENAME == ARGV[1] { line[FNR] = $0; next }
{
	n = split($0, frame, / \| /)
	pairs = 0
	for (i = 2; i < n; i++) {
		if (frame[i] !~ /\(host\/chains\.py:/ || frame[i + 1] !~ /\(host\/chains\.py:/) continue
		name = frame[i]; sub(/ \(.*/, "", name); sub(/.*\./, "", name)
		if (name == "<listcomp>") name = "["
		at = frame[i + 1]; sub(/.*:/, "", at); sub(/\)$/, "", at)
		pairs++
		if (index(line[at], name (name == "[" ? "" : "(")) == 0) print "wrong: " frame[i] " <- " frame[i + 1]
	}
	stacks += pairs > 0
}
END { print stacks }
