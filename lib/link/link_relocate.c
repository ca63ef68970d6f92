// SPDX-License-Identifier: GPL-3.0-or-later
// link_relocate.c - the values of symbols, and the fields that depend on them

#include <string.h>

#include "link/link_internal.h"

/* Asks the caller for what every symbol means. A section's own symbol always means the new code. */
static int ask_values(struct link *link, link_value_fn value, void *ctx, struct uspl_err *err)
{
	for (size_t i = 0; i < link->obj->syms.n; i++) {
		const struct objsym *sym = link->obj->syms.items[i];
		struct link_symbol *item = link_symbol_of(link, sym);
		bool defined = sym->sec || sym->shndx == SHN_COMMON || sym->shndx == SHN_ABS;
		int rc;

		if (!item->used && !item->used_by_tls)
			continue;
		item->value =
			(struct symbol_value){ .addr = defined ? link_address(link, sym) : 0 };
		if (sym->type == STT_SECTION || sym->shndx == SHN_ABS)
			continue;
		rc = value(ctx, sym, defined, &item->value, item->used ? err : NULL);
		/* An access by a call that needs it finds that it is missing then (link_tls.c). */
		if (rc && item->used)
			return rc;
	}
	return 0;
}

/* The number that belongs into the field, which lies at place. */
static uint64_t field_value(const struct link *link, const struct objrel *rel,
			    const struct reloc_info *info, taddr place)
{
	const struct link_symbol *sym = link_symbol_of(link, rel->sym);
	uint64_t addend = (uint64_t)rel->addend, value = sym->value.addr + addend;
	/* Any fixed place can be where the GOT begins, as long as all agree. */
	taddr got = link_in_segment(link, LINK_RODATA, 0);

	switch (info->kind) {
	case RELOC_PCREL:
	case RELOC_PLT:
		return value - place;
	case RELOC_GOTPCREL:
		return link_in_segment(link, LINK_RODATA, sym->got) + addend - place;
	case RELOC_GOTPC:
		return got + addend - place;
	case RELOC_GOT:
		return link_in_segment(link, LINK_RODATA, sym->got) + addend - got;
	case RELOC_GOTOFF:
	case RELOC_PLTOFF:
		return value - got;
	case RELOC_SIZE:
		return rel->sym->size + addend;
	default:
		return value;
	}
}

/* Whether the field's number fits decides whether a call needs its stub. */
static int relocate(const struct link *link, const struct objsec *sec, const struct objrel *rel,
		    uint64_t *swallow, struct uspl_err *err)
{
	const struct reloc_info *info = link->arch->reloc(rel->type);
	taddr place = link_section_address(link, sec) + rel->offset;
	const struct link_symbol *sym;
	uint8_t *field;
	int rc;

	/* A section without bytes may have such relocations, too. */
	if (info->kind == RELOC_NONE)
		return 0;
	field = link_section_bytes(link, sec) + rel->offset;
	if (link_is_tls_call(info->kind))
		return link_relocate_tls_call(link, sec, rel, swallow, err);
	if (link_is_tls(info->kind))
		return link_relocate_tls(link, sec, rel, err);
	sym = link_symbol_of(link, rel->sym);
	rc = link->arch->reloc_write(info, field, field_value(link, rel, info, place), NULL);
	if (rc && link_may_use_stub(link, sec, rel, info)) {
		taddr stub = link_in_segment(link, LINK_TEXT, sym->stub);

		if (info->kind != RELOC_ABS)
			stub -= place;
		rc = link->arch->reloc_write(info, field, stub + (uint64_t)rel->addend, NULL);
	}
	if (!rc || link_take_detour(link, rel, sym->value.addr))
		return 0;
	return uspl_fail(err, USPL_E_OUT_OF_REACH,
			 "'%s' at 0x%llx is out of reach of %s+0x%llx at 0x%llx (%s)",
			 link_label(rel->sym), (unsigned long long)sym->value.addr, sec->name,
			 (unsigned long long)rel->offset, (unsigned long long)place, info->name);
}

static int relocate_section(const struct link *link, const struct objsec *sec, struct uspl_err *err)
{
	const struct objrel *rel, *other, *last = vec_end(&sec->rels);
	uint64_t swallow = 0, ignored = 0, end;

	if (!link_is_loaded(link, sec))
		return 0;
	vec_for_each (&sec->rels, rel) {
		int rc;

		if (rel->offset < swallow)
			continue;
		/*
		 * An instruction that goes through a detour is copied there: what else of it is to
		 * be relocated, a constant behind its operand, must be in it by then.
		 */
		end = link_detour_end(link, rel);
		for (other = rel + 1; other < last && other->offset < end; other++) {
			rc = relocate(link, sec, other, &ignored, err);
			if (rc)
				return rc;
			swallow = end;
		}
		rc = relocate(link, sec, rel, &swallow, err);
		if (rc)
			return rc;
	}
	return 0;
}

int link_relocate(struct link *link, taddr base, link_value_fn value, void *ctx,
		  struct uspl_err *err)
{
	struct link_seg *text = &link->segs[LINK_TEXT], *rodata = &link->segs[LINK_RODATA];
	int rc;

	link->base = base;
	rc = ask_values(link, value, ctx, err);
	if (rc)
		return rc;
	link_fill_callers(link);
	for (size_t i = 0; i < link->obj->syms.n; i++) {
		const struct link_symbol *item = link_symbol_of(link, link->obj->syms.items[i]);

		if (item->needs_got || item->needs_stub)
			memcpy(rodata->bytes + item->got, &item->value.addr, sizeof(taddr));
		if (item->needs_tls_got)
			memcpy(rodata->bytes + item->tls_got, &item->value.addr, sizeof(taddr));
		if (item->needs_stub)
			link->arch->stub_encode(link_in_segment(link, LINK_TEXT, item->stub),
						link_in_segment(link, LINK_RODATA, item->got),
						text->bytes + item->stub);
	}
	rc = link_fill_descriptors(link, value, ctx, err);
	if (rc)
		return rc;
	rc = link_fill_threads(link, value, ctx, err);
	if (rc)
		return rc;
	link_fill_compiled(link);
	if (link->elf_len)
		link_fill_elf(link);
	for (size_t i = 0; i < link->obj->secs.n; i++) {
		rc = relocate_section(link, link->obj->secs.items[i], err);
		if (rc)
			return rc;
	}
	return 0;
}
