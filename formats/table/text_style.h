/* Colours of text, by what they mean: escapes are written here and nowhere else, and only into an
 * output that shows them (gt_out.colours). They are put around words that are laid out already, so
 * nothing moves because of them. */
#ifndef GT_TONE_H
#define GT_TONE_H
#include <stddef.h>

enum gt_tone {
	GT_TONE_NONE,
	GT_TONE_HEADING,
	GT_TONE_NOTE, /* less than what it stands beside */
	GT_TONE_GOOD,
	GT_TONE_DOUBT, /* to be looked at */
	GT_TONE_BAD,
	GT_TONE_COMPUTE, /* work of a GPU */
	GT_TONE_COMMUNICATION,
	GT_TONE_COPY,
	GT_TONE_IDLE,
	/* a drawing, each mark in the colour of the work that it stands for */
	GT_TONE_MARKS,
	GT_TONES
};
#define GT_MARK_COMPUTE '#'
#define GT_MARK_COMMUNICATION '='
#define GT_MARK_COPY '-'
#define GT_MARK_IDLE '.'

struct gt_out;
void gt_put_toned(struct gt_out *out, enum gt_tone tone, const char *s, size_t n);
#endif
