// SPDX-License-Identifier: GPL-3.0-or-later
// match_index.c - what is known of the pre object before anything is compared
//
// Each section of code is a func. It is decoded once to learn which instruction each relocation
// lies in, since a field that is relative to the pc counts from that instruction's end. Data:
// match_items.c.

#include <string.h>

#include "match/match_internal.h"
#include "objfile/refname.h"

static int by_symbol_name(const void *a, const void *b)
{
	return strcmp((*(const struct objsym *const *)a)->name,
		      (*(const struct objsym *const *)b)->name);
}

size_t match_name_len(const char *name)
{
	const char *hash = strstr(name, ".llvm.");

	return hash ? (size_t)(hash - name) : strlen(name);
}

static int compare_run_names(const char *a, const char *b)
{
	size_t x = match_name_len(a), y = match_name_len(b);
	int order = memcmp(a, b, x < y ? x : y);

	return order ? order : x < y ? -1 : x > y;
}

static int by_run_name(const void *a, const void *b)
{
	const struct image_sym *x = *(const struct image_sym *const *)a;
	const struct image_sym *y = *(const struct image_sym *const *)b;

	int order = compare_run_names(x->name, y->name);

	/* Symbols of one name in the order of their addresses, as in the image. */
	return order ? order : x < y ? -1 : x > y;
}

