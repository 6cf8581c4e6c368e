#include "formats/cmdline/interrupts.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include "formats/cmdline/pager.h"
#include "formats/cmdline/progress_line.h"
#include "formats/os/atomic_file.h"

static void end(int signal_number)
{
	gt_progress_line_erase();
	gt_atomic_files_remove();
	gt_pager_finish();
	/* SA_RESETHAND: the second one has its default effect, once this handler has returned */
	raise(signal_number);
}

void gt_interrupts_install(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction old, new;

	memset(&new, 0, sizeof(new));
	new.sa_handler = end;
	new.sa_flags = (int)SA_RESETHAND;
	for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(signals[i], &new, NULL);
}
