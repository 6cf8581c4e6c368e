/* Which file the kernel sets probes in.
 *
 * Uprobes belong to an inode. fstat() names a file by its device and inode number, and gives one
 * name to a file that has several paths by hard links or bind mounts. In an overlay mount a file is
 * that of a lower folder, and so the same one in each mount of this folder (containers of one
 * image), while its device differs in each mount (seen with Linux 6.18: equal numbers of the inode,
 * devices 0:40 and 0:42, and 254:0 in the lower folder itself); /proc/PID/maps, map_files and
 * statx() say the same as fstat(). The number of the inode alone is no name. So gtcollect maps the
 * file, and a BPF program reads the address of the inode from the mapping, which is that of the
 * lower file. The kernel keeps an inode that has probes. */
#ifndef GT_FILE_IDENTITY_H
#define GT_FILE_IDENTITY_H
#include <stdint.h>
#include "collect/bpf/bpf_events.h"

struct bpf_program;
/* The address of the inode of an open file. 0: it is not known. own_mappings: the program. */
uint64_t gt_file_identity(const struct bpf_program *own_mappings, int fd);
/* Does any process map the file? identity: of gt_file_identity, and the file has probes. Before
 * Linux 5.12 it is not known. */
enum gt_file_use gt_file_use(const struct bpf_program *file_use, uint64_t identity);
#endif
