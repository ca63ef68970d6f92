// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * statics_use.c - do both builds use a variable in the same way?
 *
 * Two blocks of a function that change places leave the lines of `static int n;` in both of them
 * where they were, and the compiler's numbers, too: only what the code does with each variable has
 * moved. So each instruction that refers to the variable is looked at, and after one that loads it
 * the next one, which mostly shows what is done with the value: operations, immediate values,
 * symbols. Registers and jumps aren't looked at; they are another choice each time.
 */

#include <string.h>

#include "arch/arch.h"
#include "create/diff/statics.h"
#include "create/unit/srcloc.h"
#include "objfile/disasm.h"

/* Appends an instruction that isn't a jump; true if it sets a register. */
static bool add_insn(const struct objsec *sec, uint64_t at, const struct insn *insn,
		     struct buf *out)
{
	const struct objrel *rel;
	char text[160];

	if (insn->flow != INSN_PLAIN)
		return false;
	disasm_insn(sec->data + at, sec->size - at, 0, text, sizeof(text));
	/* "add $0x1,%eax" -> "add $0x1": the registers go. */
	buf_addf(out, "%.*s", (int)strcspn(text, " "), text);
	for (const char *p = text; (p = strchr(p, '$')); p++)
		buf_addf(out, " %.*s", (int)strcspn(p, ","), p);
	vec_for_each (&sec->rels, rel) {
		if (rel->offset < at || rel->offset >= at + insn->len)
			continue;
		if (static_is_loose(rel->sym))
			static_add_name(rel->sym, out);
		else
			rel_show(sec, rel, out);
	}
	buf_addstr(out, "\n");
	return disasm_targets_register(text);
}

static void add_uses_in(const struct objsec *sec, const struct objsym *var, struct buf *out)
{
	bool loaded = false;
	struct insn insn;

	for (uint64_t at = 0; at < sec->size; at += insn.len) {
		const struct objrel *rel;
		bool here = false;

		if (!arch_native()->insn_decode(sec->data + at, sec->size - at, &insn) || !insn.len)
			return;
		vec_for_each (&sec->rels, rel)
			here |= rel->sym == var && rel->offset >= at && rel->offset < at + insn.len;
		if (here || loaded)
			loaded = add_insn(sec, at, &insn, out) && here;
	}
}

static void add_uses(const struct side *side, const struct objsym *var, struct buf *out)
{
	for (size_t i = 0; i < side->obj->secs.n; i++) {
		const struct objsec *sec = side->obj->secs.items[i];

		if (secinfo_of(sec)->kind == SECINFO_CODE && sec->data && sec_refers_to(sec, var))
			add_uses_in(sec, var, out);
	}
}

bool static_same_use(const struct objsym *pre, const struct objsym *post)
{
	auto_buf struct buf was = { 0 }, is = { 0 };

	add_uses(syminfo_of(pre)->side, pre, &was);
	add_uses(syminfo_of(post)->side, post, &is);
	return !was.oom && !is.oom && !strcmp(buf_str(&was), buf_str(&is));
}
