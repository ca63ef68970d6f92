// SPDX-License-Identifier: GPL-3.0-or-later
// link_tls_test.c - accesses to thread-local variables, of the program's and of the new code's own,
// linked and run
/*
 * The same text is compiled in every way that compilers have for such an access. It runs with the
 * variables at a fixed distance from the thread pointer, and with none known but the module's
 * number.
 */

#include <pthread.h>
#include <signal.h>

#include "tests/unit/link_run.h"
#include "tests/unit/tap.h"
#include "uspl/abi.h"

extern __thread int outside, outside_hidden, outside_array[8];
__thread int outside = 1, outside_hidden = 2, outside_array[8];

extern void *__tls_get_addr(void *pair);

static const char text[] =
	"extern __thread int outside;\n"
	"extern __thread int outside_hidden __attribute__((visibility(\"hidden\")));\n"
	"extern __thread int outside_array[8] __attribute__((visibility(\"hidden\")));\n"
	"int read_outside(int n) { return outside * 100 + outside_hidden * 10 + n; }\n"
	"int write_outside(int n) { outside = n; outside_hidden += n; return outside_array[n]++; "
	"}\n"
	"int *where(void) { return &outside_hidden; }\n"
	"int *where_outside(void) { return &outside; }\n";

static const char fresh_text[] =
	"extern __thread int outside;\n"
	"extern __thread int outside_hidden __attribute__((visibility(\"hidden\")));\n"
	"static __thread int counter = 40, zero;\n"
	"__thread long numbers[5] = { 1, 2, 3, 4, 5 };\n"
	"static __thread char letters[16] __attribute__((aligned(64)));\n"
	"static int plain = 7;\n"
	"static __thread int *pointer = &plain;\n"
	"__thread double fraction = 0.5;\n"
	"int count(int n) { counter += n; zero++; return counter * 10 + zero; }\n"
	"long number(int i) { return numbers[i]++ + letters[i]; }\n"
	"int letter(int i) { letters[i] = (char)i; return letters[(i + 1) & 15] + outside_hidden; "
	"}\n"
	"int *where_counter(void) { return &counter; }\n"
	"char *where_letters(void) { return letters; }\n"
	"double scale(double by) { fraction *= by; return fraction + outside + *pointer; }\n"
	"long sum(int n) { long s = 0; for (int i = 0; i < n; i++) s += numbers[i]; return s; }\n"
	"void fill(int n) { for (int i = 0; i < n; i++) numbers[i] = i + 10; }\n"
	/* As a loop that counts from 1000 on may be compiled: the address is before the block. */
	"long before(int i) { return (numbers - 1000)[i]; }\n";

static bool has_place; /* a fixed one, for value_of */
static taddr lent;     /* who tells where an earlier update's variable is; 0: there is none */

static bool is_lent(void *ctx, const struct objsym *sym)
{
	(void)ctx;
	return lent && !strcmp(sym->name, "outside");
}

static struct symbol_value thread_value(const void *variable)
{
	const int64_t block = -4096; /* anywhere, as long as the distances are right */
	taddr distance = (uintptr_t)variable - (uintptr_t)__builtin_thread_pointer();
	uint64_t pair[2] = { 1, 0 };

	if (has_place)
		return (struct symbol_value){ .addr = distance, .tls_offset = block };
	return (struct symbol_value){ .addr = (uintptr_t)variable - (uintptr_t)__tls_get_addr(pair),
				      .tls_id = 1 };
}

static int value_of(void *ctx, const struct objsym *sym, bool redirected, struct symbol_value *ret,
		    struct uspl_err *err)
{
	static const struct {
		const char *name;
		taddr addr;
	} functions[] = {
		{ "__tls_get_addr", (taddr)(uintptr_t)__tls_get_addr },
		{ "pthread_getspecific", (taddr)(uintptr_t)pthread_getspecific },
		{ "pthread_setspecific", (taddr)(uintptr_t)pthread_setspecific },
		{ "pthread_key_create", (taddr)(uintptr_t)pthread_key_create },
	};

