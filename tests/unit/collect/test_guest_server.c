/* The two names to which processes connect to receive the rings' memory. */
#define _GNU_SOURCE
#include "collect/ipc/guest_server.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/unit/t.h"

#define MANY 50

static struct gt_guest_server door;
static char folder[] = "/tmp/gt-test-XXXXXX", library[64];

static bool open_door(struct gt_rings *r)
{
	struct gt_rings_options opt = { .memory = 1 << 20 };
	struct gt_err err = GT_ERR_INIT;
	FILE *f;

	if (!mkdtemp(folder))
		return false;
	snprintf(library, sizeof(library), "%s/library", folder);
	f = fopen(library, "w");
	if (!f || fclose(f))
		return false;
	setenv("GT_GUEST", library, 1);
	setenv("TMPDIR", folder, 1);
	unsetenv("XDG_RUNTIME_DIR");
	return !gt_rings_open(r, &opt, &err) && !gt_guest_server_open(&door, r, &err);
}

static void close_door(struct gt_rings *r)
{
	gt_guest_server_close(&door);
	gt_rings_close(r);
	unlink(library);
	rmdir(folder);
}

static int connect_to(const struct sockaddr_un *a, size_t bytes)
{
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return s >= 0 && !connect(s, (const struct sockaddr *)a, (socklen_t)bytes) ? s : -1;
}

static int connect_by_pid(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, GT_RING_ANCESTOR "%d", getpid());

	return connect_to(&a, offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static int connect_in_folder(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	snprintf(a.sun_path, sizeof(a.sun_path), "%.99s/sock", door.dir.path);
	return connect_to(&a, sizeof(a));
}

/* Any user may connect to the name with the process id, any number of times. */
static void many_at_one_name_do_not_delay_the_other(void)
{
	struct gt_rings r;
	int s[MANY], tell[2];
	unsigned at = 0;
	pid_t child;
	char c;

	CHECK(open_door(&r));
	CHECK(!pipe(tell));
	pthread_mutex_lock(&door.accept_lock); /* the accepting thread now accepts no connection */
	for (int i = 0; i < MANY; i++)
		CHECK((s[i] = connect_by_pid()) >= 0);
	child = fork();
	if (!child) {
		int own = connect_in_folder();

		_exit(write(tell[1], "c", 1) != 1 || read(own, &c, 1) != 1);
	}
	CHECK_EQ(read(tell[0], &c, 1), 1);
	pthread_mutex_unlock(&door.accept_lock);
	CHECK(waitpid(child, &(int){ 0 }, 0) == child);
	pthread_mutex_lock(&door.lock);
	while (at < door.nguests && door.guests[at].host_pid != child)
		at++;
	CHECK(at < door.nguests && at < 5);
	pthread_mutex_unlock(&door.lock);
	for (int i = 0; i < MANY; i++)
		close(s[i]);
	close_door(&r);
}

T_MAIN(T(many_at_one_name_do_not_delay_the_other))
