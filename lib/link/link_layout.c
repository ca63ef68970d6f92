// SPDX-License-Identifier: GPL-3.0-or-later
// link_layout.c - the place of each section, and room for all that the code may need besides

#include <string.h>

#include "link/link_internal.h"

/* What the relocation's symbol needs. */
static int plan_symbol(struct link *link, const struct objsec *sec, const struct objrel *rel,
		       uint64_t *swallow, struct uspl_err *err)
{
	const struct reloc_info *info = link->arch->reloc(rel->type);
	struct link_symbol *sym = link_symbol_of(link, rel->sym);

	/* The table is our own. */
	if (info->kind == RELOC_GOTPC)
		return 0;
	if (rel->offset < *swallow)
		sym->used_by_tls = true;
	else if (!link_is_tls_base(rel->sym))
		sym->used = true;
	sym->needs_stub |= link_may_use_stub(link, sec, rel, info);
	sym->needs_got |= info->kind == RELOC_GOTPCREL || info->kind == RELOC_GOT;
	link_plan_descriptor(link, rel);
	sym->needs_tls_got |= info->kind == RELOC_GOTTPOFF && !link_is_asked_for(link, rel->sym);
	if (link_is_tls_call(info->kind))
		return link_plan_tls(link, sec, rel, swallow, err);
	if (link_is_asked_for(link, rel->sym) && link_is_tls(info->kind))
		return link_plan_distance(link, sec, rel, NULL, err);
	return link_plan_detour(link, sec, rel, err);
}

/* What one relocation needs besides its field. *swallow: see link_plan_tls. */
static int plan_relocation(struct link *link, const struct objsec *sec, const struct objrel *rel,
			   uint64_t *swallow, struct uspl_err *err)
{
	const struct reloc_info *info = link->arch->reloc(rel->type);
	const struct objsec *target;
	uint64_t len;

	if (info->kind == RELOC_NONE)
		return 0;
	if (info->kind == RELOC_UNSUPPORTED)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "%s of '%s' at %s+0x%llx can't be linked",
				 info->name, rel->sym ? rel->sym->name : "", sec->name,
				 (unsigned long long)rel->offset);
	/* A relocation without a field marks an instruction, which lies in the section. */
	len = info->size ? info->size : 1;
	if (!rel->sym || !sec->data || sec->size < len || rel->offset > sec->size - len)
		return uspl_fail(err, USPL_E_FILE, "a relocation of '%s' lies outside it",
				 sec->name);
	target = rel->sym->sec;
	if (target && !link_is_loaded(link, target))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "'%s' lies in section '%s', which isn't loaded", rel->sym->name,
				 target->name);
	if (target && rel->sym->value > target->size)
		return uspl_fail(err, USPL_E_FILE, "'%s' lies outside its section '%s'",
				 rel->sym->name, target->name);
	return plan_symbol(link, sec, rel, swallow, err);
}