	(void)ctx;
	if (redirected)
		return 0;
	if (lent && !strcmp(sym->name, "outside")) {
		*ret = (struct symbol_value){ .addr = USPL_THREADS_HEAD, .lent_distance = lent };
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (!strcmp(sym->name, functions[i].name)) {
			ret->addr = functions[i].addr;
			return 0;
		}
	if (!strcmp(sym->name, "outside"))
		*ret = thread_value(&outside);
	else if (!strcmp(sym->name, "outside_hidden"))
		*ret = thread_value(&outside_hidden);
	else if (!strcmp(sym->name, "outside_array"))
		*ret = thread_value(&outside_array);
	else
		return uspl_fail(err, USPL_E_UNRESOLVED, "'%s' isn't known", sym->name);
	return 0;
}

static int link_text(const char *command, const char *source, struct objfile **obj,
		     struct link **ret, uint32_t *key, struct uspl_err *err)
{
	int rc;

	*obj = object(command, source);
	rc = link_layout(*obj, arch_native(), &(struct link_wish){ .lent = is_lent }, ret, err);
	if (rc)
		return rc;
	(*ret)->threads.key_addr = (uintptr_t)key;
	return link_relocate(*ret, FAR_BASE, value_of, NULL, err);
}

static void unload(const struct link *link)
{
	munmap((void *)(uintptr_t)FAR_BASE, link->len);
}

static void run_outside(const struct link *link, const char *how)
{
	outside = 3;
	outside_hidden = 4;
	outside_array[5] = 77;
	ok(call(link, "read_outside", 5) == 345, "%s: reads", how);
	ok(call(link, "write_outside", 5) == 77 && outside == 5 && outside_hidden == 9 &&
		   outside_array[5] == 78,
	   "%s: writes", how);
	ok(((int *(*)(void))function(link, "where"))() == &outside_hidden &&
		   ((int *(*)(void))function(link, "where_outside"))() == &outside,
	   "%s: addresses", how);
}

static void test_outside(const char *command, bool place)
{
	auto_objfile struct objfile *obj = NULL;
	auto_link struct link *link = NULL;
	struct uspl_err err = { 0 };
	char how[128];
	int rc;

	snprintf(how, sizeof(how), "%s, %s", command, place ? "a fixed place" : "by number");
	has_place = place;
	rc = link_text(command, text, &obj, &link, NULL, &err);
	ok(rc == 0 && load(link), "%s: linked (%s)", how, err.msg);
	if (rc)
		return;
	run_outside(link, how);
	unload(link);
}

static void refuses(const char *command, const char *source, const char *word)
{
	auto_objfile struct objfile *obj = NULL;
	auto_link struct link *link = NULL;
	struct uspl_err err = { 0 };
	int rc = link_text(command, source, &obj, &link, NULL, &err);

	ok(rc == -USPL_E_UNSUPPORTED && strstr(err.msg, word), "refused: %s: %s", command, err.msg);
}

/* What another thread sees of the new variables, born after the first one has changed them. */
static void *in_thread(void *arg)
{
	const struct link *link = arg;
	bool fine = call(link, "count", 1) == 411 && call(link, "number", 2) == 3 &&
		    ((double (*)(double))function(link, "scale"))(4) == 2 + outside + 7;

	return fine ? arg : NULL;
}

static const struct link *in_handler;

static void handler(int sig)
{
	(void)sig;
	call(in_handler, "count", 2);
}

/* A thread whose first access is a signal handler's. */
static void *signalled(void *arg)
{
	raise(SIGUSR1);
	return call(arg, "count", 0) == 422 ? arg : NULL;
}

static void *run_thread(void *(*start)(void *), const struct link *link)
{
	pthread_t thread;
	void *ret = NULL;

	if (pthread_create(&thread, NULL, start, (void *)link))
		exit(1);
	pthread_join(thread, &ret);
	return ret;
}

static void run_fresh(const struct link *link, const char *how)
{
	int *counter = ((int *(*)(void))function(link, "where_counter"))();
	char *letters = ((char *(*)(void))function(link, "where_letters"))();
	bool all = true;

	outside = 1;
	outside_hidden = 2;
	ok(call(link, "count", 1) == 411 && call(link, "count", 2) == 432 && *counter == 43,
	   "%s: initial values, and what is written stays", how);
	ok(call(link, "number", 4) == 5 && call(link, "number", 4) == 6, "%s: an array", how);
	ok((uintptr_t)letters % 64 == 0 && call(link, "letter", 7) == 2 && letters[7] == 7,
	   "%s: an aligned array, beside an old variable", how);
	ok(((double (*)(double))function(link, "scale"))(4) == 2 + 1 + 7,
	   "%s: a vector register keeps its value", how);
	ok(call(link, "sum", 5) == 1 + 2 + 3 + 4 + 7, "%s: a loop", how);
	((void (*)(int))function(link, "fill"))(5);
	ok(call(link, "sum", 5) == 10 + 11 + 12 + 13 + 14, "%s: a loop that writes", how);
	ok(call(link, "before", 1003) == 13, "%s: counted from before the variables", how);
	for (int i = 0; i < 20; i++)
		all &= run_thread(in_thread, link) != NULL;
	ok(all, "%s: each thread has its own, from the start", how);
	in_handler = link;
	signal(SIGUSR1, handler);
	ok(run_thread(signalled, link) != NULL, "%s: the first access by a signal handler", how);
	ok(*counter == 43, "%s: the first thread's is as it was", how);
}

static void test_fresh(const char *command, uint32_t plain, bool place)
{
	auto_objfile struct objfile *obj = NULL;
	auto_link struct link *link = NULL;
	struct uspl_err err = { 0 };
	pthread_key_t key;
	uint32_t key_word;
	char how[128];
	int rc;

	snprintf(how, sizeof(how), "new ones, %s, beside %s", command,
		 place ? "a fixed place" : "some by number");
	has_place = place;
	rc = link_text(command, fresh_text, &obj, &link, &key_word, &err);
	ok(rc == 0 && load(link), "%s: linked (%s)", how, err.msg);
	if (rc)
		return;
	if (pthread_key_create(&key, (void (*)(void *))(uintptr_t)link->threads.leave))
		exit(1);
	key_word = (key + 1) | plain;
	run_fresh(link, how);
	pthread_key_delete(key);
	unload(link);
}

int main(void)
{
	static const char *const by_place[] = {
		"gcc -O2 -fPIE", "gcc -O0 -fPIE", "gcc -O2 -fno-pic", "clang -O2 -fPIE", "gcc -Os",
	};
	static const char *const by_call[] = {
		"gcc -O2 -fPIC",
		"gcc -O0 -fPIC",
		"gcc -O2 -fPIC -fno-plt",
		"gcc -Os -fPIC",
		"clang -O2 -fPIC",
		"clang -O2 -fPIC -fno-plt",
		"clang -O0 -fPIC",
		"gcc -O2 -fPIC -mtls-dialect=gnu2",
		"gcc -O0 -fPIC -mtls-dialect=gnu2",
		"gcc -Os -fPIC -mtls-dialect=gnu2",
	};
	static const char large[] = "gcc -O2 -fPIC -mcmodel=large";

	for (size_t i = 0; i < ARRAY_SIZE(by_place); i++) {
		test_outside(by_place[i], true);
		test_fresh(by_place[i], i & 1 ? USPL_THREADS_PLAIN : 0, true);
	}
	for (size_t i = 0; i < ARRAY_SIZE(by_call); i++) {
		test_outside(by_call[i], true);
		test_outside(by_call[i], false);
		test_fresh(by_call[i], 0, true);
		test_fresh(by_call[i], i & 1 ? USPL_THREADS_PLAIN : 0, false);
	}
	test_outside(large, false);
	has_place = false;
	refuses("gcc -O2 -fPIE", text, "no fixed place");
	refuses(large, fresh_text, "can't be linked");
	has_place = true;
	lent = FAR_BASE + (1ull << 32);
	refuses("gcc -O2 -fPIC", text, "'outside' can't be linked");
	lent = 0;
	compile_rmdir();
	return tap_done();
}
