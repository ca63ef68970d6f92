// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * vet_coroutine.c - coroutines of C++20 that wait in the process
 *
 * The compiler makes a coroutine a function that is entered anew at each resumption. A number in
 * its frame, which counts its suspension points, tells where to go on; what is kept over them lies
 * at places in the frame that the compiler has chosen. Frames that wait in the process are of the
 * old form. Compilers can't be relied on to tell numbers or places (gcc describes the frame, and
 * not where its points are; clang describes neither), so the code has to show that they are the
 * same: instruction by instruction the same operation, on the same source line, with the same
 * displacements. Constants and what is called may be others. Anything else is refused.
 */

#include <string.h>

#include "arch/arch.h"
#include "base/text.h"
#include "create/unit/srcloc.h"
#include "create/vet/vet_checks.h"

/*
 * gcc: "NAME.Frame.actor", "NAME.actor", "...destroy"; clang: "NAME.resume", ".destroy",
 * ".cleanup". NAME isn't mangled if the coroutine is extern "C". No other name has a dot and a word
 * of these at its end.
 */
static bool is_coroutine(const struct objsym *sym)
{
	static const char *const ends[] = { ".actor", ".resume", ".destroy", ".cleanup" };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (text_ends_with(sym->name, ends[i]))
			return sym_is_function(sym);
	return false;
}

/* Do two functions do the same, but for constants and the names of what they refer to? */
static bool same_steps(const struct objsec *pre, const struct objsec *post)
{
	struct dbginfo *old = side_dbginfo(secinfo_of(pre)->side);
	struct dbginfo *now = side_dbginfo(secinfo_of(post)->side);
	struct insn a, b;

	if (!old || !now || pre->size != post->size || !pre->data || !post->data ||
	    !secinfo_of(pre)->other != !secinfo_of(post)->other)
		return false;
	for (uint64_t at = 0; at < pre->size; at += a.len) {
		const uint8_t *x = pre->data + at, *y = post->data + at;

		if (!arch_native()->insn_decode(x, pre->size - at, &a) || !a.len ||
		    !arch_native()->insn_decode(y, post->size - at, &b) || a.len != b.len ||
		    a.op != b.op || a.flow != b.flow || a.rel != b.rel ||
		    a.disp_size != b.disp_size || a.disp_off != b.disp_off ||
		    a.imm_size != b.imm_size || a.pc_relative_mem != b.pc_relative_mem ||
		    memcmp(x + a.disp_off, y + b.disp_off, a.disp_size) ||
		    dbginfo_line(old, pre, at) != dbginfo_line(now, post, at))
			return false;
	}
	return true;
}

/* The compiler declares nowhere what it has made, but its code has lines. */
static void add_code_place(const struct objsym *sym, struct buf *buf)
{
	struct side *side = syminfo_of(sym)->side;
	struct dbginfo *dbg = side_dbginfo(side);

	if (!dbg || !dbginfo_add_line(dbg, sym->sec, sym->value, buf))
		buf_addstr(buf, side->source);
}

int vet_coroutines(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		const struct objsym *old = is_coroutine(sym) ? syminfo_of(sym)->twin : NULL;
		auto_buf struct buf was = { 0 }, is = { 0 };

		if (!old || !secinfo_of(sym->sec)->reason ||
		    (same_steps(old->sec, sym->sec) &&
		     (!secinfo_of(sym->sec)->other ||
		      same_steps(secinfo_of(old->sec)->other, secinfo_of(sym->sec)->other))))
			continue;
		add_code_place(old, &was);
		add_code_place(sym, &is);
		uspl_fail(
			err, USPL_E_DATA_CHANGE,
			"%s: the coroutine '%s' changes, which was at %s before the patch, and may "
			"be suspended in the process: its suspension points, or what is kept over "
			"them, may not be the same",
			buf_str(&is), sym->name, buf_str(&was));
		uspl_hint(err, "constants may change, and what it calls: put what is new into a "
			       "function that isn't inlined");
		return -USPL_E_DATA_CHANGE;
	}
	return 0;
}
