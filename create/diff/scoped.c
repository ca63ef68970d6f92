// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * scoped.c - pairs variables of C++ whose names hold what stands around them
 *
 * A compiler's name of a static local has the parameters of its function in it, and that of a
 * variable outside of functions whether it is static: `f(int)::n` is another symbol as soon as f
 * gets a parameter, or `const`, or an ABI tag. The variable is the same for whoever has written it.
 * So what no rule has paired goes by its bare name: without lists of parameters, what stands behind
 * these, ABI tags and namespaces without a name. Arguments of templates stay: f<int> and f<long>
 * have a variable each.
 *
 * An overload that is new leaves the variable of the old one paired, and has one of its own. Where
 * more than one is left over under a bare name in one of the builds, nothing tells which is which,
 * and that is refused. Constants needn't be paired.
 */

#include <ctype.h>
#include <string.h>

#include "base/demangle.h"
#include "base/text.h"
#include "create/diff/correlate.h"
#include "create/unit/srcloc.h"

struct scoped {
	struct objsym *sym;
	char *bare;
};

typedef VEC(struct scoped) scoped_vec;

static void scoped_release(scoped_vec *list)
{
	struct scoped *item;

	vec_for_each (list, item)
		free(item->bare);
	vec_release(list);
}

DEFINE_AUTO_RELEASE(scoped, scoped_vec, scoped_release)
#define auto_scoped __attribute__((cleanup(cleanup_scoped_)))

/* Behind the bracket that closes the one at text. */
static const char *behind_bracket(const char *text)
{
	size_t depth = 0;

	do {
		depth += *text == '(' || *text == '[' || *text == '{';
		depth -= *text == ')' || *text == ']' || *text == '}';
	} while (*text++ && depth && *text);
	return text;
}

/* Behind what may stand behind a list of parameters: "f() const &". */
static const char *behind_qualifiers(const char *text)
{
	static const char *const words[] = { " const", " volatile", " &&", " &", " noexcept" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (text_starts_with(text, words[i])) {
			text += strlen(words[i]);
			i = (size_t)-1;
		}
	return text;
}

/* "operator()", "operator<<": what the brackets of these aren't. */
static size_t operator_len(const char *text)
{
	size_t len = strlen("operator");

	if (!text_starts_with(text, "operator"))
		return 0;
	if (text_starts_with(text + len, "()") || text_starts_with(text + len, "[]"))
		return len + 2;
	while (ispunct((unsigned char)text[len]) && text[len] != '(' && text[len] != '_' &&
	       text[len] != ':')
		len++;
	return len;
}

static char *bare_name(const char *name)
{
	static const char nowhere[] = "(anonymous namespace)::";
	/* Which of clang's parts of a variable it is says syminfo.part. */
	auto_free char *base = strndup(name, name_base_len(name));
	auto_free char *full = base ? demangle_name(base) : NULL;
	auto_buf struct buf bare = { 0 };
	size_t templates = 0;

	for (const char *at = full; at && *at;) {
		size_t len = operator_len(at);

		if (len) {
			buf_add(&bare, at, len);
			at += len;
		} else if (text_starts_with(at, nowhere)) {
			at += strlen(nowhere);
		} else if (!templates && *at == '(') {
			at = behind_qualifiers(behind_bracket(at));
		} else if (text_starts_with(at, "[abi:")) {
			at = behind_bracket(at);
		} else {
			templates += *at == '<';
			templates -= *at == '>' && templates;
			buf_add(&bare, at++, 1);
		}
	}
	return full ? buf_take(&bare) : NULL;
}

static bool is_left_over(const struct objsym *sym)
{
	return sym->sec && sym_is_variable(sym) && !syminfo_of(sym)->twin &&
	       secinfo_of(sym->sec)->kind != SECINFO_CONST && !sym_is_pointer_for_tables(sym);
}

static int collect(const struct side *side, scoped_vec *ret, struct uspl_err *err)
{
	for (size_t i = 0; i < side->obj->syms.n; i++) {
		struct objsym *sym = side->obj->syms.items[i];
		struct scoped *item;

		if (!is_left_over(sym))
			continue;
		item = vec_push(ret);
		if (!item)
			return uspl_fail_nomem(err);
		*item = (struct scoped){ sym, bare_name(sym_pair_name(sym)) };
		if (!item->bare)
			return uspl_fail_nomem(err);
	}
	return 0;
}

/* May the two be one variable? A local one is of its unit, and C's names say all that there is. */
static bool may_be(const struct scoped *a, const struct scoped *b)
{
	const struct objsym *x = a->sym, *y = b->sym;
	bool one_unit = syminfo_of(x)->unit == syminfo_of(y)->unit;
	bool both_global = x->bind != STB_LOCAL && y->bind != STB_LOCAL;

	return (one_unit || both_global) && sym_same_sort(x, y) && sym_same_origin(x, y) &&
	       syminfo_of(x)->is_part == syminfo_of(y)->is_part &&
	       syminfo_of(x)->part == syminfo_of(y)->part &&
	       (text_starts_with(x->name, "_Z") || text_starts_with(y->name, "_Z")) &&
	       !strcmp(a->bare, b->bare);
}

/* The copies that several units have of one variable. */
static bool is_copy(const struct objsym *a, const struct objsym *b)
{
	return a == b || (a->bind != STB_LOCAL && b->bind != STB_LOCAL &&
			  !strcmp(sym_pair_name(a), sym_pair_name(b)));
}

/* The first of a list that may be the variable, the own unit's if it has one; *ret_n: how many. */
static struct objsym *find(const scoped_vec *list, const struct scoped *like, size_t *ret_n)
{
	struct objsym *found = NULL;
	const struct scoped *item;

	*ret_n = 0;
	vec_for_each (list, item) {
		if (!may_be(item, like))
			continue;
		*ret_n += !found || !is_copy(item->sym, found);
		if (!found || (syminfo_of(item->sym)->unit == syminfo_of(like->sym)->unit &&
			       is_copy(item->sym, found)))
			found = item->sym;
	}
	return found;
}

static int refuse(const struct objsym *sym, size_t was, size_t is, struct uspl_err *err)
{
	int rc = sym_refuse(sym, err, USPL_E_UNSUPPORTED,
			    "cannot tell which static variable is which: of '%s' and others whose "
			    "names differ in parameters there were %zu that are gone, and %zu are "
			    "new",
			    sym->name, was, is);

	uspl_hint(err, "give the variables different names, or leave the parameters of all but one "
		       "of the functions as they are");
	return rc;
}

int scoped_pair(const struct diff *diff, struct uspl_err *err)
{
	auto_scoped scoped_vec pre = { 0 }, post = { 0 };
	const struct scoped *item;
	int rc = 0;

	for (size_t i = 0; !rc && i < diff->n; i++) {
		rc = collect(&diff->units[i].pre, &pre, err);
		if (!rc)
			rc = collect(&diff->units[i].post, &post, err);
	}
	if (rc)
		return rc;
	vec_for_each (&post, item) {
		size_t was, is = 0;
		struct objsym *old = find(&pre, item, &was);

		if (!old)
			continue;
		for (size_t i = 0; i < pre.n; i++)
			if (pre.items[i].sym == old)
				find(&post, &pre.items[i], &is);
		if (was > 1 || is > 1)
			return refuse(item->sym, was, is, err);
		syminfo_of(item->sym)->twin = old;
		if (!syminfo_of(old)->twin)
			syminfo_of(old)->twin = item->sym;
	}
	return 0;
}
