// SPDX-License-Identifier: GPL-3.0-or-later
// untraceable.c - functions that can't be traced as others are: by their names, or by what they do
// first

#include "trace/engine/untraceable.h"

#include <string.h>

#include "arch/arch.h"
#include "base/demangle.h"

#define GO_MARK_ALIGN 16

/* They return more than once, or again after their frame is gone. */
static const char *const returns_twice[] = {
	"setjmp",  "_setjmp",    "__setjmp",     "sigsetjmp",   "__sigsetjmp",   "vfork",
	"__vfork", "getcontext", "__getcontext", "swapcontext", "__swapcontext", "savectx",
};

/*
 * They are entered by the kernel, by a stub, or on a new stack: what lies at their stack pointer
 * isn't a return address.
 */
static const char *const not_called[] = {
	"_start",
	"_dl_start_user",
	"__restore_rt",
	"__restore",
	"clone",
	"__clone",
	"clone3",
	"__clone3",
	"__start_context",
	"_dl_runtime_resolve",
	"_dl_runtime_resolve_fxsave",
	"_dl_runtime_resolve_xsave",
	"_dl_runtime_resolve_xsavec",
	"_dl_runtime_profile_avx",
	"_dl_runtime_profile_avx512",
	"_dl_runtime_profile_sse",
	"_dl_tlsdesc_return",
	"_dl_tlsdesc_undefweak",
	"_dl_tlsdesc_dynamic",
	"__morestack",
};

/* They look at the address that they return to, to know their caller. */
static const char *const looks_at_caller[] = {
	"dlopen",
	"dlsym",
	"dlvsym",
	"dlmopen",
	"dlclose",
	"dladdr",
	"__libc_dlopen_mode",
	"_dl_open",
	"mcount",
	"_mcount",
	"__fentry__",
	"_Unwind_RaiseException",
	"_Unwind_Resume",
	"_Unwind_ForcedUnwind",
	"_Unwind_Backtrace",
	"uw_init_context_1",
	"uw_install_context_1",
	"__cxa_throw",
	"__cxa_rethrow",
};

static bool listed(const char *const *names, size_t n, const char *name)
{
	size_t len = name ? demangle_stem_len(name) : 0;

	for (size_t i = 0; name && i < n; i++)
		if (!strncmp(names[i], name, len) && !names[i][len])
			return true;
	return false;
}

/*
 * Built by Go, whose stacks move, with all that is kept by their addresses. It has this mark in its
 * data (debug/buildinfo in Go's library).
 */
static bool is_go(const struct image *image)
{
	static const char mark[] = "\xff Go buildinf:";
	enum { WINDOW = 64 << 10 };
	const struct image_seg *seg;

	vec_for_each (&image->segs, seg) {
		size_t at = -seg->start % GO_MARK_ALIGN;
		taddr from = seg->start + at;

		for (; seg->write && at + sizeof(mark) <= seg->len; at += WINDOW) {
			size_t len = seg->len - at < WINDOW ? seg->len - at : WINDOW;
			const uint8_t *bytes = image_bytes(image, seg->start + at, len);

			for (size_t i = 0; bytes && i + sizeof(mark) <= len; i += GO_MARK_ALIGN)
				if (!memcmp(bytes + i, mark, sizeof(mark) - 1))
					return true;
			image_forget(image, &from, seg->start + at);
		}
	}
	return false;
}

void untraceable_init(struct untraceable *untraceable, const struct image *image,
		      const candidate_vec *candidates)
{
	const struct image_sym *sym;
	const struct candidate *candidate;
	bool is_unwinder = false;
	size_t lacking = 0;

	/* A library that unwinds stacks: some of its functions, without names, look at callers. */
	vec_for_each (&image->syms, sym)
		is_unwinder |= !strcmp(sym->name, "_Unwind_RaiseException");
	/* A compiler that was told to make no call frame information makes none at all. */
	vec_for_each (candidates, candidate)
		lacking += image_lacks_frame(image, candidate->entry);
	*untraceable = (struct untraceable){ image, is_go(image), is_unwinder,
					     lacking <= candidates->n / 2 };
}

const char *untraceable_why(const struct untraceable *untraceable, const char *name)
{
	if (untraceable->go)
		return "it is Go's, whose stacks move";
	if (listed(not_called, ARRAY_SIZE(not_called), name))
		return "it isn't entered by a call";
	/* The compiler has put it elsewhere: it is jumped to. */
	return name && strstr(name, ".cold") ? "it is a part of another function" : NULL;
}

bool untraceable_entry_only(const struct untraceable *untraceable,
			    const struct candidate *candidate)
{
	return (untraceable->frames && image_lacks_frame(untraceable->image, candidate->entry)) ||
	       (untraceable->unwinder && !candidate->name) ||
	       listed(returns_twice, ARRAY_SIZE(returns_twice), candidate->name) ||
	       listed(looks_at_caller, ARRAY_SIZE(looks_at_caller), candidate->name);
}
