/* Arbitrary bytes as the content of a block of rows, for the decoder without the checksums. The
 * first byte selects the kind and the number of rows. */
#include <stdlib.h>
#include <string.h>

#include "formats/trace/block.h"
#include "formats/trace/summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct gt_field fields[3] = { { 0, GT_F_U64, GT_R_BYTES },
		{ 0, GT_F_STR, GT_R_KERNEL }, { 0, GT_F_HEX, GT_R_ADDR } };
	static const struct gt_type types[4] = { { .nfields = 0 },
		{ .nfields = 1, .fields = fields }, { .nfields = 3, .fields = fields }, { 0 } };
	static const struct gt_track tracks[3] = { { .parent = GT_NONE }, { .parent = 0 },
		{ .parent = 0 } };
	struct gt_segment seg = { .types = types, .ntypes = 4, .tracks = tracks, .ntracks = 3 };
	struct gt_bucket buckets[GT_SUMMARY_BUCKETS];
	struct gt_unpacked u = { 0 };
	struct gt_summary s;
	struct gt_span in;
	uint8_t *copy;

	if (size < 3 || !(copy = calloc(1, size + GT_SLACK)))
		return 0;
	memcpy(copy, data, size);
	in = (struct gt_span){ copy + 3, copy + size };
	if (!gt_block_unpack(&u, GT_CALL + data[0] % (GT_KINDS - 1), in,
		    data[1] | (uint32_t)(data[2] & 63) << 8, &seg, NULL)) {
		gt_block_count(&u);
		for (uint32_t c = 0; c < u.ntypes; c++) {
			uint64_t *v = malloc(u.per_code[c] * 8ul + 1);
			uint32_t at[3];

			if (v && u.per_code[c] && !gt_block_columns(&u, &seg, c, at))
				for (unsigned f = 0; f < gt_block_fields(&u, &seg, c); f++) {
					struct gt_span column = { u.args.at + at[f], u.args.end };

					if (gt_get_values(&column, v, u.per_code[c]))
						abort(); /* the decoder has checked it */
				}
			free(v);
		}
	}
	while (gt_summary_get(&in, &seg, &s, buckets) > 0)
		;
	gt_unpacked_release(&u);
	free(copy);
	return 0;
}
