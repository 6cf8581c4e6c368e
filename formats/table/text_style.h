/* Colours of text, by their meaning. Only this file writes escape sequences, and only into an
 * output with colours (gt_out.colours). They are added to text that is already laid out, so they do
 * not move it. */
#ifndef GT_TEXT_STYLE_H
#define GT_TEXT_STYLE_H
#include <stddef.h>

enum gt_tone {
	GT_TONE_NONE,
	GT_TONE_HEADING,
	GT_TONE_NOTE, /* less important than other text */
	GT_TONE_GOOD,
	GT_TONE_DOUBT, /* a warning */
	GT_TONE_BAD,
	GT_TONE_COMPUTE, /* GPU operations */
	GT_TONE_COMMUNICATION,
	GT_TONE_COPY,
	GT_TONE_IDLE,
	/* a drawing: each of the marks below in its colour */
	GT_TONE_MARKS,
	GT_TONES
};
#define GT_MARK_COMPUTE '#'
#define GT_MARK_COMMUNICATION '='
#define GT_MARK_COPY '-'
#define GT_MARK_IDLE '.'

struct gt_out;
/* Writes n bytes of s in the colour of the tone. */
void gt_put_toned(struct gt_out *out, enum gt_tone tone, const char *s, size_t n);
#endif
