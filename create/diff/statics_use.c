// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * statics_use.c - do both builds use a variable in the same way?
 *
 * Two blocks of a function that change places leave the lines of `static int n;` in both of them
 * where they were, and the compiler's numbers, too: only what the code does with each variable has
 * moved. So each instruction that refers to the variable is looked at, and after one that loads it
 * the next one that has the register, up to a jump, which mostly shows what is done with the value:
 * operations, immediate values, symbols. What the compiler has put in between is another matter. Of
 * a register that isn't a general one it is the very next one. Which registers they are, and jumps,
 * doesn't count; they are another choice each time.
 */

#include <string.h>

#include "arch/arch.h"
#include "arch/probe_code.h"
#include "create/diff/statics.h"
#include "create/unit/srcloc.h"
#include "objfile/disasm.h"

/* The number of the general register at *name, which begins with '%'; -1 for others. */
static int register_at(const char *name)
{
	struct place place;
	struct uspl_err why;
	char only[8];

	snprintf(only, sizeof(only), "%.*s", 1 + (int)strcspn(name + 1, ",() "), name);
	name = only;
	return place_parse(&name, &place, &why) || place.kind != PLACE_REGISTER ? -1 : place.reg;
}

static bool has_register(const char *text, int number)
{
	for (const char *at = text; (at = strchr(at, '%')); at++)
		if (register_at(at) == number)
			return true;
	return false;
}

/* Appends an instruction; its text is the caller's, too. */
static void add_insn(const struct objsec *sec, uint64_t at, const struct insn *insn,
		     const char *text, struct buf *out)
{
	const struct objrel *rel;

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
}

static bool refers_within(const struct objsec *sec, uint64_t at, uint64_t len,
			  const struct objsym *var)
{
	const struct objrel *rel;

	vec_for_each (&sec->rels, rel)
		if (rel->sym == var && rel->offset >= at && rel->offset < at + len)
			return true;
	return false;
}

static void add_uses_in(const struct objsec *sec, const struct objsym *var, struct buf *out)
{
	bool loaded = false;
	int holder = -1;
	struct insn insn;

	for (uint64_t at = 0; at < sec->size; at += insn.len) {
		char text[160];
		bool here;

		if (!arch_native()->insn_decode(sec->data + at, sec->size - at, &insn) || !insn.len)
			return;
		here = refers_within(sec, at, insn.len, var);
		if (insn.flow != INSN_PLAIN)
			loaded = false;
		if (insn.flow != INSN_PLAIN || (!here && !loaded))
			continue;
		disasm_insn(sec->data + at, sec->size - at, 0, text, sizeof(text));
		if (!here && holder >= 0 && !has_register(text, holder))
			continue;
		add_insn(sec, at, &insn, text, out);
		loaded = here && disasm_targets_register(text);
		holder = loaded ? register_at(strrchr(text, ',') + 1) : -1;
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
