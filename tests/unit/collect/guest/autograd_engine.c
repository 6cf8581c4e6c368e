/* A thread without Python that launches kernels within ranges, as PyTorch's autograd engine does.
 * For autograd.py. */
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

struct job {
	const char *range; /* NULL: none */
	int (*push)(const char *message);
	int (*pop)(void);
	int (*launch)(void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		unsigned, void *stream, void **parameters, void **extra);
	void *function, **parameters, *context;
	int (*use_context)(void *context);
};

static struct job job;
static sem_t start, end;

static void *engine(void *arg)
{
	for (;;) {
		sem_wait(&start);
		job.use_context(job.context);
		if (job.range)
			job.push(job.range);
		job.launch(job.function, 1, 1, 1, 1, 1, 1, 0, NULL, job.parameters, NULL);
		if (job.range)
			job.pop();
		sem_post(&end);
	}
	return NULL;
}

void engine_run(const struct job *one)
{
	static pthread_t thread;

	if (!thread) {
		sem_init(&start, 0, 0);
		sem_init(&end, 0, 0);
		pthread_create(&thread, NULL, engine, NULL);
	}
	job = *one;
	sem_post(&start);
	sem_wait(&end);
}
