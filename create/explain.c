// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * explain.c - explains an update to reviewers
 *
 * What is carried, in the order of the units: for a function that is replaced the first instruction
 * that differs, as it was and as it is, with its source line, and the first line of the source that
 * the patch changes in it; for what is new, what needs it. In the end the numbers.
 */

#include "create/explain.h"

#include <string.h>

#include "arch/arch.h"
#include "base/demangle.h"
#include "base/hook_kind.h"
#include "create/unit/equal.h"
#include "create/unit/patched_lines.h"
#include "create/unit/report_warn.h"
#include "create/unit/srcloc.h"
#include "objfile/disasm.h"

struct explanation {
	const struct diff *diff;
	struct buf *out;
	size_t replaced, new_functions, new_variables, tables;
	uint64_t code, data, literals; /* bytes */
};

static void add_plain_name(struct buf *out, const struct objsec *sec)
{
	auto_free char *name = demangle_name(sec_title(sec));

	buf_addstr(out, name ? name : sec_title(sec));
}

static void add_name(struct buf *out, const struct objsec *sec)
{
	buf_addstr(out, "'");
	add_plain_name(out, sec);
	buf_addstr(out, "'");
}

/* Where the instruction begins that a place lies in. */
static uint64_t insn_start(const struct objsec *sec, uint64_t place)
{
	uint64_t at = 0;
	struct insn insn;

	while (at < sec->size &&
	       arch_native()->insn_decode(sec->data + at, sec->size - at, &insn) &&
	       at + insn.len <= place)
		at += insn.len;
	return at;
}

/* The length of what stands before the instruction, its sign included. */
#define SIGN_LEN strlen("      - ")

/* "  - mov 0x0(%rip),%eax    'limit'" */
static void add_insn(struct buf *out, char sign, const struct objsec *sec, uint64_t at)
{
	const struct objrel *rel;
	char text[160];
	size_t len;

	if (at >= sec->size) {
		buf_addf(out, "      %c (the end)\n", sign);
		return;
	}
	len = disasm_insn(sec->data + at, sec->size - at, at, text, sizeof(text));
	buf_addf(out, "      %c %s", sign, text);
	vec_for_each (&sec->rels, rel) {
		if (rel->offset < at || rel->offset >= at + len)
			continue;
		buf_addstr(out, "    # ");
		rel_show(sec, rel, out);
	}
	buf_addstr(out, "\n");
}

static uint64_t insn_len(const struct objsec *sec, uint64_t at)
{
	struct insn insn;

	return at < sec->size && arch_native()->insn_decode(sec->data + at, sec->size - at, &insn)
		       ? insn.len
		       : 0;
}

/*
 * The two instructions at the first difference that can be seen: of those that differ only in what
 * they refer to (a table with other contents, the distance of a jump) both may look the same.
 */
static uint64_t show_difference(struct buf *out, const struct objsec *old, const struct objsec *new)
{
	uint64_t first = 0, from = 0;

	for (int n = 0; from < old->size && from < new->size; n++) {
		struct range pre = { old, from, old->size - from };
		struct range post = { new, from, new->size - from };
		uint64_t at = insn_start(new, from + equal_first_difference(&pre, &post));
		auto_buf struct buf was = { 0 };
		auto_buf struct buf is = { 0 };

		first = n ? first : at;
		add_insn(&was, '-', old, at);
		add_insn(&is, '+', new, at);
		if (strcmp(buf_str(&was) + SIGN_LEN, buf_str(&is) + SIGN_LEN) != 0) {
			buf_addf(out, "%s%s", buf_str(&was), buf_str(&is));
			return at;
		}
		/* Where the two are no longer side by side, nothing can be compared. */
		if (!insn_len(new, at) || insn_len(old, at) != insn_len(new, at))
			break;
		from = at + insn_len(new, at);
	}
	add_insn(out, '~', new, first);
	buf_addstr(out, "        (what it refers to is different)\n");
	return first;
}

/* False if there is none: another part of the function differs. */
static bool add_first_difference(const struct explanation *ex, const struct objsec *old,
				 const struct objsec *new)
{
	const struct patched_lines *patched = ex->diff->report->patched;
	struct patched_code code;
	struct buf *out = ex->out;
	struct range pre = { old, 0, old->size }, post = { new, 0, new->size };
	struct dbginfo *dbg = side_dbginfo(secinfo_of(new)->side);
	auto_buf struct buf insns = { 0 };
	const char *inlined;
	uint64_t at;

	if (!old->data || !new->data || equal_ranges(&pre, &post, 0))
		return false;
	at = show_difference(&insns, old, new);
	buf_addstr(out, "      first difference at ");
	add_plain_name(out, new);
	buf_addf(out, "+0x%llx", (unsigned long long)at);
	if (dbg) {
		buf_addstr(out, ", ");
		if (!dbginfo_add_line(dbg, new, at, out))
			out->len -= 2;
		inlined = dbginfo_inlined_from(dbg, new, at);
		if (inlined)
			buf_addf(out, ", inlined from '%s'", inlined);
	}
	buf_addf(out, ":\n%s", buf_str(&insns));
	/*
	 * The first changed line that the function's code comes from, or came from if it is gone.
	 */
	if (patched_lines_find(patched, dbg, new, NULL, &code) ||
	    patched_lines_find(patched, side_dbginfo(secinfo_of(old)->side), old, NULL, &code))
		patched_lines_show(patched, code.line, out);
	return true;
}

