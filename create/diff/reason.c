// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * reason.c - better reasons than "changed"
 *
 * A function whose own source is as it was differs because of what the compiler put into it. If its
 * instructions are the same but for those that come from one inlined function, then that one
 * changed. If only the first difference lies there, the lines of the source tell: the inlined
 * function is named if code from it is of a line that the patch changes. If such code is elsewhere
 * only, the first difference is another choice of registers. Where no code is of such a line (a
 * macro changes, or a type), no more is said than what is known.
 */

#include "create/diff/reason.h"

#include <string.h>

#include "arch/arch.h"
#include "base/buf.h"
#include "create/unit/equal.h"
#include "create/unit/patched_lines.h"
#include "create/unit/report_warn.h"
#include "create/unit/srcloc.h"
#include "objfile/disasm.h"

/* Longer functions are not looked at instruction by instruction. */
enum { MAX_INSNS = 1000 };

/* An instruction with what it refers to, but without the target of a jump. */
static void add_insn(const struct objsec *sec, uint64_t at, const struct insn *insn,
		     struct buf *out)
{
	const struct objrel *rel;
	char text[160];

	disasm_insn(sec->data + at, sec->size - at, 0, text, sizeof(text));
	if (insn->rel_size)
		text[strcspn(text, " ")] = '\0';
	buf_addstr(out, text);
	vec_for_each (&sec->rels, rel)
		if (rel->offset >= at && rel->offset < at + insn->len)
			rel_show(sec, rel, out);
	buf_addstr(out, "\n");
}

/* Appends the instructions that aren't inlined from a function. */
static bool add_own_insns(struct dbginfo *dbg, const struct objsec *sec, const char *inlined,
			  struct buf *out)
{
	uint64_t at = 0;

	for (int n = 0; at < sec->size; n++) {
		const char *from;
		struct insn insn;

		if (n == MAX_INSNS ||
		    !arch_native()->insn_decode(sec->data + at, sec->size - at, &insn))
			return false;
		from = dbginfo_inlined_from(dbg, sec, at);
		if (!from || strcmp(from, inlined))
			add_insn(sec, at, &insn, out);
		at += insn.len;
	}
	return true;
}

/* Is all the same but what comes from that inlined function? */
static bool all_from(struct unit *unit, const struct objsec *pre, const struct objsec *post,
		     const char *inlined)
{
	struct dbginfo *pre_dbg = side_dbginfo(&unit->pre), *post_dbg = side_dbginfo(&unit->post);
	auto_buf struct buf was = { 0 }, is = { 0 };

	return pre_dbg && pre->data && post->data && add_own_insns(pre_dbg, pre, inlined, &was) &&
	       add_own_insns(post_dbg, post, inlined, &is) && !was.oom && !is.oom &&
	       !strcmp(buf_str(&was), buf_str(&is));
}

/* Is code of a changed line in either build? inlined: from that function, NULL: from anywhere. */
static bool is_patched(const struct patched_lines *lines, struct unit *unit,
		       const struct objsec *pre, const struct objsec *post, const char *inlined)
{
	struct patched_code code;

	return patched_lines_find(lines, side_dbginfo(&unit->post), post, inlined, &code) ||
	       patched_lines_find(lines, side_dbginfo(&unit->pre), pre, inlined, &code);
}

static int give_reason(const struct diff *diff, struct unit *unit, struct objsec *sec,
		       struct uspl_err *err)
{
	struct secinfo *secinfo = secinfo_of(sec);
	const struct objsec *old = syminfo_of(secinfo->owner)->twin->sec;
	struct dbginfo *dbg = side_dbginfo(&unit->post);
	struct range pre = { old, 0, old->size }, post = { sec, 0, sec->size };
	auto_buf struct buf text = { 0 };
	uint64_t at = equal_first_difference(&pre, &post);
	const char *name = dbg ? dbginfo_inlined_from(dbg, sec, at) : NULL;

	if (!name)
		return 0;
	if (all_from(unit, old, sec, name))
		buf_addf(&text, "inlines '%s', which changed", name);
	else if (is_patched(diff->report->patched, unit, old, sec, name))
		buf_addf(&text, "changed, first in what is inlined from '%s'", name);
	else if (is_patched(diff->report->patched, unit, old, sec, NULL))
		return 0;
	else
		buf_addf(&text,
			 "changed, first differs in what is inlined from '%s', which may be as it "
			 "was",
			 name);
	secinfo->reason = objfile_strdup(unit->post.obj, buf_str(&text));
	return secinfo->reason ? 0 : uspl_fail_nomem(err);
}

int reason_give(struct diff *diff, struct uspl_err *err)
{
	for (size_t i = 0; i < diff->n; i++) {
		struct unit *unit = &diff->units[i];

		for (size_t j = 0; j < unit->post.obj->secs.n; j++) {
			const struct secinfo *secinfo = &unit->post.secinfos[j];
			int rc = 0;

			if (secinfo->kind == SECINFO_CODE && secinfo->carried &&
			    secinfo_twin(secinfo) && !strcmp(secinfo->reason, "changed"))
				rc = give_reason(diff, unit, unit->post.obj->secs.items[j], err);
			if (rc)
				return rc;
		}
		unit_close_dbginfo(unit);
	}
	return 0;
}
