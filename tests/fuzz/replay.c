/* Runs one fuzz target over the files of its corpus, so that make check replays the findings of
 * fuzzing with any compiler. Prints the current file on stderr: after a crash it is the cause. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_BYTES (16u << 20) /* all corpus files are much shorter */
#define SECONDS 20            /* for one file; an alarm ends a target that hangs */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(MAX_BYTES), *exact;
	size_t size;

	if (!f || !data) {
		perror(path);
		exit(1);
	}
	size = fread(data, 1, MAX_BYTES, f);
	fclose(f);
	/* exactly the file's size, so that a sanitizer finds a read beyond its end */
	exact = malloc(size + !size);
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
		if (e->d_name[0] != '.' &&
			snprintf(path, sizeof(path), "%s/%s", argv[1], e->d_name) <
				(int)sizeof(path))
			n += replay(path);
	closedir(dir);
	if (n)
		printf("ok %s replays %d inputs\n", name, n);
	else
		printf("FAIL %s: its corpus is empty\n", name);
	return !n;
}
