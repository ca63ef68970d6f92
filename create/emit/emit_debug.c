// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * emit_debug.c - the debugging information of an update's new code
 *
 * The compiler has written it for whole units. Their sections of one name are put together, one
 * behind the other, as a linker does it: what refers from one to another does so by relocations,
 * which count on. A reference to code goes by new.o's copy of its section, and to a variable of the
 * program by its name there, by which whoever links the information finds its place.
 *
 * Code that the update doesn't have stays described, and lies nowhere: references to it become
 * zero, as those to code that a linker has left out. In two kinds of sections two zeros would end a
 * list; there it is one, so that both ends of a range are the same.
 */

#include "create/emit/emit_debug.h"

#include <string.h>

#include "arch/arch.h"
#include "base/buf.h"
#include "base/strmap.h"
#include "create/emit/debug_lines.h"
#include "create/unit/report_warn.h"
#include "create/unit/srcloc.h"
#include "create/unit/unit.h"
#include "update/update.h"

/* What debuggers make for themselves where it is missing (indexes, ranges of units) isn't taken. */
static const char *const kinds[] = {
	".debug_info",     ".debug_abbrev", ".debug_line",     ".debug_line_str",
	".debug_str",      ".debug_addr",   ".debug_ranges",   ".debug_str_offsets",
	".debug_rnglists", ".debug_loc",    ".debug_loclists", ".debug_macro",
};

/* A section of the result while it grows. */
struct grown {
	struct objsec *sec;
	struct buf bytes;
};

struct emitter {
	struct objfile *out;
	const struct objfile *new_code; /* its sections are the first ones of out */
	struct strmap symbols;          /* of out, by name */
	struct grown sections[ARRAY_SIZE(kinds)];
	struct report *report;
	struct uspl_err *err;
};

/* A section of a unit in the result; NULL: the update doesn't have it. */
static struct objsec *copy_of(const struct emitter *em, const struct objsec *sec)
{
	const struct objsec *copy = secinfo_of(sec)->copy;

	/* It was written, and read again. */
	return copy && copy->index && copy->index <= em->new_code->secs.n
		       ? em->out->secs.items[copy->index - 1]
		       : NULL;
}

static bool brings_code(const struct emitter *em, const struct unit *unit)
{
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];

		if (secinfo_of(sec)->kind == SECINFO_CODE && copy_of(em, sec))
			return true;
	}
	return false;
}

/*
 * What a reference of the unit means in the result: *sym and *addend, which are the file's at
 * first. False: nothing.
 */
static bool find_meaning(const struct emitter *em, struct objsym **sym, int64_t *addend)
{
	const struct objsec *in_file = (*sym)->sec, *sec = in_file ? in_file->priv : NULL;
	const char *name = in_file ? NULL : (*sym)->name;

	if (sec && objsec_is_debug(in_file)) {
		*addend += (int64_t)((*sym)->value + in_file->mark);
		*sym = sec->secsym;
		return true;
	}
	if (sec && copy_of(em, sec)) {
		*addend += (int64_t)(*sym)->value - (int64_t)secinfo_of(sec)->front;
		*sym = copy_of(em, sec)->secsym;
		return *sym != NULL;
	}
	if (sec && !secinfo_of(sec)->shared && secinfo_of(sec)->owner &&
	    sym_is_variable(secinfo_of(sec)->owner)) {
		*addend += (int64_t)(*sym)->value;
		name = syminfo_of(secinfo_of(sec)->owner)->refname;
	}
	*sym = name && *name ? strmap_get(&em->symbols, name) : NULL;
	return *sym != NULL;
}

static int add_relocation(struct emitter *em, struct grown *grown, uint64_t base,
			  const struct objrel *rel)
{
	const struct reloc_info *info = arch_native()->reloc(rel->type);
	bool ends_list = !strcmp(grown->sec->name, ".debug_ranges") ||
			 !strcmp(grown->sec->name, ".debug_loc");
	uint64_t at = base + rel->offset, nothing = ends_list;
	struct objrel made = *rel;
	struct objrel *added;

	if (info->kind == RELOC_NONE)
		return 0;
	if (rel->offset > grown->bytes.len - base || info->size > grown->bytes.len - at)
		return uspl_fail(em->err, USPL_E_FILE, "a relocation of '%s' lies outside it",
				 grown->sec->name);
	/* Thread-local variables have no place that a file could say. */
	if (info->kind != RELOC_ABS || !rel->sym || !find_meaning(em, &made.sym, &made.addend)) {
		memcpy(grown->bytes.data + at, &nothing, info->size);
		return 0;
	}
	added = vec_push(&grown->sec->rels);
	if (!added)
		return uspl_fail_nomem(em->err);
	*added = made;
	added->offset = at;
	return 0;
}

