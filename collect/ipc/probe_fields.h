/* How the values of a probe's hit are described: what a value is, and which one. The BPF programs
 * write these bytes, too, so nothing is included. */
#ifndef GT_PROBE_FIELDS_H
#define GT_PROBE_FIELDS_H

#define GT_PROBE_VALUES 12 /* of one hit, at most */

enum gt_probe_kind {
	GT_PROBE_UNSIGNED,
	GT_PROBE_SIGNED,
	GT_PROBE_HEX,
	GT_PROBE_FLOAT, /* the bits of a double */
	GT_PROBE_TEXT,
	/* only in records of BPF programs: a text, if the value is the address of one; the bits of
	 * a float */
	GT_PROBE_MAYBE_TEXT,
	GT_PROBE_FLOAT32,
	GT_PROBE_KINDS
};
/* Which value: arguments by their numbers, those of the end of a pair from GT_PROBE_END on. */
#define GT_PROBE_END 12
#define GT_PROBE_RETURN 24
#define GT_PROBE_FIELD(kind, which) ((which) << 3 | (kind))
#define GT_PROBE_FIELD_KIND(field) ((field)&7)
#define GT_PROBE_FIELD_WHICH(field) ((field) >> 3)
#endif
