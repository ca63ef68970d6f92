// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * vet.c - reasons to refuse: what a diff asks for that new code can't bring about in a process that
 * is running already
 *
 * Each check is one function with its own sentence. They run in two rounds: over the objects
 * before they are compared, and over the differences once it is known what would be carried. Those
 * that concern data are in vet_data.c.
 */

#include "create/vet/vet.h"

#include <string.h>

#include "arch/arch.h"
#include "base/text.h"
#include "create/tree/authors.h"
#include "create/unit/answer.h"
#include "create/unit/diff_unit.h"
#include "create/unit/equal.h"
#include "create/unit/report_warn.h"
#include "create/unit/srcloc.h"
#include "create/vet/vet_checks.h"
#include "create/vet/vet_collected.h"

static int vet_lto(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	const struct objsec *head = NULL;

	(void)diff;
	for (size_t i = 0; i < unit->post.obj->secs.n; i++)
		if (text_starts_with(unit->post.obj->secs.items[i]->name, ".gnu.lto_.lto."))
			head = unit->post.obj->secs.items[i];
	/* gcc's lto-streamer.h, struct lto_section: two 16-bit numbers, then the byte. */
	if (!head || !head->data || head->size <= 4 || !head->data[4])
		return 0;
	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "%s was compiled for link-time optimisation: its object holds no code",
		  unit->source);
	uspl_hint(err, "build with -fno-lto, if the running program was");
	return -USPL_E_UNSUPPORTED;
}

static int vet_compiler(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	const char *pre = side_compiler(&unit->pre), *post = side_compiler(&unit->post);

	(void)diff;
	if (!pre || !post || !strcmp(pre, post))
		return 0;
	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "%s was compiled by '%s' before the patch and by '%s' after it", unit->source,
		  pre, post);
	uspl_hint(err, "both builds must use the compiler of the running program");
	return -USPL_E_UNSUPPORTED;
}

/* gcc's functions within functions: a pointer to one leads to code that is made on the stack. */
static bool puts_code_on_stack(const struct objfile *obj)
{
	const struct objsec *note = obj ? objfile_section(obj, ".note.GNU-stack") : NULL;

	return note && (note->flags & SHF_EXECINSTR);
}

/* The process's stacks may be executed if any object was linked into it that asks for it. */
static int vet_stack(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	if (!puts_code_on_stack(unit->post.obj) || puts_code_on_stack(unit->pre.obj))
		return 0;
	for (size_t i = 0; i < diff->n_inputs; i++) {
		const char *path = diff->inputs[i].pre_obj;
		auto_objfile struct objfile *obj = NULL;
		int rc = path ? objfile_read_code(path, &obj, err) : 0;

		if (rc || puts_code_on_stack(obj))
			return rc;
	}
	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "%s: the patch takes the address of a function within a function, which is that "
		  "of code on the stack, and the process's stacks can't be executed",
		  unit->source);
	uspl_hint(err, "let it be a function outside, and hand it what it needs by a pointer");
	return -USPL_E_UNSUPPORTED;
}

/* Do two sections that nothing is known of yet refer to the same by name? */
static bool same_names(const struct objsec *one, const struct objsec *other)
{
	for (size_t i = 0; i < one->rels.n && one->rels.n == other->rels.n; i++) {
		const struct objrel *a = &one->rels.items[i], *b = &other->rels.items[i];

		if (a->offset != b->offset || a->addend != b->addend ||
		    strcmp(a->sym->sec && !*a->sym->name ? a->sym->sec->name : a->sym->name,
			   b->sym->sec && !*b->sym->name ? b->sym->sec->name : b->sym->name))
			return false;
	}
	return one->rels.n == other->rels.n;
}

/*
 * With -fsanitize=cfi pointers to functions lead into a table of jumps, and calls by pointer check
 * that they do. The process's table can't grow, and pointers that it has kept lead into no other.
 */
static int vet_jump_tables(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	static const char name[] = ".text..L.cfi.jumptable";

	(void)diff;
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i], *old;

		if (!text_starts_with(sec->name, name))
			continue;
		old = objfile_section(unit->pre.obj, sec->name);
		if (old && sec_same_bytes(old, sec) && same_names(old, sec))
			continue;
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "%s: the table of functions that pointers may lead to "
			  "(-fsanitize=cfi) changes",
			  unit->source);
		uspl_hint(err, "take no address of a function of which none was taken, and leave "
			       "the functions whose address is taken where they are");
		return -USPL_E_UNSUPPORTED;
	}
	return 0;
}

