// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * nameless.c - the nameless types of a unit, and the names that its symbols go by
 *
 * Types within types, a lambda within a lambda, have the outer one's number in their names. So they
 * are paired from the outside to the inside, and a type of the build after the patch is looked for
 * under the names that the types around it had before. In the end each symbol that is named after
 * such types gets the name that the same types had before.
 */

#include "base/buf.h"
#include "base/text.h"
#include "create/unit/nameless.h"
#include "create/unit/report_warn.h"

#include <stdlib.h>
#include <string.h>

/* ---- the types that symbols are named after ---- */

static void list_release(struct nameless_list *list)
{
	struct nameless_type **type;

	vec_for_each (&list->types, type) {
		free((*type)->text);
		free((*type)->family);
		vec_release(&(*type)->code);
		vec_release(&(*type)->data);
		vec_release(&(*type)->lines);
		vec_release(&(*type)->own);
		free(*type);
	}
	vec_release(&list->types);
	strmap_release(&list->by_text);
}

void nameless_free(struct nameless *nameless)
{
	if (!nameless)
		return;
	list_release(&nameless->pre);
	list_release(&nameless->post);
	free(nameless);
}

/* The type that a token ends, made if it isn't in the list; NULL when out of memory. */
static struct nameless_type *get_type(struct nameless_list *list, const char *text,
				      const struct nameless_token *token)
{
	auto_free char *key = strndup(text + token->start, token->end - token->start);
	struct nameless_type *type = key ? strmap_get(&list->by_text, key) : NULL;
	struct nameless_type **slot;
	auto_tokens nameless_tokens tokens = { 0 };

	if (type || !key)
		return type;
	type = calloc(1, sizeof(*type));
	slot = type ? vec_push(&list->types) : NULL;
	if (!slot) {
		free(type);
		return NULL;
	}
	*slot = type;
	type->text = take_ptr(key);
	if (!nameless_find(type->text, &tokens) || !strmap_set(&list->by_text, type->text, type))
		return NULL;
	type->depth = tokens.n;
	return type;
}

static bool is_listed(const struct objsym *sym)
{
	return sym->sec && sym->type != STT_SECTION && nameless_is_in(sym->name);
}

/* Takes the types that a symbol is named after into the list; the symbol too, if it is one type. */
static bool list_symbol(struct nameless_list *list, struct objsym *sym)
{
	auto_tokens nameless_tokens tokens = { 0 };
	auto_free char *text = nameless_demangle(sym->name);
	struct nameless_type *only = NULL;
	struct nameless_token *token;
	struct objsym **slot;
	bool several = false;

	if (!text || !nameless_find(text, &tokens))
		return false;
	vec_for_each (&tokens, token) {
		struct nameless_type *type = get_type(list, text, token);

		if (!type)
			return false;
		if (!nameless_is_whole(&tokens, token))
			continue;
		several |= only && only != type;
		only = type;
	}
	if (!only || several || (!sym_is_function(sym) && !sym_is_variable(sym)))
		return true;
	slot = vec_push(sym_is_function(sym) ? &only->code : &only->data);
	if (slot)
		*slot = sym;
	return slot;
}

static int list_types(const struct side *side, struct nameless_list *list, struct uspl_err *err)
{
	for (size_t i = 0; i < side->obj->syms.n; i++)
		if (is_listed(side->obj->syms.items[i]) &&
		    !list_symbol(list, side->obj->syms.items[i]))
			return uspl_fail_nomem(err);
	return 0;
}

/* ---- families ---- */

/*
 * Appends the first `to` bytes of a name of the build after the patch with the types' names of
 * before. False if one is new.
 */
static bool add_translated(const struct nameless_list *list, const char *text, size_t to,
			   struct buf *ret)
{
	auto_tokens nameless_tokens tokens = { 0 };
	auto_free char *part = strndup(text, to);
	struct nameless_token *token;
	bool known = true;
	size_t at = 0;

