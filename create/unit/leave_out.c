// SPDX-License-Identifier: GPL-3.0-or-later
// leave_out.c - what a unit's object defines, but the program doesn't have from it
//
// The linker's rules (gABI, "Symbol Table"): a strong definition comes before a weak one, a common
// symbol too; of several weak ones the first counts. Inline functions and templates of C++ are in
// groups, of which one is kept, and all are the same: they are left to the differ, which knows them
// by their groups. But a strong definition comes before these, too.

#include "create/unit/leave_out.h"

#include <string.h>

#include "base/log.h"
#include "create/unit/diff_unit.h"
#include "objfile/refname.h"

struct winner {
	size_t index; /* of the unit */
	bool weak;
};

static bool is_global_definition(const struct objsym *sym)
{
	return sym->bind != STB_LOCAL && sym->name[0] && (sym->sec || sym->shndx == SHN_COMMON);
}

static bool is_weak(const struct objsym *sym)
{
	return sym->bind == STB_WEAK;
}

static int note_definition(struct strmap *winners, const struct objsym *sym, size_t index,
			   struct uspl_err *err)
{
	struct winner *winner = strmap_get(winners, sym->name);

	if (winner && (!winner->weak || is_weak(sym)))
		return 0;
	if (!winner) {
		winner = calloc(1, sizeof(*winner));
		if (!winner || !strmap_set(winners, sym->name, winner)) {
			free(winner);
			return uspl_fail_nomem(err);
		}
	}
	*winner = (struct winner){ index, is_weak(sym) };
	return 0;
}

static int find_winners(struct leave_out *state, bool post, struct uspl_err *err)
{
	struct strmap *winners = &state->sides[post].winners;

	if (state->sides[post].known)
		return 0;
	for (size_t i = 0; i < state->n; i++) {
		const char *path = post ? state->units[i].post_obj : state->units[i].pre_obj;
		auto_objfile struct objfile *obj = NULL;
		int rc = path ? objfile_read_code(path, &obj, err) : 0;

		if (rc)
			return rc;
		for (size_t j = 0; obj && j < obj->syms.n; j++) {
			if (is_global_definition(obj->syms.items[j]))
				rc = note_definition(winners, obj->syms.items[j], i, err);
			if (rc)
				return rc;
		}
	}
	state->sides[post].known = true;
	return 0;
}

static bool may_be_overridden(const struct objsym *sym)
{
	return is_global_definition(sym) && is_weak(sym);
}

/* Functions and variables; the linker's table has no others. */
static bool has_place(const struct objsym *sym)
{
	switch (sym->type) {
	case STT_FUNC:
	case STT_OBJECT:
	case STT_TLS:
	case STT_GNU_IFUNC:
		return sym->name[0] && strncmp(sym->name, ".L", 2) &&
		       (sym->sec ? (sym->sec->flags & SHF_ALLOC) != 0 : sym->shndx == SHN_COMMON);
	default:
		return false;
	}
}

/* One object, and which of its definitions are left out. */
struct dropping {
	struct objfile *obj;
	bool *out;  /* by the place of a symbol */
	bool *kept; /* by the place of a section, which is its mark: something in it is kept */
};

static void find_kept(struct dropping *drop)
{
	for (size_t i = 0; i < drop->obj->syms.n; i++) {
		const struct objsym *sym = drop->obj->syms.items[i];

		if (sym->sec && has_place(sym) && !drop->out[i])
			drop->kept[sym->sec->mark] = true;
	}
}

/* Keeps everything of a section after all. */
static bool keep_section(struct dropping *drop, const struct objsec *sec)
{
	bool any = false;

	for (size_t i = 0; i < drop->obj->syms.n; i++) {
		if (drop->obj->syms.items[i]->sec != sec || !drop->out[i])
			continue;
		drop->out[i] = false;
		any = drop->kept[sec->mark] = true;
	}
	return any;
}

/*
 * What something in the program refers to can't be missing: a table that lacks its name was
 * thinned out (strip -N).
 */
static void keep_referred(struct dropping *drop)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < drop->obj->secs.n; i++) {
			const struct objsec *sec = drop->obj->secs.items[i];
			const struct objrel *rel;

			if (!drop->kept[i])
				continue;
			vec_for_each (&sec->rels, rel)
				if (rel->sym && rel->sym->sec && rel->sym->sec != sec)
					more |= keep_section(drop, rel->sym->sec);
		}
	}
}