/* Code that belongs to no function: hand-written assembly without .type, or a top-level asm. */
static int vet_nameless_code(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i], *old;
		struct range a, b;

		if (secinfo_of(sec)->kind != SECINFO_CODE || secinfo_of(sec)->owner || !sec->size)
			continue;
		old = objfile_section(unit->pre.obj, sec->name);
		a = (struct range){ old, 0, old ? old->size : 0 };
		b = (struct range){ sec, 0, sec->size };
		if (old && equal_ranges(&a, &b, 0))
			continue;
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "%s: code in section '%s' changes that belongs to no function "
			  "(assembler?)",
			  unit->source, sec->name);
		uspl_hint(err, "leave it as it is, and put what is new into a function of C");
		return -USPL_E_UNSUPPORTED;
	}
	return 0;
}

static int refuse_start(const struct unit *unit, const struct objsec *sec, struct uspl_err *err)
{
	const struct objsym *runs = sec->rels.n ? sec->rels.items[0].sym : NULL;
	int rc;

	if (runs && runs->sec && sym_is_function(runs))
		rc = sym_refuse(runs, err, USPL_E_UNSUPPORTED,
				"what runs at the start or end of the program changes: '%s' "
				"(section '%s')",
				runs->name, sec->name);
	else
		rc = uspl_fail(err, USPL_E_UNSUPPORTED,
			       "%s: what runs at the start or end of the program changes "
			       "(section '%s')",
			       unit->source, sec->name);
	uspl_hint(err, "the start is over in a process that runs; do what is new at its first use, "
		       "or by a hook, and say USPL_ANSWERS(FUNCTION)");
	return rc;
}

static int vet_start_code(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	for (int way = 0; way < 2; way++) {
		const struct side *side = way ? &unit->pre : &unit->post,
				  *other = way ? &unit->post : &unit->pre;

		for (size_t i = 0; i < side->obj->secs.n; i++) {
			const struct objsec *sec = side->obj->secs.items[i], *twin;
			const struct objsym *runs = sec->rels.n ? sec->rels.items[0].sym : NULL;
			struct range a, b;

			if (secinfo_of(sec)->kind != SECINFO_START || !sec->size)
				continue;
			twin = objfile_section(other->obj, sec->name);
			a = (struct range){ way ? sec : twin, 0, sec->size };
			b = (struct range){ way ? twin : sec, 0, sec->size };
			if (twin && twin->size == sec->size && equal_ranges(&a, &b, 0))
				continue;
			/* An answer may stand for the function that a list of what runs names. */
			if (runs && runs->sec && sym_is_function(runs) &&
			    answer_given_for(diff, runs))
				continue;
			return refuse_start(unit, sec, err);
		}
	}
	return 0;
}

/* Calls that are followed from the lists of what runs at the start or end. */
enum { MAX_STEPS = 3 };

/*
 * Is this code reached only from what runs at the start or end of the program? Without optimisation
 * the constructors of a source are called by a function that is in the list.
 */
static bool runs_once(const struct unit *unit, const struct objsec *code, int steps)
{
	bool once = false;

	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		enum secinfo_kind kind = secinfo_of(sec)->kind;
		const struct objrel *rel;

		if (sec == code || kind == SECINFO_IGNORED || kind == SECINFO_UNWIND)
			continue;
		vec_for_each (&sec->rels, rel) {
			if (rel->sym->sec != code)
				continue;
			if (kind == SECINFO_START)
				return true;
			if (kind != SECINFO_CODE || secinfo_of(code)->owner->bind != STB_LOCAL ||
			    steps == MAX_STEPS || !runs_once(unit, sec, steps + 1))
				return false;
			once = true;
		}
	}
	return once;
}

/* Not a reason to refuse: the rest of the patch may be what counts. */
static int warn_of_past(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)err;
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct secinfo *secinfo = secinfo_of(sec);
		auto_buf struct buf place = { 0 };

		if (secinfo->kind != SECINFO_CODE || !secinfo->carried || !secinfo_twin(secinfo))
			continue;
		if (secinfo->owner->bind == STB_GLOBAL && !strcmp(secinfo->owner->name, "main"))
			report_warn(diff->report,
				    "%s: 'main' changes: it runs once, from start to end, and "
				    "can't be replaced meanwhile",
				    sec_srcloc(sec, &place));
		else if (runs_once(unit, sec, 0))
			report_warn(diff->report,
				    "%s: '%s' changes: it runs at the start or end of the program "
				    "only, and won't run again if it has",
				    sec_srcloc(sec, &place), sec_title(sec));
	}
	return 0;
}

static bool differs_by_itself(const struct objsec *sec, const struct objsym *sym)
{
	const struct objsym *twin = syminfo_of(sym)->twin;
	struct range a, b;

	if (sym->sec != sec || !sym_is_function(sym))
		return false;
	if (!twin || !twin->sec)
		return true;
	a = (struct range){ twin->sec, twin->value, twin->size };
	b = (struct range){ sec, sym->value, sym->size };
	return !equal_ranges(&a, &b, 0);
}