	if (!part || !nameless_find(part, &tokens)) {
		ret->oom = true;
		return false;
	}
	vec_for_each (&tokens, token) {
		auto_free char *key = NULL;
		const struct nameless_type *type;

		if (!nameless_is_whole(&tokens, token) || token->start < at)
			continue;
		key = strndup(part + token->start, token->end - token->start);
		type = key ? strmap_get(&list->by_text, key) : NULL;
		known = known && type && type->twin;
		buf_add(ret, part + at, token->start - at);
		buf_addstr(ret, type && type->twin ? type->twin->text : "~");
		at = token->end;
	}
	buf_addstr(ret, part + at);
	return known;
}

/* Sets the family: what is before the number, as it was called before the patch, and behind it. */
static int set_family(const struct nameless_list *list, struct nameless_type *type, bool pre,
		      struct uspl_err *err)
{
	auto_tokens nameless_tokens tokens = { 0 };
	const struct nameless_token *own;
	auto_buf struct buf family = { 0 };
	size_t stem;

	if (!nameless_find(type->text, &tokens))
		return uspl_fail_nomem(err);
	/* The one that ends the text; those of a lambda's parameters come after it. */
	own = &tokens.items[0];
	for (size_t i = 1; i < tokens.n; i++)
		if (tokens.items[i].end > own->end)
			own = &tokens.items[i];
	stem = own->number;
	while (stem && type->text[stem - 1] != '{' && type->text[stem - 1] != '$' &&
	       !text_starts_with(type->text + stem, "._anon_"))
		stem--;
	if (pre)
		buf_add(&family, type->text, stem);
	else
		add_translated(list, type->text, stem, &family);
	buf_add(&family, type->text + stem, own->number - stem);
	buf_addstr(&family,
		   type->text + own->number + strspn(type->text + own->number, "0123456789"));
	free(type->family);
	type->family = buf_take(&family);
	return type->family ? 0 : uspl_fail_nomem(err);
}

static bool pick(const struct nameless_list *list, const struct nameless_type *like,
		 nameless_vec *ret)
{
	struct nameless_type **type;

	vec_for_each (&list->types, type) {
		struct nameless_type **slot;

		if ((*type)->depth != like->depth || strcmp((*type)->family, like->family))
			continue;
		slot = vec_push(ret);
		if (!slot)
			return false;
		*slot = *type;
	}
	return true;
}

DEFINE_AUTO_RELEASE(nameless_vec, nameless_vec, vec_release)
#define auto_nameless_vec __attribute__((cleanup(cleanup_nameless_vec_)))