/* ", needed by 'f'": the first carried thing that refers to a section. */
static void add_user(const struct explanation *ex, const struct objsec *sec)
{
	for (size_t i = 0; i < ex->diff->n; i++) {
		const struct side *post = &ex->diff->units[i].post;

		for (size_t j = 0; j < post->obj->secs.n; j++) {
			const struct objsec *from = post->obj->secs.items[j];
			const struct objrel *rel;

			if (!post->secinfos[j].carried || from == sec)
				continue;
			vec_for_each (&from->rels, rel) {
				const struct objsym *def = rel->sym;

				if (!def->sec)
					def = strmap_get(&ex->diff->post_defs, rel->sym->name);
				if (!def || def->sec != sec)
					continue;
				buf_addstr(ex->out, ", needed by ");
				add_name(ex->out, from);
				return;
			}
		}
	}
}

static void explain_code(struct explanation *ex, const struct objsec *sec)
{
	const struct secinfo *secinfo = secinfo_of(sec);
	const struct objsym *twin = secinfo_twin(secinfo);
	auto_buf struct buf place = { 0 };
	const struct diff_hook *hook;

	ex->code += sec->size;
	if (secinfo->is_cold && secinfo->other)
		return;
	buf_addstr(ex->out, "  ");
	add_name(ex->out, sec);
	buf_addf(ex->out, " at %s: ", sec_srcloc(sec, &place));
	if (!twin) {
		ex->new_functions++;
		buf_addstr(ex->out, "new function");
		/* When the function runs by itself. */
		vec_for_each (&ex->diff->hooks, hook)
			if (hook->function == secinfo->owner)
				buf_addf(ex->out, ", hook (%s)", hook_kind_name(hook->kind));
		add_user(ex, sec);
		buf_addstr(ex->out, "\n");
		return;
	}
	ex->replaced++;
	buf_addf(ex->out, "%s\n", secinfo->reason);
	if (!add_first_difference(ex, twin->sec, sec) && secinfo->other &&
	    secinfo_of(twin->sec)->other)
		add_first_difference(ex, secinfo_of(twin->sec)->other, secinfo->other);
}

static void explain_data(struct explanation *ex, const struct objsec *sec)
{
	const struct secinfo *secinfo = secinfo_of(sec);
	bool is_table = secinfo_twin(secinfo);
	auto_buf struct buf place = { 0 };

	if (secinfo->kind == SECINFO_LITERAL) {
		ex->literals += sec->size;
		return;
	}
	ex->data += sec->size;
	ex->tables += is_table;
	ex->new_variables += !is_table;
	buf_addstr(ex->out, "  ");
	add_name(ex->out, sec);
	buf_addf(ex->out, " at %s: %s, %llu bytes", sec_srcloc(sec, &place),
		 is_table                         ? "a new copy of a constant"
		 : secinfo->kind == SECINFO_CONST ? "new constant"
						  : "new variable",
		 (unsigned long long)sec->size);
	add_user(ex, sec);
	buf_addstr(ex->out, "\n");
}

/* New variables without a section, which any unit may define (-fcommon). */
static void explain_common(struct explanation *ex, const struct side *side)
{
	for (size_t i = 0; i < side->obj->syms.n; i++) {
		const struct objsym *sym = side->obj->syms.items[i];

		if (!syminfo_of(sym)->carried)
			continue;
		ex->new_variables++;
		ex->data += sym->size;
		buf_addf(ex->out, "  '%s': new variable, %llu bytes\n", sym->name,
			 (unsigned long long)sym->size);
	}
}

int explain(const struct diff *diff, struct uspl_err *err)
{
	struct explanation ex = { .diff = diff, .out = &diff->report->explanation };
	const struct diff_answer *answer;

	buf_addf(ex.out, "%s:\n", diff->target->path ? diff->target->path : diff->target->name);
	for (size_t i = 0; i < diff->n; i++) {
		const struct side *post = &diff->units[i].post;

		for (size_t j = 0; j < post->obj->secs.n; j++) {
			if (!post->secinfos[j].carried)
				continue;
			if (post->secinfos[j].kind == SECINFO_CODE)
				explain_code(&ex, post->obj->secs.items[j]);
			else
				explain_data(&ex, post->obj->secs.items[j]);
		}
		explain_common(&ex, post);
		unit_close_dbginfo(&diff->units[i]);
	}
	/* What would have been refused, if the author hadn't seen to it. */
	vec_for_each (&diff->answers, answer)
		if (answer->used)
			buf_addf(ex.out, "  '%s' at %s:%u: answered\n", answer->name,
				 answer->unit->source, answer->line);
	buf_addf(ex.out,
		 "  in all: %zu replaced, %zu new functions, %zu new variables, %zu copies of "
		 "constants; %llu bytes of code, %llu of data, %llu of literals\n",
		 ex.replaced, ex.new_functions, ex.new_variables, ex.tables,
		 (unsigned long long)ex.code, (unsigned long long)ex.data,
		 (unsigned long long)ex.literals);
	return ex.out->oom ? uspl_fail_nomem(err) : 0;
}
