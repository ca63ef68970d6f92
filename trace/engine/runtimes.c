// SPDX-License-Identifier: GPL-3.0-or-later
// runtimes.c - programs that read return addresses on their own stacks
/*
 * What each of them does, by its sources: V8's SafeStackFrameIterator and InnerPointerToCodeCache;
 * HotSpot's JavaFrameAnchor, which takes the program counter from the word below the last Java
 * frame, where a call has put it; CoreCLR's StackFrameIterator; Go's traceback; OCaml's scanning of
 * frametables by return address; GHC's own stacks, which C code may be entered from; Erlang's,
 * whose compiled code calls C on another stack; JavaScript of Mozilla and WebKit; Mono's LMF;
 * Julia, LuaJIT and Racket, which unwind by tables of their own. Most export a function for
 * programs that embed them. A program that has one inside and exports nothing is known by its name.
 */

#include "trace/engine/runtimes.h"

#include <fnmatch.h>
#include <string.h>

#include "proc/dynsym.h"

struct runtime {
	const char *what;
	const char *names;  /* of modules: globs, with a '|' between */
	const char *symbol; /* that it exports; NULL: nothing that could be relied on */
};

static const struct runtime runtimes[] = {
	{ "V8", "node|nodejs|deno|electron|chrome|chromium|chrome-headless-shell|headless_shell",
	  "_ZN2v82V810GetVersionEv" },
	{ "V8", "libnode.so*|libv8.so*|libcef.so*|libQt[56]WebEngineCore.so*", NULL },
	{ "the Java virtual machine", "libjvm.so*", "JNI_CreateJavaVM" },
	{ ".NET", "libcoreclr.so*", "coreclr_initialize" },
	{ "Mono", "libmono*-2.0.so*", "mono_jit_init" },
	{ "Go", "", "_cgo_topofstack" },
	{ "Erlang", "beam.smp|beam.debug.smp", "enif_make_atom" },
	{ "OCaml", "libasmrun*.so|libcamlrun*.so", "caml_garbage_collection" },
	{ "GHC's runtime", "libHSrts*.so*", "stg_ap_0_fast" },
	{ "Mozilla's JavaScript", "libmozjs-*.so*|libxul.so", NULL },
	{ "WebKit's JavaScript", "libjavascriptcoregtk-*.so*|bun", "JSGlobalContextCreate" },
	{ "Julia", "libjulia*.so*", "jl_init" },
	{ "LuaJIT", "libluajit-*.so*|luajit*", "luaJIT_setmode" },
	{ "Racket", "racket", NULL },
};

static bool is_among(const char *name, const char *globs)
{
	char glob[64];

	for (size_t len; *globs; globs += len + (globs[len] == '|')) {
		len = strcspn(globs, "|");
		snprintf(glob, sizeof(glob), "%.*s", (int)len, globs);
		if (fnmatch(glob, name, 0) == 0)
			return true;
	}
	return false;
}

static const struct runtime *find(struct dynsyms *dyn)
{
	const struct module *module = dyn->module;

	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++) {
		const char *name = runtimes[i].symbol;
		const Elf64_Sym *sym;

		if (is_among(module->name, runtimes[i].names) ||
		    (module->soname && is_among(module->soname, runtimes[i].names)))
			return &runtimes[i];
		sym = name ? dynsyms_find(dyn, name, NULL) : NULL;
		if (sym && sym->st_shndx != SHN_UNDEF)
			return &runtimes[i];
	}
	return NULL;
}

int runtimes_refuse(const struct proc *proc, const module_vec *modules, struct uspl_err *err)
{
	const struct module *module;

	vec_for_each (modules, module) {
		auto_dynsyms struct dynsyms *dyn = NULL;
		const struct runtime *runtime;
		int rc = dynsyms_open(proc, module, &dyn, err);

		if (rc)
			return rc;
		runtime = find(dyn);
		if (!runtime)
			continue;
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "'%s' in pid %d is %s, which reads the return addresses on its stacks, "
			  "so that "
			  "returns can't be traced",
			  module->name, proc->pid, runtime->what);
		uspl_hint(err, "'--tracer=function' leaves return addresses alone");
		return -USPL_E_UNSUPPORTED;
	}
	return 0;
}