/* Of the functions that share a section the next one behind `from` that differs; NULL: none. */
static const struct objsym *next_changed(const struct objsec *sec, const struct objsym *from)
{
	const struct side *side = secinfo_of(sec)->side;
	const struct objsym *found = NULL;

	for (size_t i = 0; i < side->obj->syms.n; i++) {
		const struct objsym *sym = side->obj->syms.items[i];

		if ((!from || sym->value > from->value) && (!found || sym->value < found->value) &&
		    differs_by_itself(sec, sym))
			found = sym;
	}
	return found;
}

/* Refuses functions that share their section with others. */
static int refuse_shared(const struct objsec *sec, struct uspl_err *err)
{
	const struct objsym *first = next_changed(sec, NULL), *next = first;
	auto_buf struct buf names = { 0 };
	size_t n = 0;
	int rc;

	for (; next; next = next_changed(sec, next))
		buf_addf(&names, "%s'%s'", n++ ? ", " : "", next->name);
	if (first)
		rc = sym_refuse(first, err, USPL_E_UNSUPPORTED,
				n > 1 ? "%s change, but share their section '%s' with one another "
					"or with other functions"
				      : "%s changes, but shares its section '%s' with other "
					"functions",
				buf_str(&names), sec->name);
	else
		rc = sec_refuse(sec, err, USPL_E_UNSUPPORTED,
				"'%s' changes, but shares its section '%s' with other functions",
				sec_title(sec), sec->name);
	uspl_hint(err, "build with -ffunction-sections, and without a section attribute or "
		       "assembler here");
	return rc;
}

static int refuse_code(const struct objsec *sec, struct uspl_err *err)
{
	const struct secinfo *secinfo = secinfo_of(sec);
	const char *name = sec_title(sec);
	const struct objfile *obj = secinfo->side->obj;
	const struct objsym *indirect = NULL;
	int rc;

	if (secinfo->owner && secinfo->owner->value) {
		rc = sec_refuse(sec, err, USPL_E_UNSUPPORTED,
				"'%s' changes, but its section '%s' begins with something else",
				name, sec->name);
		uspl_hint(err, "build without assembler here");
		return rc;
	}
	if (secinfo->shared)
		return refuse_shared(sec, err);
	if (secinfo->opaque) {
		rc = sec_refuse(sec, err, USPL_E_UNSUPPORTED,
				"'%s' changes, but holds bytes that are no code", name);
		uspl_hint(err, "leave it as it is, and change the functions that call it");
		return rc;
	}
	/* The code may choose an indirect function. */
	for (size_t i = 0; !indirect && i < obj->syms.n; i++)
		if (obj->syms.items[i]->sec == sec && obj->syms.items[i]->type == STT_GNU_IFUNC)
			indirect = obj->syms.items[i];
	if (indirect && !syminfo_of(indirect)->twin) {
		rc = sec_refuse(sec, err, USPL_E_UNSUPPORTED,
				"'%s' is new, and an indirect function: nothing would run its "
				"resolver",
				indirect->name);
		uspl_hint(err, "call one that the program has, or choose by a condition");
		return rc;
	}
	if (indirect) {
		rc = sec_refuse(sec, err, USPL_E_UNSUPPORTED,
				"the resolver of the indirect function '%s' changes; it has run "
				"already",
				indirect->name);
		uspl_hint(err, "change the functions that it chooses from");
		return rc;
	}
	if (secinfo->is_cold && !secinfo->other)
		return sec_refuse(sec, err, USPL_E_UNSUPPORTED,
				  "'%s' changes, but its function isn't in the unit", name);
	return 0;
}

static int vet_code(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		int rc = 0;

		if (secinfo_of(sec)->kind == SECINFO_CODE && secinfo_of(sec)->carried)
			rc = refuse_code(sec, err);
		if (rc)
			return rc;
	}
	return 0;
}

static bool has_alias(const struct side *side, const struct objsec *sec, const char *name)
{
	for (size_t i = 0; i < side->obj->syms.n; i++) {
		const struct objsym *sym = side->obj->syms.items[i];

		if (sym->sec == sec && sym_is_function(sym) &&
		    !strcmp(syminfo_of(sym)->refname, name))
			return true;
	}
	return false;
}

/*
 * Every name of a redirected function leads to its one entry; a name that comes or goes would
 * lead elsewhere.
 */
