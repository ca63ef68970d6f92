// SPDX-License-Identifier: GPL-3.0-or-later
// resolve_test.c - symbols of a live process are found where the process itself says they are

#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>

#include "apply/resolve.h"
#include "tests/unit/compile.h"
#include "tests/unit/tap.h"

#define SAMPLE "tests/unit/samples/resolve.c"
#define LIBRARY "tests/unit/samples/resolve_lib.c"

/* The running sample, and what it says. */
struct target {
	pid_t pid;
	FILE *out;
	size_t n;
	struct {
		char name[64];
		taddr addr;
	} says[32];
};

static void run(const char *fmt, ...) uspl_printf(1, 2);

static void run(const char *fmt, ...)
{
	char cmd[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	if (system(cmd)) {
		fprintf(stderr, "failed: %s\n", cmd);
		exit(1);
	}
}

static void target_start(struct target *target)
{
	char path[96], line[256];
	int fds[2];

	snprintf(path, sizeof(path), "%s/prog", compile_dir());
	if (pipe(fds))
		exit(1);
	target->n = 0;
	target->pid = fork();
	if (!target->pid) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	target->out = fdopen(fds[0], "r");
	while (fgets(line, sizeof(line), target->out) && strcmp(line, "ready\n")) {
		const char *text = line[0] == '&' ? line + 1 : line;

		if (target->n < ARRAY_SIZE(target->says) &&
		    sscanf(text, "%63s %lx", target->says[target->n].name,
			   &target->says[target->n].addr) == 2)
			target->n++;
	}
}

static void target_stop(struct target *target)
{
	kill(target->pid, SIGKILL);
	waitpid(target->pid, NULL, 0);
	fclose(target->out);
}

static taddr target_says(const struct target *target, const char *name)
{
	for (size_t i = 0; i < target->n; i++)
		if (!strcmp(target->says[i].name, name))
			return target->says[i].addr;
	printf("# the sample doesn't say where '%s' is\n", name);
	return 0;
}

/* Everything that a resolver works on. */
struct setup {
	struct proc *proc;
	module_vec modules;
	struct image *image;
	struct objfile *pre;
	struct match *match;
	struct resolver *resolver;
};

static bool setup_open(struct setup *setup, pid_t pid, const char *module_name)
{
	const struct module *module = NULL;
	struct uspl_err err = { 0 };
	int rc = proc_open(pid, &setup->proc, &err);

	if (!rc)
		rc = modules_read(setup->proc, &setup->modules, &err);
	for (size_t i = 0; !rc && i < setup->modules.n; i++)
		if (!strcmp(setup->modules.items[i].name, module_name))
			module = &setup->modules.items[i];
	if (!module) {
		printf("# no module '%s': %s\n", module_name, err.msg);
		return false;
	}
	rc = module_image(setup->proc, module, &setup->image, &err);
	if (!rc)
		rc = match_run(setup->image, setup->pre, &setup->match, &err);
	if (!rc)
		rc = resolver_new(setup->proc, &setup->modules, module, setup->image, setup->match,
				  &setup->resolver, &err);
	if (rc)
		printf("# %s\n", err.msg);
	return rc == 0;
}

static void setup_close(struct setup *setup)
{
	resolver_free(setup->resolver);
	match_free(setup->match);
	image_free(setup->image);
	modules_release(&setup->modules);
	proc_free(setup->proc);
	objfile_free(setup->pre);
	memset(setup, 0, sizeof(*setup));
}

static taddr find(const struct setup *setup, const char *name, uint8_t bind, struct uspl_err *err)
{
	struct objsym sym = { .name = name, .bind = bind };
	struct symbol_value value;

	return resolve(setup->resolver, &sym, &value, err) ? 1 : value.addr;
}

static void same(const struct setup *setup, const struct target *target, const char *ref,
		 const char *how)
{
	const char *name = strchr(ref, ':') ? strchr(ref, ':') + 1 : ref;
	bool weak = !strcmp(name, "never_defined");
	struct uspl_err err = { 0 };
	taddr have = find(setup, ref, weak ? STB_WEAK : STB_GLOBAL, &err);
	taddr want = target_says(target, name);

	ok(have == want, "%s: %s", how, ref);
	if (have != want)
		printf("# have 0x%lx, want 0x%lx: %s\n", have, want, err.msg);
}

static const char *const symbols[] = {
	"main",
	"global_variable",
	"resolve.c:static_variable",
	"resolve.c:static_function",
	"in_library",
	"interposed",
	"puts",
	"fopen",
	"memcpy",
	"strlen",
	"stderr",
	"environ",
	"never_defined",
	"thread_variable",
};

/*
 * Builds and starts the program; then asks for its symbols, with and without code that refers to
 * them.
 */
static void test_program(const char *flags, const char *library_flags, const char *how)
{
	const char *dir = compile_dir();
	struct target target = { 0 };
	struct setup setup = { 0 };
	struct uspl_err err = { 0 };
	bool shared = strstr(library_flags, "-shared");
	char path[96], what[64];

	run("cd '%s' && rm -f lib* prog", dir);
	run("gcc -w %s -o %s/libresolve.%s %s", library_flags, dir, shared ? "so" : "o", LIBRARY);
	/* A static program with a search path for libraries dies in glibc's start-up code. */
	run("gcc -w -g0 %s -o %s/prog %s %s/libresolve.* %s%s", flags, dir, SAMPLE, dir,
	    shared ? "-Wl,-rpath," : "", shared ? dir : "");
	run("gcc -w -g0 %s -c -ffunction-sections -o %s/pre.o %s 2>/dev/null", flags, dir, SAMPLE);
	target_start(&target);

	setup.pre = objfile_new("empty");
	if (setup_open(&setup, target.pid, "prog")) {
		for (size_t i = 0; i < ARRAY_SIZE(symbols); i++)
			same(&setup, &target, symbols[i], how);
		ok(find(&setup, "no_such_thing", STB_GLOBAL, &err) == 1 &&
			   err.code == USPL_E_UNRESOLVED && strstr(err.msg, "'no_such_thing'"),
		   "%s: what isn't there is named", how);
		ok(find(&setup, "resolve.c:no_such_thing", STB_LOCAL, &err) == 1 &&
			   err.code == USPL_E_UNRESOLVED,
		   "%s: a static one, too", how);
	} else {
		ok(false, "%s: a resolver", how);
	}
	setup_close(&setup);

	snprintf(path, sizeof(path), "%s/pre.o", dir);
	snprintf(what, sizeof(what), "%s, from the code", how);
	if (objfile_read(path, &setup.pre, &err) == 0 && setup_open(&setup, target.pid, "prog")) {
		for (size_t i = 0; i < ARRAY_SIZE(symbols); i++)
			same(&setup, &target, symbols[i], what);
	} else {
		ok(false, "%s: a resolver", what);
	}
	setup_close(&setup);
	target_stop(&target);
}

/* The same, asked on behalf of the library. */
static void test_library(void)
{
	const char *dir = compile_dir();
	struct target target = { 0 };
	struct setup setup = { 0 };
	struct uspl_err err = { 0 };

	run("cd '%s' && rm -f lib* prog", dir);
	run("gcc -w -O2 -fPIC -shared -o %s/libresolve.so %s", dir, LIBRARY);
	run("gcc -w -O2 -o %s/prog %s %s/libresolve.so -Wl,-rpath,%s", dir, SAMPLE, dir, dir);
	target_start(&target);
	setup.pre = objfile_new("empty");
	if (setup_open(&setup, target.pid, "libresolve.so")) {
		same(&setup, &target, "in_library", "library");
		/* The program defines it too, and comes first. */
		same(&setup, &target, "interposed", "library");
		same(&setup, &target, "puts", "library");
		same(&setup, &target, "strlen", "library");
		ok(find(&setup, "hidden_in_library", STB_GLOBAL, &err) > 1,
		   "library: its hidden function, by its own symbol table");
	} else {
		ok(false, "library: a resolver");
	}
	setup_close(&setup);
	target_stop(&target);
}

int main(void)
{
	test_program("-O2 -fPIE -pie", "-O2 -fPIC -shared", "pie");
	test_program("-O2 -fPIE -pie -Wl,-z,now", "-O2 -fPIC -shared", "pie, bound at start");
	test_program("-O0 -fno-pie -no-pie", "-O2 -fPIC -shared", "not pie");
	test_program("-O2 -fno-pie -no-pie -fno-plt", "-O2 -fPIC -shared", "not pie, no plt");
	test_program("-O2 -static", "-O2 -Dinterposed=other -c", "static");
	test_program("-O2 -static-pie", "-O2 -Dinterposed=other -fPIE -c", "static pie");
	test_library();
	compile_rmdir();
	return tap_done();
}
