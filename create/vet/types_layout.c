// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * types_layout.c - how the old and the new layout of a type differ
 *
 * Members pair by name. Safe for objects that exist: a new member where there was padding, and one
 * that only has a new name or is gone, as long as all others lie where they did, are as large and
 * have the same type, and the whole has the same size. All else is unsafe, also with sizes equal: a
 * bit put in the middle of a bit-field moves those behind it; and a larger alignment, since old
 * objects lie where a smaller one was enough, and new code may use instructions that need the
 * larger one. Of an enumeration, new enumerators are safe; one that has another value is not,
 * unless it is the highest of both builds and has the name of a count: nothing has such a value.
 */

#include <ctype.h>
#include <dwarf.h>
#include <string.h>
#include <strings.h>

#include "create/vet/types_changed.h"

/* A comparison under way. */
struct layout {
	struct type_change *change;
	member_vec pre, post;
	struct buf text;
};

static void layout_release(struct layout *layout)
{
	dbgtype_members_release(&layout->pre);
	dbgtype_members_release(&layout->post);
	buf_release(&layout->text);
}

DEFINE_AUTO_RELEASE(layout, struct layout, layout_release)
#define auto_layout __attribute__((cleanup(cleanup_layout_)))

static void say(struct layout *layout, Dwarf_Die *where, bool unsafe)
{
	struct type_change *change = layout->change;

	/* Point to what is unsafe, but sooner to a new member, which moves the others. */
	if (where && (!change->where.addr || (unsafe && !change->unsafe && !change->adds)))
		change->where = *where;
	change->unsafe |= unsafe;
	if (layout->text.len)
		buf_addstr(&layout->text, ", ");
}

static unsigned long long offset_of(const struct type_member *member, bool as_bits)
{
	return member->bit / (as_bits ? 1 : 8);
}

/* The member of that name; the likeliest place is looked at first. */
static struct type_member *find(member_vec *members, const char *name, size_t likely)
{
	if (likely < members->n && !strcmp(members->items[likely].name, name))
		return &members->items[likely];
	return dbgtype_member(members, name);
}

static bool overlap(const struct type_member *a, const struct type_member *b)
{
	return a->bit < b->bit + b->bits && b->bit < a->bit + a->bits;
}

/* The old member without a successor that lay where a new one lies; NULL: there was none. */
static struct type_member *find_replaced(struct layout *layout, const struct type_member *new)
{
	struct type_member *old;

	vec_for_each (&layout->pre, old)
		if (overlap(old, new) && !find(&layout->post, old->name, 0))
			return old;
	return NULL;
}

static void judge_new(struct layout *layout, struct type_member *new)
{
	struct type_member *old = find_replaced(layout, new);

	if (!old) {
		say(layout, &new->die, false);
		layout->change->adds = true;
		buf_addf(&layout->text, "new member '%s' at %s %llu", new->name,
			 new->is_bits ? "bit" : "offset", offset_of(new, new->is_bits));
		return;
	}
	if (old->bit == new->bit &&
	    old->bits == new->bits &&dbgtype_compare(&old->type, &new->type) != TYPE_OTHER) {
		say(layout, &new->die, false);
		buf_addf(&layout->text, "'%s' is called '%s' now", old->name, new->name);
		return;
	}
	say(layout, &new->die, true);
	buf_addf(&layout->text, "new member '%s' where '%s' was", new->name, old->name);
}

/* True if the member is a structure, or an array of them, that changes size itself. */
static bool follows(struct type_member *old, struct type_member *new, enum type_relation relation)
{
	return relation == TYPE_SAME && old->bits != new->bits && !new->is_bits && !old->is_bits;
}

static void judge_kept(struct layout *layout, struct type_member *old, struct type_member *new,
		       bool *moved)
{
	enum type_relation relation = dbgtype_compare(&old->type, &new->type);
	bool as_bits = old->is_bits || new->is_bits;

	if (old->bit != new->bit && !*moved) {
		say(layout, &new->die, true);
		buf_addf(&layout->text, "'%s' moves from %s %llu to %llu", new->name,
			 as_bits ? "bit" : "offset", offset_of(old, as_bits),
			 offset_of(new, as_bits));
	}
	*moved |= old->bit != new->bit;
	if (old->bits != new->bits && relation != TYPE_OTHER) {
		say(layout, &new->die, true);
		buf_addf(&layout->text, "'%s' changes from %llu to %llu %s", new->name,
			 (unsigned long long)old->bits / (as_bits ? 1 : 8),
			 (unsigned long long)new->bits / (as_bits ? 1 : 8),
			 as_bits ? "bits" : "bytes");
		layout->change->follows |= follows(old, new, relation);
	} else if (relation != TYPE_SAME) {
		say(layout, &new->die, relation == TYPE_OTHER);
		buf_addf(&layout->text, "'%s' changes from ", new->name);
		dbgtype_spell_change(&old->type, &new->type, &layout->text);
	}
}