static int vet_aliases(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i], *owner, *twin;

		if (!sym_is_function(sym) || !secinfo_of(sym->sec)->carried)
			continue;
		owner = secinfo_of(sym->sec)->owner;
		twin = syminfo_of(owner)->twin;
		if (sym == owner || !twin ||
		    has_alias(&syminfo_of(twin)->unit->pre, twin->sec, syminfo_of(sym)->refname))
			continue;
		sym_refuse(sym, err, USPL_E_UNSUPPORTED,
			   "'%s' becomes another name of '%s', which changes", sym->name,
			   owner->name);
		uspl_hint(err, "make it a function of its own that calls '%s'", owner->name);
		return -USPL_E_UNSUPPORTED;
	}
	return 0;
}

static int vet_relocations(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct objsec *sec = unit->post.obj->secs.items[i];
		const struct objrel *rel;

		if (!secinfo_of(sec)->carried)
			continue;
		vec_for_each (&sec->rels, rel) {
			const struct reloc_info *info = arch_native()->reloc(rel->type);

			if (info->kind == RELOC_UNSUPPORTED)
				return sec_refuse(
					sec, err, USPL_E_UNSUPPORTED,
					"'%s' refers to '%s' by the unsupported relocation %s",
					sec_title(sec),
					rel->sym->sec && !*rel->sym->name ? rel->sym->sec->name
									  : rel->sym->name,
					info->name);
		}
	}
	return 0;
}

/* A check, and where the author of a patch reads on that it refuses. */
struct check {
	vet_fn fn;
	const char *page;
};

static int run(const struct check *checks, size_t n, const struct diff *diff, struct uspl_err *err)
{
	for (size_t i = 0; i < diff->n; i++) {
		for (size_t j = 0; j < n; j++) {
			int rc = checks[j].fn(diff, &diff->units[i], err);

			if (rc)
				return authors_say(rc, err, checks[j].page);
		}
		unit_close_dbginfo(&diff->units[i]);
	}
	return 0;
}

int vet_objects(const struct diff *diff, struct uspl_err *err)
{
	static const struct check checks[] = {
		{ vet_lto, AUTHORS_CODE },
		{ vet_compiler, AUTHORS_BUILD },
		{ vet_stack, AUTHORS_CODE },
		{ vet_jump_tables, AUTHORS_CODE },
		{ vet_thread_variables, AUTHORS_VARIABLES },
	};

	return run(checks, ARRAY_SIZE(checks), diff, err);
}

int vet_changes(const struct diff *diff, struct uspl_err *err)
{
	static const struct check checks[] = {
		{ warn_of_past, NULL },
		{ vet_exports, AUTHORS_NAMES },
		{ vet_warn_lookups, NULL },
		{ vet_nameless_code, AUTHORS_CODE },
		{ vet_constructed_data, AUTHORS_START },
		{ vet_start_code, AUTHORS_START },
		{ vet_indirect, AUTHORS_CODE },
		{ vet_code, AUTHORS_CODE },
		{ vet_names, AUTHORS_NAMES },
		{ vet_aliases, AUTHORS_NAMES },
		{ vet_virtual_functions, AUTHORS_CLASSES },
		{ vet_numbered_statics, AUTHORS_WHICH },
		{ vet_collected, AUTHORS_TABLES },
		{ vet_data, AUTHORS_VARIABLES },
		{ vet_storage, AUTHORS_VARIABLES },
		{ vet_guards, AUTHORS_START },
		{ vet_replaced_tables, AUTHORS_CONSTANTS },
		{ vet_collected_nameless, AUTHORS_TABLES },
		{ vet_new_data, AUTHORS_CODE },
		{ vet_local_classes, AUTHORS_WHICH },
		{ vet_coroutines, AUTHORS_PLACES },
		{ vet_moved_data, AUTHORS_WHICH },
		{ vet_own_variables, AUTHORS_WHICH },
		{ vet_shared_data, AUTHORS_WHICH },
		{ vet_relocations, AUTHORS_CODE },
		{ vet_renamed_data, AUTHORS_WHICH },
		{ vet_seeds, AUTHORS_CONSTANTS },
		{ vet_thread_start, AUTHORS_START },
		{ vet_warn_signatures, NULL },
		{ vet_warn_classes, NULL },
		{ vet_blocks, AUTHORS_WHICH },
		{ vet_labels, AUTHORS_PLACES },
		{ vet_warn_addresses, NULL },
		{ vet_warn_enumerators, NULL },
		{ vet_warn_initialised, NULL },
	};

	int rc = vet_types(diff, err);

	if (rc)
		return authors_say(rc, err, AUTHORS_LAYOUTS);
	rc = vet_bindings(diff, err);
	if (rc)
		return authors_say(rc, err, AUTHORS_NAMES);
	return run(checks, ARRAY_SIZE(checks), diff, err);
}