/* Sections of which no name is left hold nothing that the program has. */
static void take_out(struct dropping *drop, const char *source)
{
	for (size_t i = 0; i < drop->obj->syms.n; i++) {
		struct objsym *sym = drop->obj->syms.items[i];
		struct objsec *sec = sym->sec;

		if (!drop->out[i])
			continue;
		log_debug("create", "%s: '%s' isn't in the program", source, sym->name);
		sym->sec = NULL;
		sym->shndx = SHN_UNDEF;
		sym->value = 0;
		/*
		 * A weak one may be nowhere; this one is somewhere, or the program wouldn't link.
		 */
		if (sym->bind == STB_WEAK)
			sym->bind = STB_GLOBAL;
		if (!sec || drop->kept[sec->mark])
			continue;
		sec->flags &= ~(uint64_t)SHF_ALLOC;
		vec_release(&sec->rels);
	}
}

/* What another unit's definition overrides. */
static void drop_overridden(const struct leave_out *state, size_t index, bool post,
			    struct dropping *drop)
{
	for (size_t i = 0; i < drop->obj->syms.n; i++) {
		const struct objsym *sym = drop->obj->syms.items[i];
		const struct winner *winner =
			may_be_overridden(sym) ? strmap_get(&state->sides[post].winners, sym->name)
					       : NULL;
		size_t len = strlen(sym->name);

		if (!winner || winner->index == index ||
		    (winner->weak && sym->sec && sym->sec->group_sig))
			continue;
		drop->out[i] = true;
		if (sym->type != STT_FUNC)
			continue;
		/* A part that lies apart (f.cold) goes with its function. */
		for (size_t j = 0; j < drop->obj->syms.n; j++) {
			const struct objsym *part = drop->obj->syms.items[j];

			drop->out[j] |= part->bind == STB_LOCAL && part->sec &&
					!strncmp(part->name, sym->name, len) &&
					!strncmp(part->name + len, ".cold", strlen(".cold"));
		}
	}
}

/* What the linker left out. */
static int drop_missing(const struct leave_out *state, size_t index, struct dropping *drop,
			struct uspl_err *err)
{
	for (size_t i = 0; i < drop->obj->syms.n; i++) {
		const struct objsym *sym = drop->obj->syms.items[i];
		auto_free char *local = NULL;

		if (!has_place(sym))
			continue;
		if (sym->bind == STB_LOCAL) {
			local = refname_local(state->units[index].source, sym->name);
			if (!local)
				return uspl_fail_nomem(err);
		}
		drop->out[i] = linked_lacks(state->linked, sym, local ? local : sym->name);
	}
	find_kept(drop);
	keep_referred(drop);
	take_out(drop, state->units[index].source);
	return 0;
}

static int drop(struct leave_out *state, size_t index, bool post, struct objfile *obj,
		struct uspl_err *err)
{
	auto_free bool *out = calloc(obj->syms.n + 1, sizeof(*out));
	auto_free bool *kept = calloc(obj->secs.n + 1, sizeof(*kept));
	struct dropping drop = { obj, out, kept };
	int rc = 0;

	if (!out || !kept)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < obj->secs.n; i++)
		obj->secs.items[i]->mark = (uint32_t)i;
	drop_overridden(state, index, post, &drop);
	find_kept(&drop);
	take_out(&drop, state->units[index].source);
	memset(out, 0, obj->syms.n * sizeof(*out));
	memset(kept, 0, obj->secs.n * sizeof(*kept));
	if (!post && state->linked)
		rc = drop_missing(state, index, &drop, err);
	for (size_t i = 0; i < obj->secs.n; i++)
		obj->secs.items[i]->mark = 0;
	return rc;
}

int leave_out_absent(struct leave_out *state, size_t index, bool post, struct objfile *obj,
		     struct uspl_err *err)
{
	bool weak = false;
	int rc = 0;

	for (size_t i = 0; i < obj->syms.n; i++)
		weak |= may_be_overridden(obj->syms.items[i]);
	if (weak) {
		rc = find_winners(state, post, err);
		if (rc)
			return rc;
	}
	return drop(state, index, post, obj, err);
}

int leave_out_definer(struct leave_out *state, const char *name, size_t *ret, struct uspl_err *err)
{
	const struct winner *winner;
	int rc = find_winners(state, true, err);

	winner = rc ? NULL : strmap_get(&state->sides[true].winners, name);
	*ret = winner ? winner->index : state->n;
	return rc;
}

void leave_out_release(struct leave_out *state)
{
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < state->sides[side].winners.cap; i++)
			free(state->sides[side].winners.slots[i].value);
		strmap_release(&state->sides[side].winners);
	}
}
