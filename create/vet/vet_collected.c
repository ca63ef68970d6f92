// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * vet_collected.c - entries of tables that the linker collects
 *
 * All sections of a name that C can spell make one table, whose ends code knows as __start_NAME and
 * __stop_NAME. A linker script of the program's own makes tables of sections of any name. Nothing
 * else need refer to an entry. The process's table was laid out when the program was linked: it
 * lacks an entry that is new, and keeps one that is gone, or is another one now.
 *
 * Where only a script would make a table of it, an entry counts if nothing refers to it: a section
 * may also have a name of its own for the sake of its place.
 */

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "create/tree/link_options.h"
#include "create/unit/answer.h"
#include "create/unit/equal.h"
#include "create/unit/report_warn.h"
#include "create/unit/srcloc.h"
#include "create/vet/vet_collected.h"

static bool is_identifier(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	while (isalnum((unsigned char)*name) || *name == '_')
		name++;
	return !*name;
}

/* Does a name begin with the words before the dot of the prefix, and end there or go on by one? */
static bool has_prefix(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	return !strncmp(name, prefix, len) && (!name[len] || name[len] == '.');
}

/* Could a compiler have called a section so by itself? Of a variable's own that is ".data.NAME". */
static bool is_of_compiler(const struct objsec *sec)
{
	static const char *const of_data[] = { ".data", ".bss",     ".rodata", ".ldata",
					       ".lbss", ".lrodata", ".sdata",  ".sbss" };
	static const char *const others[] = { ".gcc_except_table", ".gnu.linkonce",   ".eh_frame",
					      ".stapsdt.base",     ".probes",         ".kcfi_traps",
					      ".sframe",           ".tm_clone_table", ".jcr" };
	static const char *const bare[] = { ".rel", ".rel.ro", ".rel.local", ".rel.ro.local" };
	const struct objsym *owner = secinfo_of(sec)->owner;
	const char *rest = NULL;
	size_t len, own;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (has_prefix(sec->name, others[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(of_data); i++)
		if (has_prefix(sec->name, of_data[i]))
			rest = sec->name + strlen(of_data[i]);
	if (!rest || !*rest || !owner)
		return rest != NULL;
	if (TEXT_IS_ONE_OF(rest, bare))
		return true;
	len = strlen(rest);
	own = strlen(owner->name);
	return len > own && rest[len - own - 1] == '.' && !strcmp(rest + len - own, owner->name);
}

bool vet_is_collected(const struct diff *diff, const struct objsec *sec)
{
	/* What only tracers read of functions' entries. */
	static const char *const of_tracers[] = { "__patchable_function_entries", "__mcount_loc",
						  "xray_instr_map", "xray_fn_idx" };
	const struct linked *linked = diff->left_out.linked;
	enum secinfo_kind kind = secinfo_of(sec)->kind;

	if ((kind != SECINFO_DATA && kind != SECINFO_CONST && kind != SECINFO_LITERAL) ||
	    TEXT_IS_ONE_OF(sec->name, of_tracers))
		return false;
	return is_identifier(sec->name) ||
	       (linked && link_options_have_script(linked->options) && !is_of_compiler(sec));
}

/* Is a variable there only for its table? */
static bool is_entry(const struct diff *diff, const struct side *side, const struct objsym *sym)
{
	if (!sym->sec || !sym_is_variable(sym) || !vet_is_collected(diff, sym->sec))
		return false;
	for (size_t i = 0; !is_identifier(sym->sec->name) && i < side->obj->secs.n; i++) {
		const struct objsec *sec = side->obj->secs.items[i];

		if (secinfo_of(sec)->kind != SECINFO_IGNORED && sec_refers_to(sec, sym))
			return false;
	}
	return true;
}

/* The program's table can't be changed: what to do instead. */
static int refuse_entry(const struct objsym *sym, const char *sentence, const char *way_out,
			struct uspl_err *err)
{
	int rc = sym_refuse(sym, err, USPL_E_UNSUPPORTED, "'%s' %s of the linker's table '%s'",
			    sym->name, sentence, sym->sec->name);

	uspl_hint(err,
		  "the program's table stays as it is; %s; or see to it by a hook, and say "
		  "USPL_ANSWERS(%s)",
		  way_out, sym->name);
	return rc;
}

static int check_new(const struct diff *diff, const struct unit *unit, const struct objsym *sym,
		     struct uspl_err *err)
{
	const struct objsym *twin = syminfo_of(sym)->twin;
	bool stays =
		twin && !syminfo_of(sym)->changed && !(sym->sec && secinfo_of(sym->sec)->reason);

	if (stays || !is_entry(diff, &unit->post, sym) || answer_given_for(diff, sym))
		return 0;
	if (!twin)
		return refuse_entry(sym, "is a new entry",
				    "call what is new from a function that reads the table", err);
	return refuse_entry(sym, "changes, an entry",
			    "change the functions that it leads to, or one that reads the table",
			    err);
}

static int check_gone(const struct diff *diff, const struct unit *unit, const struct objsym *sym,
		      struct uspl_err *err)
{
	auto_buf struct buf place = { 0 };

	if (syminfo_of(sym)->twin || !is_entry(diff, &unit->pre, sym) ||
	    answer_given_for(diff, sym))
		return 0;
	/* A function's own variable tells the table about a place in it, as what logs do. */
	if (sym->bind != STB_LOCAL || !strchr(sym->name, '.'))
		return refuse_entry(sym, "is gone, an entry",
				    "leave the entry, and change the functions that it leads to, "
				    "or one that reads the table",
				    err);
	report_warn(diff->report,
		    "%s: '%s' is gone, an entry of the linker's table '%s': the process's table "
		    "keeps it",
		    sym_srcloc(sym, &place), sym->name, sym->sec->name);
	return 0;
}

int vet_collected(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	int rc;

	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		rc = check_new(diff, unit, unit->post.obj->syms.items[i], err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < unit->pre.obj->syms.n; i++) {
		rc = check_gone(diff, unit, unit->pre.obj->syms.items[i], err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Entries without symbols: assembler in functions makes them, to tell of places in these. */
static int check_nameless(const struct diff *diff, const struct objsec *sec,
			  const struct objsec *old, struct uspl_err *err)
{
	struct range a = { old, 0, old ? old->size : 0 }, b = { sec, 0, sec ? sec->size : 0 };
	const struct objsec *any = sec ? sec : old;
	int rc;

	if (secinfo_of(any)->kind != SECINFO_LITERAL || secinfo_of(any)->carried ||
	    !vet_is_collected(diff, any) || (old && sec && equal_ranges(&a, &b, 0)))
		return 0;
	rc = sec_refuse(any, err, USPL_E_UNSUPPORTED, "the linker's table '%s' gets other entries",
			any->name);
	uspl_hint(err, "the program's table stays as it is; leave the assembler that makes its "
		       "entries where it is");
	return rc;
}

int vet_collected_nameless(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	const struct objfile *pre = unit->pre.obj, *post = unit->post.obj;

	for (size_t i = 0; i < post->secs.n; i++) {
		const struct objsec *sec = post->secs.items[i];
		int rc = check_nameless(diff, sec, objfile_section(pre, sec->name), err);

		if (rc)
			return rc;
	}
	for (size_t i = 0; i < pre->secs.n; i++) {
		const struct objsec *old = pre->secs.items[i];
		int rc =
			objfile_section(post, old->name) ? 0 : check_nameless(diff, NULL, old, err);

		if (rc)
			return rc;
	}
	return 0;
}