static void judge_gone(struct layout *layout)
{
	struct type_member *new;

	for (size_t i = 0; i < layout->pre.n; i++) {
		struct type_member *old = &layout->pre.items[i];
		bool replaced = false;

		if (find(&layout->post, old->name, i))
			continue;
		vec_for_each (&layout->post, new)
			replaced |= overlap(old, new) && find_replaced(layout, new) == old;
		if (replaced)
			continue;
		say(layout, &layout->change->post, false);
		buf_addf(&layout->text, "'%s' is gone", old->name);
	}
}

static void judge_layout(struct layout *layout)
{
	struct type_change *change = layout->change;
	uint64_t was = dbgtype_size(&change->pre), is = dbgtype_size(&change->post);
	uint64_t old_align = dbgtype_alignment(&change->pre);
	uint64_t align = dbgtype_alignment(&change->post);
	bool moved = false;

	for (size_t i = 0; i < layout->post.n; i++) {
		struct type_member *new = &layout->post.items[i];
		struct type_member *old = find(&layout->pre, new->name, i);

		if (old)
			judge_kept(layout, old, new, &moved);
		else
			judge_new(layout, new);
	}
	judge_gone(layout);
	if (align > old_align) {
		say(layout, &change->post, true);
		buf_addf(&layout->text, "it is aligned to %llu bytes now",
			 (unsigned long long)align);
	}
	if (was == is)
		return;
	say(layout, &change->post, true);
	buf_addf(&layout->text, "the size changes from %llu to %llu bytes", (unsigned long long)was,
		 (unsigned long long)is);
}

int types_compare_layout(struct type_change *change, struct uspl_err *err)
{
	auto_layout struct layout layout = { .change = change };
	int rc = dbgtype_members(&change->pre, &layout.pre, err);

	if (rc)
		return rc;
	rc = dbgtype_members(&change->post, &layout.post, err);
	if (rc)
		return rc;
	judge_layout(&layout);
	if (layout.text.oom)
		return uspl_fail_nomem(err);
	change->text = buf_take(&layout.text);
	return 0;
}

int64_t types_highest(Dwarf_Die *type)
{
	int64_t value = INT64_MIN;
	Dwarf_Die die;

	for (bool has = !dwarf_child(type, &die); has; has = !dwarf_siblingof(&die, &die))
		if (dbgtype_value(&die) > value)
			value = dbgtype_value(&die);
	return value;
}

/* "MAX" and the like; a plural at the end: "STATES", "NSTATES". */
static bool is_count_word(const char *word, size_t len, bool at_end)
{
	static const char *const words[] = { "n",     "nb",    "nr",      "nof",     "num",
					     "cnt",   "count", "max",     "maximum", "number",
					     "limit", "last",  "sentinel" };
	static const char *const singular[] = { "ss", "us", "is", "as", "os" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i]) == len && !strncasecmp(word, words[i], len))
			return true;
	if (!at_end || len < 3 || tolower((unsigned char)word[len - 1]) != 's')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(singular); i++)
		if (!strncasecmp(word + len - 2, singular[i], 2))
			return false;
	return true;
}

bool types_is_count(const char *name)
{
	for (size_t at = 0, len; name[at]; at += len ? len : 1) {
		for (len = 0; isalpha((unsigned char)name[at + len]); len++)
			if (len && isupper((unsigned char)name[at + len]) &&
			    islower((unsigned char)name[at + len - 1]))
				break;
		if (is_count_word(name + at, len, !name[at + len]))
			return true;
	}
	return false;
}

static void judge_enumerator(struct layout *layout, Dwarf_Die *old)
{
	struct type_change *change = layout->change;
	const char *name = dwarf_diename(old);
	int64_t was = dbgtype_value(old), is;
	Dwarf_Die new;
	bool has;

	if (!name)
		return;
	for (has = !dwarf_child(&change->post, &new);
	     has && (!dwarf_diename(&new) || strcmp(dwarf_diename(&new), name) != 0);
	     has = !dwarf_siblingof(&new, &new))
		;
	if (!has) {
		say(layout, &change->post, false);
		buf_addf(&layout->text, "'%s' is gone", name);
		return;
	}
	is = dbgtype_value(&new);
	if (was == is)
		return;
	say(layout, &new,
	    !types_is_count(name) || was != types_highest(&change->pre) ||
		    is != types_highest(&change->post) || is < was);
	buf_addf(&layout->text, "'%s' changes from %lld to %lld", name, (long long)was,
		 (long long)is);
}

int types_compare_enum(struct type_change *change, struct uspl_err *err)
{
	auto_layout struct layout layout = { .change = change };
	Dwarf_Die old;
	uint64_t was = dbgtype_size(&change->pre), is = dbgtype_size(&change->post);

	for (bool has = !dwarf_child(&change->pre, &old); has; has = !dwarf_siblingof(&old, &old))
		judge_enumerator(&layout, &old);
	if (was != is) {
		say(&layout, &change->post, true);
		buf_addf(&layout.text, "the size changes from %llu to %llu bytes",
			 (unsigned long long)was, (unsigned long long)is);
	}
	if (layout.text.oom)
		return uspl_fail_nomem(err);
	change->text = buf_take(&layout.text);
	return 0;
}
