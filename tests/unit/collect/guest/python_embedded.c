/* A program that loads and ends a Python interpreter twice. In argv[1]: libpython, in argv[2]:
 * libpythonstacks.so. Prints "ok NAME" or "FAIL NAME". */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { NONE, OK };
static unsigned (*find)(void);
static int (*stack)(char *, size_t, unsigned, unsigned *);
static char text[1 << 16];
static unsigned frames;

static int state(void) { return stack(text, sizeof(text), 100, &frames); }

static void report(const char *name, int good)
{
	printf("%s %s%s\n", good ? "ok" : "FAIL", name, good ? "" : ": other frames");
	fflush(stdout);
}

static const char code[] = "def f(k):\n"
			   "    return f(k - 1) if k else call()\n"
			   "f(3)\n";

/* of the stable interface: object.h, methodobject.h */
struct method {
	const char *name;
	void *(*function)(void *self, void *args);
	int flags;
	const char *text;
};
#define NO_ARGUMENTS 4
static void *python;

/* called by the Python code above */
static void *call(void *self, void *args)
{
	void *(*number)(long) = dlsym(python, "PyLong_FromLong");

	report("frames-in-an-embedded-interpreter",
		state() == OK && frames == 5 &&
			!strcmp(text,
				"f\t<string>\t2\nf\t<string>\t2\nf\t<string>\t2\nf\t<string>\t2\n"
				"<module>\t<string>\t3\n"));
	return number(1);
}

static void add_function(void)
{
	static struct method method = { "call", call, NO_ARGUMENTS, NULL };
	void *(*module)(const char *) = dlsym(python, "PyImport_AddModule");
	void *(*function)(struct method *, void *, void *) = dlsym(python, "PyCFunction_NewEx");
	int (*set)(void *, const char *, void *) = dlsym(python, "PyObject_SetAttrString");

	set(module("__main__"), "call", function(&method, NULL, NULL));
}

static void *thread(void *arg)
{
	report("no-frames-in-another-thread", state() == NONE && !frames);
	return NULL;
}

static void live(void)
{
	void (*begin)(int) = dlsym(python, "Py_InitializeEx");
	int (*run)(const char *) = dlsym(python, "PyRun_SimpleString");
	int (*end)(void) = dlsym(python, "Py_FinalizeEx");
	pthread_t t;

	report("no-frames-before-the-interpreter", state() == NONE && !frames);
	begin(0);
	report("no-frames-outside-of-python-code", state() == NONE && !frames);
	add_function();
	report("code-runs", !run(code));
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	end();
	report("no-frames-after-the-interpreter", state() == NONE && !frames);
}

int main(int argc, char **argv)
{
	void *library = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;

	if (!library) {
		printf("FAIL library: %s\n", argc > 2 ? dlerror() : "none named");
		return 1;
	}
	find = dlsym(library, "gt_test_find");
	stack = dlsym(library, "gt_test_stack");
	report("no-interpreter", !find() && state() == NONE);
	python = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	if (!python) {
		printf("FAIL libpython: %s\n", dlerror());
		return 1;
	}
	report("interpreter-loaded-later", find() > 0x0300);
	live();
	live();
	return 0;
}
