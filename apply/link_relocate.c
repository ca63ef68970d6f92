// SPDX-License-Identifier: GPL-3.0-or-later
// link_relocate.c - the values of symbols, and the fields that depend on them

#include <string.h>

#include "apply/link_internal.h"

static struct link_symbol *symbol_of(const struct link *link, const struct objsym *sym)
{
	return &((struct link_private *)link->priv)->syms[sym->mark];
}

static bool is_defined(const struct objsym *sym)
{
	return sym->sec || sym->shndx == SHN_COMMON || sym->shndx == SHN_ABS;
}

/* Asks the caller for what every symbol means. A section's own symbol always means the new code. */
static int ask_values(struct link *link, link_value_fn value, void *ctx, struct uspl_err *err)
{
	for (size_t i = 0; i < link->obj->syms.n; i++) {
		const struct objsym *sym = link->obj->syms.items[i];
		struct link_symbol *item = symbol_of(link, sym);
		bool defined = is_defined(sym);
		int rc;

		if (!item->used)
			continue;
		item->value = defined ? link_address(link, sym) : 0;
		if (sym->type == STT_SECTION || sym->shndx == SHN_ABS)
			continue;
		rc = value(ctx, sym, defined, &item->value, err);
		if (rc)
			return rc;
	}
	return 0;
}

static taddr in_segment(const struct link *link, enum link_seg_kind kind, uint64_t offset)
{
	return link->base + link->segs[kind].offset + offset;
}

static void fill_slots(struct link *link)
{
	struct link_seg *text = &link->segs[LINK_TEXT], *rodata = &link->segs[LINK_RODATA];

	for (size_t i = 0; i < link->obj->syms.n; i++) {
		const struct link_symbol *item = symbol_of(link, link->obj->syms.items[i]);

		if (item->needs_got || item->needs_stub)
			memcpy(rodata->bytes + item->got, &item->value, sizeof(item->value));
		if (item->needs_tls_got)
			memcpy(rodata->bytes + item->tls_got, &item->value, sizeof(item->value));
		if (item->needs_stub)
			link->arch->stub_encode(in_segment(link, LINK_TEXT, item->stub),
						in_segment(link, LINK_RODATA, item->got),
						text->bytes + item->stub);
	}
}

/* The number that belongs into the field, which lies at place. */
static uint64_t field_value(const struct link *link, const struct objrel *rel,
			    const struct reloc_info *info, taddr place)
{
	const struct link_symbol *sym = symbol_of(link, rel->sym);
	uint64_t addend = (uint64_t)rel->addend, value = sym->value + addend;

	switch (info->kind) {
	case RELOC_PCREL:
	case RELOC_PLT:
		return value - place;
	case RELOC_GOTPCREL:
		return in_segment(link, LINK_RODATA, sym->got) + addend - place;
	case RELOC_GOTTPOFF:
		return in_segment(link, LINK_RODATA, sym->tls_got) + addend - place;
	case RELOC_SIZE:
		return rel->sym->size + addend;
	default:
		return value;
	}
}

static const char *label(const struct objsym *sym)
{
	return sym->name[0] || !sym->sec ? sym->name : sym->sec->name;
}

/* Whether the field's number fits decides whether a call needs its stub. */
static int relocate(const struct link *link, const struct objsec *sec, const struct objrel *rel,
		    struct uspl_err *err)
{
	const struct reloc_info *info = link->arch->reloc(rel->type);
	uint8_t *field = link_section_bytes(link, sec) + rel->offset;
	taddr place = link_section_address(link, sec) + rel->offset;
	const struct link_symbol *sym;
	int rc;

	if (info->kind == RELOC_NONE)
		return 0;
	sym = symbol_of(link, rel->sym);
	rc = link->arch->reloc_write(info, field, field_value(link, rel, info, place), NULL);
	if (rc && link_may_use_stub(sec, rel, info)) {
		taddr stub = in_segment(link, LINK_TEXT, sym->stub);

		if (info->kind == RELOC_PLT)
			stub -= place;
		rc = link->arch->reloc_write(info, field, stub + (uint64_t)rel->addend, NULL);
	}
	if (!rc || link_take_detour(link, rel, sym->value))
		return 0;
	return uspl_fail(err, USPL_E_OUT_OF_REACH,
			 "'%s' at 0x%llx is out of reach of %s+0x%llx at 0x%llx (%s)",
			 label(rel->sym), (unsigned long long)sym->value, sec->name,
			 (unsigned long long)rel->offset, (unsigned long long)place, info->name);
}

static int relocate_section(const struct link *link, const struct objsec *sec, struct uspl_err *err)
{
	const struct objrel *rel;

	if (!link_is_loaded(sec))
		return 0;
	vec_for_each (&sec->rels, rel) {
		int rc = relocate(link, sec, rel, err);

		if (rc)
			return rc;
	}
	return 0;
}

int link_relocate(struct link *link, taddr base, link_value_fn value, void *ctx,
		  struct uspl_err *err)
{
	int rc;

	link->base = base;
	rc = ask_values(link, value, ctx, err);
	if (rc)
		return rc;
	fill_slots(link);
	for (size_t i = 0; i < link->obj->secs.n; i++) {
		rc = relocate_section(link, link->obj->secs.items[i], err);
		if (rc)
			return rc;
	}
	return 0;
}