/* Appends a section of the unit's file; its priv and mark say where that is. */
static int add_section(struct emitter *em, struct objsec *sec)
{
	struct grown *grown = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(kinds) && !grown; i++)
		if (!strcmp(sec->name, kinds[i]) && sec->data && !(sec->flags & SHF_COMPRESSED))
			grown = &em->sections[i];
	if (!grown)
		return 0;
	if (!grown->sec) {
		grown->sec = objfile_add_section(em->out, sec->name, sec->type, 0);
		if (grown->sec)
			grown->sec->secsym =
				objfile_add_symbol(em->out, "", STT_SECTION, STB_LOCAL);
		if (!grown->sec || !grown->sec->secsym)
			return uspl_fail_nomem(em->err);
		grown->sec->secsym->sec = grown->sec;
		grown->sec->align = 1;
	}
	if (grown->bytes.len + sec->size > INT32_MAX)
		return uspl_fail(em->err, USPL_E_UNSUPPORTED,
				 "the debugging information has more than 2 GiB");
	sec->priv = grown->sec;
	sec->mark = (uint32_t)grown->bytes.len;
	buf_add(&grown->bytes, sec->data, sec->size);
	return grown->bytes.oom ? uspl_fail_nomem(em->err) : 0;
}

/*
 * Each section of the file gets what stands for it as its priv: the one of the result that it is
 * appended to or, of code and data, the unit's as the steps before have it.
 */
static int find_sections(struct emitter *em, const struct unit *unit, struct objfile *file)
{
	size_t n = file->secs.n ? file->secs.items[file->secs.n - 1]->index + 1 : 0;
	auto_free struct objsec **by_index = calloc(n + 1, sizeof(struct objsec *));

	if (!by_index)
		return uspl_fail_nomem(em->err);
	/* Those that were made of parts of others come behind these, and aren't looked for. */
	for (size_t i = unit->post.obj->secs.n; i > 0; i--)
		if (unit->post.obj->secs.items[i - 1]->index < n)
			by_index[unit->post.obj->secs.items[i - 1]->index] =
				unit->post.obj->secs.items[i - 1];
	for (size_t i = 0; i < file->secs.n; i++) {
		struct objsec *sec = file->secs.items[i];
		int rc = objsec_is_debug(sec) ? add_section(em, sec) : 0;

		if (rc)
			return rc;
		if (!objsec_is_debug(sec))
			sec->priv = by_index[sec->index];
	}
	return 0;
}

static int add_unit(struct emitter *em, struct unit *unit)
{
	auto_objfile struct objfile *file = NULL;
	struct dbginfo *dbg = side_dbginfo(&unit->post);
	char **tree = &em->report->debug_tree;
	int rc = objfile_read(unit->post.path, &file, em->err);

	if (rc)
		return rc;
	/* Without its '/' at the end. */
	if (dbg && !*tree && *dbginfo_root(dbg) == '/' && dbginfo_root(dbg)[1]) {
		*tree = strndup(dbginfo_root(dbg), strlen(dbginfo_root(dbg)) - 1);
		if (!*tree)
			return uspl_fail_nomem(em->err);
	}
	rc = dbg ? debug_lines_restore(dbg, &em->report->map, file, em->err) : 0;
	if (rc)
		return rc;
	rc = find_sections(em, unit, file);
	if (rc)
		return rc;
	for (size_t i = 0; i < file->secs.n; i++) {
		const struct objsec *sec = file->secs.items[i];
		struct grown *grown = em->sections;
		const struct objrel *rel;

		if (!sec->priv || !objsec_is_debug(sec))
			continue;
		while (grown->sec != sec->priv)
			grown++;
		vec_for_each (&sec->rels, rel) {
			rc = add_relocation(em, grown, sec->mark, rel);
			if (rc)
				return rc;
		}
	}
	return 0;
}

static int fill(struct emitter *em, const struct diff *diff)
{
	bool any = false;

	for (size_t i = 0; i < em->out->syms.n; i++) {
		struct objsym *sym = em->out->syms.items[i];

		if (sym->name[0] && !strmap_set(&em->symbols, sym->name, sym))
			return uspl_fail_nomem(em->err);
	}
	for (size_t i = 0; i < diff->n; i++) {
		struct unit *unit = &diff->units[i];
		int rc;

		if (unit->optimised || !unit->post.path || !brings_code(em, unit))
			continue;
		any = true;
		rc = add_unit(em, unit);
		unit_close_dbginfo(unit);
		if (rc)
			return rc;
	}
	if (!any)
		report_warn(em->report,
			    "the new code of '%s' has no debugging information that can be kept: "
			    "it was made by link-time optimisation",
			    diff->target->name);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct grown *grown = &em->sections[i];

		if (!grown->sec)
			continue;
		grown->sec->size = grown->bytes.len;
		grown->sec->data =
			objfile_memdup(em->out, buf_str(&grown->bytes), grown->bytes.len);
		if (!grown->sec->data)
			return uspl_fail_nomem(em->err);
		buf_release(&grown->bytes);
	}
	return 0;
}

int emit_debug(const struct diff *diff, struct update_target *target, struct uspl_err *err)
{
	struct emitter em = {
		.new_code = target->new_code,
		.report = diff->report,
		.err = err,
	};
	auto_objfile struct objfile *out = NULL;
	auto_buf struct buf bytes = { 0 };
	int rc = objfile_write(target->new_code, &bytes, err);

	if (rc)
		return rc;
	rc = objfile_read_memory("debug.o", bytes.data, bytes.len, &out, err);
	if (rc)
		return rc;
	em.out = out;
	rc = fill(&em, diff);
	strmap_release(&em.symbols);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		buf_release(&em.sections[i].bytes);
	if (rc)
		return rc;
	target->debug = take_ptr(out);
	return 0;
}
