#include "formats/import/import_roles.h"

#include <string.h>
#include <strings.h>

/* Roles of usual keys. The parameter names of driver functions are in cuda_api.def,
 * and are tried before this table. */
static const struct {
	const char *key;
	uint8_t role;
} roles[] = {
	{ "size", GT_R_BYTES },
	{ "bytes", GT_R_BYTES },
	{ "bytesize", GT_R_BYTES },
	{ "bytecount", GT_R_BYTES },
	{ "nbytes", GT_R_BYTES },
	{ "sizebytes", GT_R_BYTES },
	{ "dptr", GT_R_ADDR },
	{ "ptr", GT_R_ADDR },
	{ "devptr", GT_R_ADDR },
	{ "address", GT_R_ADDR },
	{ "addr", GT_R_ADDR },
	{ "src", GT_R_SRC },
	{ "srcdevice", GT_R_SRC },
	{ "srchost", GT_R_SRC },
	{ "dst", GT_R_DST },
	{ "dstdevice", GT_R_DST },
	{ "dsthost", GT_R_DST },
	{ "stream", GT_R_STREAM },
	{ "hstream", GT_R_STREAM },
	{ "func", GT_R_FUNC },
	{ "function", GT_R_FUNC },
	{ "f", GT_R_FUNC },
	{ "kernel", GT_R_KERNEL },
	{ "kernelname", GT_R_KERNEL },
	{ "grid", GT_R_GRID },
	{ "griddim", GT_R_GRID },
	{ "gridx", GT_R_GRID },
	{ "gridy", GT_R_GRID },
	{ "gridz", GT_R_GRID },
	{ "griddimx", GT_R_GRID },
	{ "griddimy", GT_R_GRID },
	{ "griddimz", GT_R_GRID },
	{ "block", GT_R_BLOCK },
	{ "blockdim", GT_R_BLOCK },
	{ "blockx", GT_R_BLOCK },
	{ "blocky", GT_R_BLOCK },
	{ "blockz", GT_R_BLOCK },
	{ "blockdimx", GT_R_BLOCK },
	{ "blockdimy", GT_R_BLOCK },
	{ "blockdimz", GT_R_BLOCK },
	{ "shared", GT_R_SHARED },
	{ "sharedmem", GT_R_SHARED },
	{ "sharedmembytes", GT_R_SHARED },
	{ "event", GT_R_EVENT },
	{ "hevent", GT_R_EVENT },
	{ "graph", GT_R_GRAPH },
	{ "graphexec", GT_R_GRAPH },
	{ "hgraph", GT_R_GRAPH },
	{ "hgraphexec", GT_R_GRAPH },
	{ "device", GT_R_DEVICE },
	{ "dev", GT_R_DEVICE },
	{ "context", GT_R_CONTEXT },
	{ "ctx", GT_R_CONTEXT },
	{ "status", GT_R_STATUS },
	{ "correlation", GT_R_CORRELATION },
	{ "correlationid", GT_R_CORRELATION },
};

/* Numbers can have every role except the kernel's name, and strings only that one. */
static bool role_fits(uint8_t role, uint8_t kind)
{
	return role == GT_R_KERNEL    ? kind == GT_F_STR
		: role == GT_R_STATUS ? kind != GT_F_STR && kind != GT_F_F64
				      : kind == GT_F_U64 || kind == GT_F_HEX;
}

uint8_t gt_import_role(
	const char *name, uint8_t kind, const struct gt_api_field *known, unsigned nknown)
{
	char word[24];
	size_t n = 0;

	for (unsigned i = 0; i < nknown; i++)
		if (!strcmp(known[i].name, name))
			return role_fits(known[i].role, kind) ? known[i].role : GT_R_NONE;
	/* "grid.0" counts as grid, and byte_count as ByteCount */
	for (; *name && *name != '.' && n < sizeof(word) - 1; name++)
		if (*name != '_')
			word[n++] = *name;
	word[n] = 0;
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
		if (!strcasecmp(roles[i].key, word) && role_fits(roles[i].role, kind))
			return roles[i].role;
	return GT_R_NONE;
}

/* The fields of formats/cuda/gpu_rows.h, and of counters. */
static const struct {
	const char *key;
	uint8_t kind, role;
} recorded[] = {
	{ "correlation", GT_F_U64, GT_R_CORRELATION },
	{ "context", GT_F_U64, GT_R_CONTEXT },
	{ "launch_track", GT_F_U64, GT_R_LAUNCH_TRACK },
	{ "launch_start", GT_F_I64, GT_R_LAUNCH_START },
	{ "launch_ns", GT_F_U64, GT_R_LAUNCH_NS },
	{ "launch_name", GT_F_STR, GT_R_LAUNCH_NAME },
	{ "launch_join", GT_F_U64, GT_R_LAUNCH_JOIN },
	{ "graph", GT_F_U64, GT_R_GRAPH },
	{ "node", GT_F_U64, GT_R_NODE },
	{ "made_track", GT_F_U64, GT_R_CREATED_BY_TRACK },
	{ "made_start", GT_F_I64, GT_R_CREATED_BY_START },
	{ "made_name", GT_F_STR, GT_R_CREATED_BY_NAME },
	{ "shared_static", GT_F_U64, GT_R_SHARED },
	{ "shared_dynamic", GT_F_U64, GT_R_SHARED },
	{ "registers", GT_F_U64, GT_R_REGISTERS },
	{ "direction", GT_F_U64, GT_R_DIRECTION },
	{ "src_memory", GT_F_STR, GT_R_SRC_MEMORY },
	{ "dst_memory", GT_F_STR, GT_R_DST_MEMORY },
	{ "async", GT_F_BOOL, GT_R_ASYNC },
	{ "dst_device", GT_F_U64, GT_R_DEVICE },
	{ "value", GT_F_U64, GT_R_VALUE },
	{ "value", GT_F_F64, GT_R_VALUE },
	{ "value", GT_F_HEX, GT_R_VALUE },
	{ "value", GT_F_I64, GT_R_VALUE },
	{ "uncertain", GT_F_BOOL, GT_R_UNCERTAIN },
	{ "kernel", GT_F_STR, GT_R_KERNEL },
};

uint8_t gt_import_recorded_role(const char *name, uint8_t kind)
{
	for (size_t i = 0; i < sizeof(recorded) / sizeof(*recorded); i++)
		if (recorded[i].kind == kind && !strcmp(recorded[i].key, name))
			return recorded[i].role;
	return GT_R_NONE;
}
