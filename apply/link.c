// SPDX-License-Identifier: GPL-3.0-or-later
// link.c - from a relocatable object to bytes at an address
//
// Three segments, in this order: text, read-only data, data. What the object doesn't have, but its
// code needs, is made here:
//
//	text      code sections | a stub for each function that may be called out of reach, a
//	          detour for each instruction that may need one (link_detour.c)
//	rodata    constant sections, .eh_frame | a slot for each stub, and the GOT
//	data      variables, initialised or not, and common symbols
//
// Layout and relocation are two steps, since memory can be reserved in the target only when the
// size is known, and nothing has an address before. All that may turn out to be needed gets its
// room in the first: a stub costs 8 bytes, and whether a function is out of reach is known only in
// the second.

#include <string.h>

#include "apply/link_internal.h"

#define PAGE 4096ull
/* No update comes near this; a section that claims more is lying. */
#define LINK_MAX (512ull << 20)

static uint64_t align_up(uint64_t value, uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

bool link_is_loaded(const struct objsec *sec)
{
	return (sec->flags & SHF_ALLOC) && sec->type != SHT_NOTE;
}

static bool is_eh_frame(const struct objsec *sec)
{
	return !strcmp(sec->name, ".eh_frame");
}

bool link_may_use_stub(const struct link *link, const struct objsec *sec, const struct objrel *rel,
		       const struct reloc_info *info)
{
	if (rel->sym->type == STT_SECTION)
		return false;
	if (info->kind == RELOC_PLT)
		return true;
	if (info->kind == RELOC_PCREL && link->far)
		return link_is_branch(link, sec, rel);
	return is_eh_frame(sec) && info->kind == RELOC_ABS && info->size < sizeof(taddr) &&
	       rel->sym->shndx == SHN_UNDEF && !rel->sym->sec;
}

static int check_symbol(const struct objsym *sym, struct uspl_err *err)
{
	if (sym->sec && !link_is_loaded(sym->sec))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "'%s' lies in section '%s', which isn't loaded", sym->name,
				 sym->sec->name);
	if (sym->sec && sym->value > sym->sec->size)
		return uspl_fail(err, USPL_E_FILE, "'%s' lies outside its section '%s'", sym->name,
				 sym->sec->name);
	return 0;
}

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
	sym->needs_tls_got |= info->kind == RELOC_GOTTPOFF && !link_is_fresh(rel->sym);
	if (link_is_tls_call(info->kind))
		return link_plan_tls(link, sec, rel, swallow, err);
	if (link_is_fresh(rel->sym) && link_is_tls(info->kind))
		return link_plan_distance(link, sec, rel, NULL, err);
	return link_plan_detour(link, sec, rel, err);
}

/* What one relocation needs beside its field. *swallow: see link_plan_tls. */
static int plan_relocation(struct link *link, const struct objsec *sec, const struct objrel *rel,
			   uint64_t *swallow, struct uspl_err *err)
{
	const struct reloc_info *info = link->arch->reloc(rel->type);
	int rc;

	if (info->kind == RELOC_NONE)
		return 0;
	if (info->kind == RELOC_UNSUPPORTED)
		return uspl_fail(err, USPL_E_UNSUPPORTED, "%s of '%s' at %s+0x%llx can't be linked",
				 info->name, rel->sym ? rel->sym->name : "", sec->name,
				 (unsigned long long)rel->offset);
	if (!rel->sym || !sec->data || sec->size < info->size ||
	    rel->offset > sec->size - info->size)
		return uspl_fail(err, USPL_E_FILE, "a relocation of '%s' lies outside it",
				 sec->name);
	rc = check_symbol(rel->sym, err);
	if (rc)
		return rc;
	return plan_symbol(link, sec, rel, swallow, err);
}

static const struct {
	uint32_t type;
	const char *what;
} refused_types[] = {
	{ SHT_INIT_ARRAY, "a constructor" },
	{ SHT_FINI_ARRAY, "a destructor" },
	{ SHT_PREINIT_ARRAY, "a constructor" },
};

