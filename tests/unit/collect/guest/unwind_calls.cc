// Functions of all kinds that call back, for test_unwind.c. Compiled with optimization and without
// frame pointers.
#include <algorithm>
#include <alloca.h>
#include <cstdarg>
#include <cstring>
#include <csetjmp>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

typedef void callback(void *);
#define NOINLINE __attribute__((noinline))

namespace {
struct base {
	virtual ~base() {}
	virtual int call(callback *f, void *arg, int n) = 0;
};
struct derived : base {
	int call(callback *f, void *arg, int n) override NOINLINE
	{
		std::function<int(int)> g = [&](int x) {
			f(arg);
			return x + n;
		};
		return g(n);
	}
};
bool done;
callback *current;
void *current_arg;
struct key {
	int k;
	bool operator<(const key &o) const
	{
		if (!done) {
			done = true;
			current(current_arg);
		}
		return k < o.k;
	}
};
NOINLINE void begin(callback *f, void *arg)
{
	done = false;
	current = f;
	current_arg = arg;
}
jmp_buf back;
NOINLINE __attribute__((noreturn)) void never(callback *f, void *arg)
{
	f(arg);
	longjmp(back, 1);
}
NOINLINE void ends_with_noreturn(callback *f, void *arg, volatile int *x)
{
	*x = 1;
	never(f, arg);
}
NOINLINE int variadic(int n, ...)
{
	va_list l;
	int sum = 0;
	va_start(l, n);
	callback *f = va_arg(l, callback *);
	void *arg = va_arg(l, void *);
	for (int i = 0; i < n; i++)
		sum += va_arg(l, int);
	f(arg);
	va_end(l);
	return sum;
}
NOINLINE int with_alloca(callback *f, void *arg, int n)
{
	char *p = (char *)alloca(n);
	memset(p, n, n);
	f(arg);
	return p[n / 2];
}
// the compiler realigns the stack
NOINLINE int realigned(callback *f, void *arg, int n)
{
	alignas(128) volatile char a[256];
	char *p = (char *)alloca(n);
	memset(p, n, n);
	a[n & 255] = 1;
	f(arg);
	return p[n / 2] + a[n & 255];
}
NOINLINE int realigned_with_arguments(
	int a0, int a1, int a2, int a3, int a4, int a5, callback *f, void *arg, int n)
{
	alignas(64) volatile char a[256];
	a[n & 255] = a0 + a1 + a2 + a3 + a4 + a5;
	f(arg);
	return a[n & 255] + a5;
}
NOINLINE int large_frame(callback *f, void *arg, int n)
{
	volatile char a[200000];
	a[n] = 1;
	f(arg);
	return a[n];
}
NOINLINE int catches(callback *f, void *arg, int n)
{
	try {
		if (n)
			throw std::runtime_error(std::string(n, 'x'));
	} catch (std::exception &e) {
		f(arg);
		return (int)strlen(e.what());
	}
	return 0;
}
} // namespace

extern "C" NOINLINE int unwind_deep(callback *f, void *arg, int n)
{
	std::string s(n % 40, 'a');
	if (!n) {
		f(arg);
		return 1;
	}
	int below = unwind_deep(f, arg, n - 1);
	return below + (int)s.size();
}

// Calls f(arg) in way number `way`. Returns false if there is no such way.
extern "C" bool unwind_call(int way, callback *f, void *arg)
{
	volatile int x = 0;

	switch (way) {
	case 0: {
		derived d;
		base *b = &d;
		x += b->call(f, arg, 3);
		return true;
	}
	case 1: {
		std::vector<key> v;
		begin(f, arg);
		for (int i = 0; i < 100; i++)
			v.push_back({ i * 7 % 31 });
		std::sort(v.begin(), v.end());
		return true;
	}
	case 2: {
		std::set<key> s;
		begin(f, arg);
		for (int i = 0; i < 10; i++)
			s.insert({ i });
		return true;
	}
	case 3:
		if (!setjmp(back))
			ends_with_noreturn(f, arg, &x);
		return true;
	case 4: x += variadic(3, f, arg, 1, 2, 3); return true;
	case 5: x += with_alloca(f, arg, 777); return true;
	case 6: x += realigned(f, arg, 333); return true;
	case 7: x += realigned_with_arguments(1, 2, 3, 4, 5, 6, f, arg, 9); return true;
	case 8: x += large_frame(f, arg, 5); return true;
	case 9: x += catches(f, arg, 12); return true;
	case 10: x += unwind_deep(f, arg, 20); return true;
	}
	return false;
}