const struct objsym *match_symbol(const struct match *match, const char *refname)
{
	size_t low = 0, high = match->n_by_name;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = strcmp(match->by_name[mid]->name, refname);

		if (!order)
			return match->by_name[mid];
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

const struct image_sym *const *match_run_symbols(const struct match *match, const char *name,
						 size_t *ret_n)
{
	const struct image_sym *const *syms = match->run_by_name;
	size_t low = 0, high = match->n_run_by_name, n = 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare_run_names(syms[mid]->name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	while (low + n < match->n_run_by_name && !compare_run_names(syms[low + n]->name, name))
		n++;
	*ret_n = n;
	return syms + low;
}

bool match_sym_is_code(const struct objsym *sym)
{
	/*
	 * An indirect function's symbol stands for what its resolver returns, not for the
	 * resolver's code.
	 */
	return sym->sec && objsec_is_code(sym->sec) && sym->type != STT_GNU_IFUNC;
}

/* The instructions that a func's relocations lie in. */
static int find_sites(const struct match *match, struct func *func, struct uspl_err *err)
{
	const struct objsec *sec = func->pub.sec;
	size_t i = 0;

	if (!sec->rels.n)
		return 0;
	func->sites = calloc(sec->rels.n, sizeof(*func->sites));
	if (!func->sites)
		return uspl_fail_nomem(err);
	for (uint64_t off = 0; off < sec->size && i < sec->rels.n;) {
		struct insn insn;

		if (!match->arch->insn_decode(sec->data + off, sec->size - off, &insn)) {
			func->broken = true;
			return 0;
		}
		off += insn.len;
		for (; i < sec->rels.n && sec->rels.items[i].offset < off; i++) {
			func->sites[i].trail = (uint8_t)(off - sec->rels.items[i].offset);
			func->sites[i].flow = (uint8_t)insn.flow;
		}
	}
	return 0;
}

static int add_func(struct match *match, const struct objsec *sec, struct uspl_err *err)
{
	struct func *func = calloc(1, sizeof(*func));
	uint64_t end = sec->rels.n ? sec->rels.items[0].offset : sec->size;
	struct insn insn;

	match->funcs[sec->mark] = func;
	if (!func)
		return uspl_fail_nomem(err);
	func->pub.sec = sec;
	func->pub.name = sec->name;
	/* Offsets are kept in 32 bits. */
	if (!sec->data || sec->size >= MAP_NONE) {
		func->broken = true;
		return 0;
	}
	/*
	 * The first instructions that hold no relocation and no branch are the same in the running
	 * code, which makes it quick to see that a function isn't somewhere.
	 */
	while (func->prefix < end &&
	       match->arch->insn_decode(sec->data + func->prefix, sec->size - func->prefix,
					&insn) &&
	       insn.flow == INSN_PLAIN && !insn.is_nop && !insn.pc_relative_mem &&
	       func->prefix + insn.len <= end)
		func->prefix += insn.len;
	return find_sites(match, func, err);
}

/* True if a symbol of the running program may be the one that a refname means. */
static bool may_be(const char *refname, const struct image_sym *sym)
{
	if (sym->type != STT_FUNC && sym->type != STT_NOTYPE && sym->type != STT_GNU_IFUNC)
		return false;
	/*
	 * A hidden global is local after linking, so a global refname says nothing about the
	 * binding. No linker makes a local one global.
	 */
	if (!refname_is_local(refname))
		return true;
	if (sym->bind != STB_LOCAL)
		return false;
	return !sym->file || !sym->file[0] || refname_in_file(refname, sym->file);
}

static int add_candidates(struct match *match, struct func *func, const struct objsym *sym,
			  struct uspl_err *err)
{
	size_t n;
	const struct image_sym *const *syms =
		match_run_symbols(match, refname_symbol(sym->name), &n);

	for (size_t i = 0; i < n; i++) {
		taddr place = image_follow(match->image, syms[i]->addr), *addr;
		bool is_new = may_be(sym->name, syms[i]);

		for (size_t j = 0; j < func->named.n; j++)
			is_new &= func->named.items[j] != place;
		if (!is_new)
			continue;
		addr = vec_push(&func->named);
		if (!addr)
			return uspl_fail_nomem(err);
		*addr = place;
	}
	return 0;
}

/* Pieces get their names, and the places where symbols of these names lie. */
static int name_funcs(struct match *match, struct uspl_err *err)
{
	for (size_t i = 0; i < match->n_by_name; i++) {
		const struct objsym *sym = match->by_name[i];
		struct func *func;
		int rc;

		if (!sym->sec || !objsec_is_code(sym->sec) || sym->value != 0)
			continue;
		func = match->funcs[sym->sec->mark];
		if (func->pub.name == sym->sec->name || sym->bind == STB_GLOBAL)
			func->pub.name = sym->name;
		rc = add_candidates(match, func, sym, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int index_sections(struct match *match, struct uspl_err *err)
{
	size_t n_secs = match->pre->secs.n;

	match->funcs = calloc(n_secs + 1, sizeof(*match->funcs));
	if (!match->funcs)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < n_secs; i++) {
		struct objsec *sec = match->pre->secs.items[i];
		const struct objrel *rel;
		int rc;

		sec->mark = (uint32_t)i;
		if (!(sec->flags & SHF_ALLOC))
			continue;
		vec_for_each (&sec->rels, rel) {
			const struct reloc_info *info = match->arch->reloc(rel->type);

			if (info->kind == RELOC_NONE)
				continue;
			if (!sec->data || sec->size < info->size ||
			    rel->offset > sec->size - info->size)
				return uspl_fail(err, USPL_E_FILE,
						 "'%s' is damaged: a relocation of section '%s' "
						 "lies outside it",
						 match->pre->name, sec->name);
		}
		rc = objsec_is_code(sec) ? add_func(match, sec, err) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

int match_index(struct match *match, struct uspl_err *err)
{
	size_t n_syms = match->pre->syms.n, n_run = match->image->syms.n;
	int rc;

	for (size_t i = 0; i < n_syms; i++)
		match->pre->syms.items[i]->mark = (uint32_t)i;
	match->addrs = calloc(n_syms + 1, sizeof(*match->addrs));
	match->calls = calloc(n_syms + 1, sizeof(*match->calls));
	match->targets = calloc(n_syms + 1, sizeof(*match->targets));
	match->by_name = calloc(n_syms + 1, sizeof(*match->by_name));
	match->run_by_name = calloc(n_run + 1, sizeof(*match->run_by_name));
	if (!match->addrs || !match->calls || !match->targets || !match->by_name ||
	    !match->run_by_name)
		return uspl_fail_nomem(err);
	rc = index_sections(match, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < n_syms; i++) {
		const struct objsym *sym = match->pre->syms.items[i];

		if (sym->name[0] && sym->type != STT_SECTION && sym->type != STT_FILE)
			match->by_name[match->n_by_name++] = sym;
	}
	for (size_t i = 0; i < n_run; i++)
		match->run_by_name[match->n_run_by_name++] = &match->image->syms.items[i];
	qsort(match->by_name, match->n_by_name, sizeof(*match->by_name), by_symbol_name);
	qsort(match->run_by_name, match->n_run_by_name, sizeof(*match->run_by_name), by_run_name);
	rc = name_funcs(match, err);
	if (rc)
		return rc;
	return match_cut_items(match, err);
}