static int check_section(const struct objsec *sec, struct uspl_err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused_types); i++)
		if (sec->type == refused_types[i].type)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "section '%s': the new code has %s, which would never run",
					 sec->name, refused_types[i].what);
	if (sec->align & (sec->align - 1) || sec->align > PAGE)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "section '%s' wants an alignment of %llu bytes", sec->name,
				 (unsigned long long)sec->align);
	if (!sec->data && sec->type != SHT_NOBITS && sec->size)
		return uspl_fail(err, USPL_E_FILE, "section '%s' has no contents", sec->name);
	return 0;
}

static enum link_seg_kind kind_of(const struct objsec *sec)
{
	if (objsec_is_code(sec))
		return LINK_TEXT;
	return sec->flags & SHF_WRITE ? LINK_DATA : LINK_RODATA;
}

int link_reserve(struct link_seg *seg, uint64_t size, uint64_t align, uint64_t *ret_offset,
		 struct uspl_err *err)
{
	uint64_t start = align_up(seg->len, align ? align : 1);

	if (size > LINK_MAX || start + size > LINK_MAX)
		return uspl_fail(err, USPL_E_HOSTILE,
				 "the new code claims to need more than %llu MB", LINK_MAX >> 20);
	seg->len = start + size;
	*ret_offset = start;
	return 0;
}