/* Pairs all types of one depth. */
static int match_depth(struct unit *unit, size_t depth, struct uspl_err *err)
{
	struct nameless *nameless = unit->nameless;
	auto_strmap struct strmap done = { 0 };
	struct nameless_type **type;
	int rc;

	vec_for_each (&nameless->post.types, type) {
		if ((*type)->depth != depth)
			continue;
		rc = set_family(&nameless->post, *type, false, err);
		if (rc)
			return rc;
	}
	vec_for_each (&nameless->post.types, type) {
		auto_nameless_vec nameless_vec pre = { 0 }, post = { 0 };

		if ((*type)->depth != depth || strmap_get(&done, (*type)->family))
			continue;
		if (!strmap_set(&done, (*type)->family, *type) ||
		    !pick(&nameless->pre, *type, &pre) || !pick(&nameless->post, *type, &post))
			return uspl_fail_nomem(err);
		rc = nameless_match(unit, &pre, &post, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int match_all(struct unit *unit, struct uspl_err *err)
{
	struct nameless *nameless = unit->nameless;
	struct nameless_type **type;
	size_t deepest = 0;
	int rc;

	vec_for_each (&nameless->pre.types, type) {
		rc = set_family(&nameless->pre, *type, true, err);
		if (rc)
			return rc;
	}
	vec_for_each (&nameless->post.types, type) {
		deepest = (*type)->depth > deepest ? (*type)->depth : deepest;
		(*type)->family = strdup("");
		if (!(*type)->family)
			return uspl_fail_nomem(err);
	}
	for (size_t depth = 1; depth <= deepest; depth++) {
		rc = match_depth(unit, depth, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- the names of symbols ---- */

/*
 * What tells the symbol from all others but for numbers: how it reads, and what it is written with.
 */
static char *key_of(const char *text, const char *stem)
{
	struct buf key = { 0 };

	buf_addf(&key, "%s|", text);
	nameless_add_bare(stem, &key);
	return buf_take(&key);
}

/* "_ZN...clEv.constprop.0" -> "_ZN...clEv" */
static char *stem_of(const char *name)
{
	return strndup(name, nameless_stem_len(name));
}

/* Notes the stems of all symbols before the patch that are named after nameless types, by key. */
static int collect_stems(const struct side *pre, struct strmap *by_key, struct strmap *stems,
			 struct uspl_err *err)
{
	for (size_t i = 0; i < pre->obj->syms.n; i++) {
		const struct objsym *sym = pre->obj->syms.items[i];
		auto_free char *text = NULL, *stem = NULL, *key = NULL;
		const char *kept;

		if (!is_listed(sym))
			continue;
		text = nameless_demangle(sym->name);
		stem = stem_of(sym->name);
		key = text && stem ? key_of(text, stem) : NULL;
		kept = key ? objfile_strdup(pre->obj, stem) : NULL;
		if (!kept || !strmap_set(by_key, key, (void *)kept) ||
		    !strmap_set(stems, stem, (void *)kept))
			return uspl_fail_nomem(err);
	}
	return 0;
}

static int set_alias(const struct unit *unit, struct objsym *sym, const struct strmap *by_key,
		     const struct strmap *stems, struct uspl_err *err)
{
	auto_free char *text = nameless_demangle(sym->name), *stem = stem_of(sym->name);
	auto_free char *key = NULL;
	auto_buf struct buf translated = { 0 }, alias = { 0 };
	const char *old = NULL;
	bool known;

	if (!text || !stem)
		return uspl_fail_nomem(err);
	known = add_translated(&unit->nameless->post, text, strlen(text), &translated);
	if (known) {
		key = key_of(buf_str(&translated), stem);
		old = key ? strmap_get(by_key, key) : NULL;
	}
	if (translated.oom || (known && !key))
		return uspl_fail_nomem(err);
	/* A new one must not pass for the one that had its number. */
	if (!old && !strmap_get(stems, stem))
		return 0;
	buf_addf(&alias, "%s%s%s", old ? old : stem, old ? "" : "~", sym->name + strlen(stem));
	syminfo_of(sym)->alias = alias.oom ? NULL : objfile_strdup(unit->post.obj, buf_str(&alias));
	return syminfo_of(sym)->alias ? 0 : uspl_fail_nomem(err);
}

int nameless_pair(const struct diff *diff, struct unit *unit, struct uspl_err *err)
{
	struct nameless *nameless = unit->nameless = calloc(1, sizeof(*nameless));
	auto_strmap struct strmap by_key = { 0 }, stems = { 0 };
	int rc;

	if (!nameless)
		return uspl_fail_nomem(err);
	nameless->patched = diff->report ? diff->report->patched : NULL;
	rc = list_types(&unit->pre, &nameless->pre, err);
	if (rc)
		return rc;
	rc = list_types(&unit->post, &nameless->post, err);
	if (rc || !nameless->pre.types.n || !nameless->post.types.n)
		return rc;
	rc = nameless_look_up(&unit->pre, &nameless->pre, err);
	if (rc)
		return rc;
	rc = nameless_look_up(&unit->post, &nameless->post, err);
	if (rc)
		return rc;
	rc = match_all(unit, err);
	if (rc)
		return rc;
	rc = collect_stems(&unit->pre, &by_key, &stems, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		if (!is_listed(unit->post.obj->syms.items[i]))
			continue;
		rc = set_alias(unit, unit->post.obj->syms.items[i], &by_key, &stems, err);
		if (rc)
			return rc;
	}
	return 0;
}
