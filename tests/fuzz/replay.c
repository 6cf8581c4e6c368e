/* Runs one fuzz target over the files of its corpus, so that make check replays what fuzzing found with any compiler.
 * Names the file it is at on stderr: after a crash that is the culprit. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONGEST (16u << 20)	/* no corpus file is nearly as long */
#define SECONDS 20		/* for one file; an alarm ends a target that hangs */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(LONGEST), *exact;
	size_t size;

	if (!f || !data) {
		perror(path);
		exit(1);
	}
	size = fread(data, 1, LONGEST, f);
	fclose(f);
	exact = malloc(size + !size);	/* of the file's own size, so that a sanitizer sees one byte too many */
	if (!exact)
		exit(1);
	memcpy(exact, data, size);
	free(data);
	fprintf(stderr, "%s\n", path);
	alarm(SECONDS);
	LLVMFuzzerTestOneInput(exact, size);
	alarm(0);
	free(exact);
	return 1;
}

int main(int argc, char **argv)
{
	DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
	const char *name = strrchr(argv[0], '/');
	struct dirent *e;
	char path[4096];
	int n = 0;

	name = name ? name + 1 : argv[0];
	if (!dir) {
		printf("FAIL %s: no corpus folder %s\n", name, argc == 2 ? argv[1] : "given");
		return 1;
	}
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.' && snprintf(path, sizeof(path), "%s/%s", argv[1], e->d_name) < (int)sizeof(path))
			n += replay(path);
	closedir(dir);
	if (n)
		printf("ok %s replays %d inputs\n", name, n);
	else
		printf("FAIL %s: its corpus is empty\n", name);
	return !n;
}
