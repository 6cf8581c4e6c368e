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

/* The files of a folder and of the folders in it. Returns their number. */
static int replay_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	char path[4096];
	struct dirent *e;
	int n = 0;

	if (!dir)
		return -1;
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.' &&
			snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) <
				(int)sizeof(path))
			n += e->d_type == DT_DIR ? replay_folder(path) : replay(path);
	closedir(dir);
	return n;
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');
	int n;

	name = name ? name + 1 : argv[0];
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	n = argc == 2 ? replay_folder(argv[1]) : -1;
	if (n > 0)
		printf("ok %s replays %d inputs\n", name, n);
	else
		printf("FAIL %s: %s %s\n", name, n ? "no corpus folder" : "an empty corpus",
			argc == 2 ? argv[1] : "given");
	return n <= 0;
}
