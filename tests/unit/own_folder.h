/* For tests that write files: a main that runs them in a temporary folder of their own, and removes
 * it, so that a test which is run by hand leaves nothing in the working directory. */
#ifndef T_OWN_FOLDER_H
#define T_OWN_FOLDER_H
#include <unistd.h>
#include "tests/unit/t.h"

static inline int t_in_own_folder(const char *file, const struct t_case *c, size_t n)
{
	char folder[] = "/tmp/gt-test-XXXXXX", command[64];
	int bad;

	if (!mkdtemp(folder) || chdir(folder)) {
		perror(folder);
		return 1;
	}
	bad = t_main(file, c, n);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return chdir("/") || system(command) || bad;
}
#define T_MAIN_IN_OWN_FOLDER(...)                                                                  \
	int main(void)                                                                             \
	{                                                                                          \
		static const struct t_case cases[] = { __VA_ARGS__ };                              \
		return t_in_own_folder(__FILE__, cases, sizeof(cases) / sizeof(*cases));           \
	}
#endif