static int place_sections(struct link *link, struct uspl_err *err)
{
	struct link_private *priv = link->priv;

	for (size_t i = 0; i < link->obj->secs.n; i++) {
		const struct objsec *sec = link->obj->secs.items[i];
		int rc;

		if (!link_is_loaded(sec) || is_eh_frame(sec))
			continue;
		rc = check_section(sec, err);
		if (!rc && !(sec->flags & SHF_TLS))
			rc = link_reserve(&link->segs[kind_of(sec)], sec->size, sec->align,
					  &priv->sec_offset[i], err);
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
	struct link_private *priv = link->priv;
	struct link_seg *seg = &link->segs[LINK_RODATA];
	uint64_t terminator, start = align_up(seg->len, 8);

	seg->len = start;
	for (size_t i = 0; i < link->obj->secs.n; i++) {
		const struct objsec *sec = link->obj->secs.items[i];
		int rc;

		if (!link_is_loaded(sec) || !is_eh_frame(sec))
			continue;
		rc = check_section(sec, err);
		if (!rc)
			rc = link_reserve(seg, sec->size, 1, &priv->sec_offset[i], err);
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

		if (!link_is_loaded(sec))
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

	if (!item->used && !item->used_by_tls)
		return 0;
	if (sym->shndx == SHN_COMMON) {
		if (!sym->value || sym->value & (sym->value - 1) || sym->value > PAGE)
			return uspl_fail(err, USPL_E_FILE, "'%s' has no proper alignment",
					 sym->name);
		rc = link_reserve(&link->segs[LINK_DATA], sym->size, sym->value, &item->common,
				  err);
	}
	if (!rc && item->needs_stub)
		rc = link_reserve(&link->segs[LINK_TEXT], link->arch->stub_len,
				  link->arch->stub_len, &item->stub, err);
	if (!rc && (item->needs_got || item->needs_stub))
		rc = link_reserve(rodata, sizeof(taddr), sizeof(taddr), &item->got, err);
	if (!rc && item->needs_tls_got)
		rc = link_reserve(rodata, sizeof(taddr), sizeof(taddr), &item->tls_got, err);
	if (!rc && item->needs_tls_pair)
		rc = link_reserve(rodata, 2 * sizeof(taddr), sizeof(taddr), &item->tls_pair, err);
	return rc;
}

static int place_symbols(struct link *link, struct uspl_err *err)
{
	for (size_t i = 0; i < link->obj->syms.n; i++) {
		int rc = place_symbol(link, link->obj->syms.items[i], err);

		if (rc)
			return rc;
	}
	return 0;
}

/* Whole pages for each segment, one behind the other, and the sections' bytes. */
static int fill_segments(struct link *link, struct uspl_err *err)
{
	for (int kind = 0; kind < LINK_N_SEGS; kind++) {
		struct link_seg *seg = &link->segs[kind];

		seg->offset = link->len;
		seg->len = align_up(seg->len, PAGE);
		link->len += seg->len;
		if (!seg->len)
			continue;
		seg->bytes = calloc(1, seg->len);
		if (!seg->bytes)
			return uspl_fail_nomem(err);
	}
	/* Between functions lies what nobody runs by mistake. */
	if (link->segs[LINK_TEXT].len)
		link->arch->fill(link->segs[LINK_TEXT].bytes, link->segs[LINK_TEXT].len);
	for (size_t i = 0; i < link->obj->secs.n; i++) {
		const struct objsec *sec = link->obj->secs.items[i];

		if (link_is_loaded(sec) && sec->data && sec->size)
			memcpy(link_section_bytes(link, sec), sec->data, sec->size);
	}
	return 0;
}

static int link_prepare(struct link *link, struct uspl_err *err)
{
	const struct objfile *obj = link->obj;
	struct link_private *priv = calloc(1, sizeof(*priv));

	link->priv = priv;
	if (!priv)
		return uspl_fail_nomem(err);
	priv->sec_offset = calloc(obj->secs.n + 1, sizeof(*priv->sec_offset));
	priv->syms = calloc(obj->syms.n + 1, sizeof(*priv->syms));
	if (!priv->sec_offset || !priv->syms)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < obj->secs.n; i++)
		obj->secs.items[i]->mark = (uint32_t)i;
	for (size_t i = 0; i < obj->syms.n; i++)
		obj->syms.items[i]->mark = (uint32_t)i;
	return 0;
}

int link_layout(const struct objfile *obj, const struct arch *arch, bool far, struct link **ret,
		struct uspl_err *err)
{
	auto_link struct link *link = calloc(1, sizeof(*link));
	int rc;

	if (!link)
		return uspl_fail_nomem(err);
	link->obj = obj;
	link->arch = arch;
	link->far = far;
	rc = link_prepare(link, err);
	if (!rc)
		rc = place_sections(link, err);
	if (!rc)
		rc = link_place_threads(link, err);
	if (!rc)
		rc = place_eh_frame(link, err);
	if (!rc)
		rc = plan_relocations(link, err);
	if (!rc)
		rc = place_symbols(link, err);
	if (!rc)
		rc = link_place_detours(link, err);
	if (!rc)
		rc = fill_segments(link, err);
	if (rc)
		return rc;
	*ret = take_ptr(link);
	return 0;
}

void link_free(struct link *link)
{
	struct link_private *priv = link ? link->priv : NULL;

	if (!link)
		return;
	for (int kind = 0; kind < LINK_N_SEGS; kind++)
		free(link->segs[kind].bytes);
	if (priv) {
		free(priv->sec_offset);
		free(priv->syms);
		vec_release(&priv->detours);
	}
	free(priv);
	free(link);
}

taddr link_section_address(const struct link *link, const struct objsec *sec)
{
	const struct link_private *priv = link->priv;

	return link->base + link->segs[kind_of(sec)].offset + priv->sec_offset[sec->mark];
}

uint8_t *link_section_bytes(const struct link *link, const struct objsec *sec)
{
	const struct link_private *priv = link->priv;
	const struct link_seg *seg = &link->segs[kind_of(sec)];

	if (sec->flags & SHF_TLS)
		return link_threads_bytes(link, sec);
	return seg->bytes ? seg->bytes + priv->sec_offset[sec->mark] : NULL;
}

taddr link_address(const struct link *link, const struct objsym *sym)
{
	const struct link_private *priv = link->priv;

	if (sym->shndx == SHN_COMMON)
		return link->base + link->segs[LINK_DATA].offset + priv->syms[sym->mark].common;
	if (sym->shndx == SHN_ABS || !sym->sec)
		return sym->value;
	if (link_is_fresh(sym))
		return priv->sec_offset[sym->sec->mark] + sym->value;
	return link_section_address(link, sym->sec) + sym->value;
}