static int place_sections(struct link *link, struct uspl_err *err)
{
	for (size_t i = 0; i < link->obj->secs.n; i++) {
		const struct objsec *sec = link->obj->secs.items[i];
		struct link_section *place = link_section_of(link, sec);
		int rc;

		if (!place->loaded || place->eh_frame || place->threads)
			continue;
		rc = link_reserve(&link->segs[place->kind], sec->size, sec->align, &place->offset,
				  err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Unwinders read call frame information up to a length of zero: it must be in one piece, with that
 * at its end.
 */
static int place_eh_frame(struct link *link, struct uspl_err *err)
{
	struct link_seg *seg = &link->segs[LINK_RODATA];
	uint64_t terminator, start = link_align_up(seg->len, 8);

	seg->len = start;
	for (size_t i = 0; i < link->obj->secs.n; i++) {
		const struct objsec *sec = link->obj->secs.items[i];
		struct link_section *place = link_section_of(link, sec);
		int rc;

		if (!place->eh_frame)
			continue;
		rc = link_reserve(seg, sec->size, 1, &place->offset, err);
		if (rc)
			return rc;
	}
	if (seg->len == start)
		return 0;
	link->eh_frame = start;
	link->eh_frame_len = seg->len - start + sizeof(uint32_t);
	return link_reserve(seg, sizeof(uint32_t), 1, &terminator, err);
}

static int plan_relocations(struct link *link, struct uspl_err *err)
{
	for (size_t i = 0; i < link->obj->secs.n; i++) {
		const struct objsec *sec = link->obj->secs.items[i];
		const struct objrel *rel;
		uint64_t swallow = 0;

		if (!link_is_loaded(link, sec))
			continue;
		vec_for_each (&sec->rels, rel) {
			int rc = plan_relocation(link, sec, rel, &swallow, err);

			if (rc)
				return rc;
		}
	}
	return 0;
}

/* The room that a symbol needs: stubs, slots, and storage if it is common. */
static int place_symbol(struct link *link, const struct objsym *sym, struct uspl_err *err)
{
	struct link_symbol *item = &((struct link_private *)link->priv)->syms[sym->mark];
	struct link_seg *rodata = &link->segs[LINK_RODATA];
	int rc = 0;

	if (sym->shndx == SHN_COMMON && (item->used || item->used_by_tls)) {
		if (!sym->value || sym->value & (sym->value - 1) || sym->value > PAGE)
			return uspl_fail(err, USPL_E_FILE, "'%s' has no proper alignment",
					 sym->name);
		rc = link_reserve(&link->segs[LINK_DATA], sym->size, sym->value, &item->common,
				  err);
		if (rc)
			return rc;
	}
	rc = link_place_caller(link, sym, err);
	if (rc)
		return rc;
	if (item->needs_stub) {
		rc = link_reserve(&link->segs[LINK_TEXT], link->arch->stub_len,
				  link->arch->stub_len, &item->stub, err);
		if (rc)
			return rc;
	}
	if (item->needs_got || item->needs_stub) {
		rc = link_reserve(rodata, sizeof(taddr), sizeof(taddr), &item->got, err);
		if (rc)
			return rc;
	}
	if (item->needs_tls_got) {
		rc = link_reserve(rodata, sizeof(taddr), sizeof(taddr), &item->tls_got, err);
		if (rc)
			return rc;
	}
	if (item->needs_tls_pair)
		return link_reserve(rodata, 2 * sizeof(taddr), sizeof(taddr), &item->tls_pair, err);
	return 0;
}

/* Whole pages for each segment, one behind the other, and the sections' bytes. */
static int fill_segments(struct link *link, struct uspl_err *err)
{
	for (int kind = 0; kind < LINK_N_SEGS; kind++) {
		struct link_seg *seg = &link->segs[kind];

		seg->offset = link->len;
		seg->len = link_align_up(seg->len, PAGE);
		link->len += seg->len;
		if (!seg->len)
			continue;
		seg->bytes = calloc(1, seg->len);
		if (!seg->bytes)
			return uspl_fail_nomem(err);
	}
	/* Between functions lies what no thread runs by mistake. */
	if (link->segs[LINK_TEXT].len)
		link->arch->fill(link->segs[LINK_TEXT].bytes, link->segs[LINK_TEXT].len);
	for (size_t i = 0; i < link->obj->secs.n; i++) {
		const struct objsec *sec = link->obj->secs.items[i];

		if (link_is_loaded(link, sec) && sec->data && sec->size)
			memcpy(link_section_bytes(link, sec), sec->data, sec->size);
	}
	return 0;
}

static int link_prepare(struct link *link, const struct link_wish *wish, struct uspl_err *err)
{
	const struct objfile *obj = link->obj;
	struct link_private *priv = calloc(1, sizeof(*priv));

	link->priv = priv;
	if (!priv)
		return uspl_fail_nomem(err);
	priv->secs = calloc(obj->secs.n + 1, sizeof(*priv->secs));
	priv->syms = calloc(obj->syms.n + 1, sizeof(*priv->syms));
	if (!priv->secs || !priv->syms)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < obj->secs.n; i++)
		obj->secs.items[i]->mark = (uint32_t)i;
	for (size_t i = 0; i < obj->syms.n; i++)
		obj->syms.items[i]->mark = (uint32_t)i;
	for (size_t i = 0; wish && wish->lent && i < obj->syms.n; i++)
		priv->syms[i].lent =
			!obj->syms.items[i]->sec && wish->lent(wish->ctx, obj->syms.items[i]);
	return 0;
}

int link_layout(const struct objfile *obj, const struct arch *arch, const struct link_wish *wish,
		struct link **ret, struct uspl_err *err)
{
	auto_link struct link *link = calloc(1, sizeof(*link));
	int rc;

	if (!link)
		return uspl_fail_nomem(err);
	link->obj = obj;
	link->arch = arch;
	link->far = wish && wish->far;
	rc = link_prepare(link, wish, err);
	if (rc)
		return rc;
	rc = link_decide(link, err);
	if (rc)
		return rc;
	rc = link_place_elf(link, err);
	if (rc)
		return rc;
	rc = place_sections(link, err);
	if (rc)
		return rc;
	rc = link_place_threads(link, err);
	if (rc)
		return rc;
	rc = place_eh_frame(link, err);
	if (rc)
		return rc;
	rc = plan_relocations(link, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < obj->syms.n; i++) {
		rc = place_symbol(link, obj->syms.items[i], err);
		if (rc)
			return rc;
	}
	rc = link_place_descriptors(link, err);
	if (rc)
		return rc;
	rc = link_place_detours(link, err);
	if (rc)
		return rc;
	rc = link_place_compiled(link, err);
	if (rc)
		return rc;
	rc = fill_segments(link, err);
	if (rc)
		return rc;
	*ret = take_ptr(link);
	return 0;
}
