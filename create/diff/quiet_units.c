// SPDX-License-Identifier: GPL-3.0-or-later
// quiet_units.c - units whose objects differ, but not in what a program has of them
//
// All sections are compared but those of debugging information, and all symbols, in their order.
// What two symbols of one name are is known without debugging information, with one exception: the
// types without a name, which are numbered. A unit with one in its symbols is never quiet.

#include "create/diff/quiet_units.h"

#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "create/unit/diff_unit.h"
#include "create/unit/nameless.h"
#include "create/unit/normalise.h"

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* The place of a section among those that are compared; 0: none. */
static uint32_t place_of(const struct objsec *sec)
{
	return sec ? sec->mark : 0;
}

static bool same_symbol(const struct objsym *a, const struct objsym *b)
{
	return !strcmp(a->name, b->name) && a->type == b->type && a->bind == b->bind &&
	       a->vis == b->vis && a->value == b->value && a->size == b->size &&
	       !a->sec == !b->sec && (a->sec || a->shndx == b->shndx) &&
	       place_of(a->sec) == place_of(b->sec) && same_text(a->file, b->file);
}

static size_t next_symbol(const struct objfile *obj, size_t i)
{
	while (i < obj->syms.n && obj->syms.items[i]->sec &&
	       objsec_is_debug(obj->syms.items[i]->sec))
		i++;
	return i;
}

static bool same_symbols(const struct objfile *pre, const struct objfile *post)
{
	size_t i = next_symbol(pre, 0), j = next_symbol(post, 0);

	while (i < pre->syms.n && j < post->syms.n) {
		if (!same_symbol(pre->syms.items[i], post->syms.items[j]) ||
		    nameless_is_in(pre->syms.items[i]->name))
			return false;
		i = next_symbol(pre, i + 1);
		j = next_symbol(post, j + 1);
	}
	return i == pre->syms.n && j == post->syms.n;
}

static bool same_section(const struct objsec *a, const struct objsec *b)
{
	if (strcmp(a->name, b->name) || a->type != b->type || a->flags != b->flags ||
	    a->size != b->size || a->align != b->align || a->entsize != b->entsize ||
	    !same_text(a->group_sig, b->group_sig) || !a->data != !b->data ||
	    (a->data && memcmp(a->data, b->data, a->size)) || a->rels.n != b->rels.n)
		return false;
	for (size_t i = 0; i < a->rels.n; i++) {
		const struct objrel *x = &a->rels.items[i], *y = &b->rels.items[i];

		if (x->offset != y->offset || x->type != y->type || x->addend != y->addend ||
		    !x->sym != !y->sym || (x->sym && !same_symbol(x->sym, y->sym)))
			return false;
	}
	return true;
}

/* Numbers the sections that are compared, from 1. */
static uint32_t number_sections(struct objfile *obj)
{
	uint32_t n = 0;

	for (size_t i = 0; i < obj->secs.n; i++)
		if (!objsec_is_debug(obj->secs.items[i]))
			obj->secs.items[i]->mark = ++n;
	return n;
}

static size_t next_section(const struct objfile *obj, size_t i)
{
	while (i < obj->secs.n && !obj->secs.items[i]->mark)
		i++;
	return i;
}

static bool are_alike(struct objfile *pre, struct objfile *post)
{
	size_t i, j;

	if (number_sections(pre) != number_sections(post) || !same_symbols(pre, post))
		return false;
	i = next_section(pre, 0);
	j = next_section(post, 0);
	while (i < pre->secs.n) {
		if (!same_section(pre->secs.items[i], post->secs.items[j]))
			return false;
		i = next_section(pre, i + 1);
		j = next_section(post, j + 1);
	}
	return true;
}

static int is_same(const struct diff_unit *in, bool *ret, struct uspl_err *err)
{
	auto_buf struct buf pre = { 0 };
	auto_buf struct buf post = { 0 };
	int rc = file_read(in->pre_obj, &pre, err);

	if (rc)
		return rc;
	rc = file_read(in->post_obj, &post, err);
	if (rc)
		return rc;
	*ret = pre.len == post.len && !memcmp(buf_str(&pre), buf_str(&post), pre.len);
	return 0;
}

int quiet_sort(const struct diff_unit *in, enum unit_sort *ret, struct uspl_err *err)
{
	auto_objfile struct objfile *pre = NULL;
	auto_objfile struct objfile *post = NULL;
	bool same;
	int rc;

	*ret = UNIT_DIFFERENT;
	if (!in->pre_obj || !in->post_obj)
		return 0;
	same = !strcmp(in->pre_obj, in->post_obj);
	rc = same ? 0 : is_same(in, &same, err);
	if (rc)
		return rc;
	if (same) {
		*ret = UNIT_SAME;
		return 0;
	}
	rc = objfile_read_code(in->pre_obj, &pre, err);
	if (rc)
		return rc;
	rc = objfile_read_code(in->post_obj, &post, err);
	if (rc)
		return rc;
	if (are_alike(pre, post))
		*ret = UNIT_QUIET;
	return 0;
}

int quiet_open_pre(struct unit *unit, const struct diff_unit *in, struct uspl_err *err)
{
	const struct diff_unit pre = { .source = in->source, .pre_obj = in->pre_obj };
	int rc = unit_open(unit, &pre, NULL, err);

	if (rc)
		return rc;
	return normalise(&unit->pre, err);
}
