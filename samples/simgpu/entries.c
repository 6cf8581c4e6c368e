/* The table of entry points that cuGetProcAddress searches. */
#include "samples/simgpu/sim.h"
#include "samples/simgpu/entries.h"

#define F(name, version, suffix) void name##suffix(void);
#define P F
ENTRIES
#undef F
#undef P
#define F(name, version, suffix) { #name, version, false, name##suffix },
#define P(name, version, suffix) { #name, version, true, name##suffix },
const struct sim_entry sim_entries[] = { ENTRIES };
const size_t sim_entries_n = sizeof(sim_entries) / sizeof(*sim_entries);
