// SPDX-License-Identifier: GPL-3.0-or-later
// link_tls.c - accesses to thread-local variables
/*
 * Compilers write an access by one of four models (Drepper, "ELF Handling For TLS"). Two of them
 * count from the thread pointer. They only fit a variable that has a fixed place there, and are the
 * relocations of kind TPOFF and GOTTPOFF. The other two, and descriptors, call a function that
 * knows where each module's variables are.
 *
 * If the variable's module has a fixed place, such a call is rewritten to count from the thread
 * pointer, as any linker does. So nothing need be known of the module but that place. Else the call
 * stays, with a pair of slots of our own: the module's number and the offset in its block, which
 * __tls_get_addr takes; or with a descriptor of our own (link_descriptor.c).
 *
 * A variable that the new code brings, or that an earlier update has brought, is none of the
 * dynamic linker's, and has no place at a fixed distance. Its accesses are rewritten in the same
 * way first, and then go through a detour each, where the distance is asked for (link_threads.c).
 */

#include <string.h>

#include "link/link_internal.h"

/* An access is no longer than this, and its field no further from its beginning. */
enum { FORM_MAX = 32, FIELD_MAX = 8 };

/* Relative to the pc the addend counts from the field, 4 bytes before the instruction's end. */
enum { PC_ADDEND = -4 };

bool link_is_tls_call(enum reloc_kind kind)
{
	return kind == RELOC_TLSGD || kind == RELOC_TLSLD || kind == RELOC_TLSDESC ||
	       kind == RELOC_TLSDESC_CALL;
}

bool link_is_tls(enum reloc_kind kind)
{
	return kind == RELOC_TPOFF || kind == RELOC_GOTTPOFF || kind == RELOC_DTPOFF;
}

int link_plan_tls(struct link *link, const struct objsec *sec, const struct objrel *rel,
		  uint64_t *swallow, struct uspl_err *err)
{
	enum reloc_kind kind = link->arch->reloc(rel->type)->kind;
	struct link_symbol *sym = link_symbol_of(link, rel->sym);
	struct link_private *private = link->priv;
	uint64_t from = rel->offset > FIELD_MAX ? rel->offset - FIELD_MAX : 0;
	uint64_t len = sec->size - from < FORM_MAX ? sec->size - from : FORM_MAX;
	uint8_t copy[FORM_MAX];
	struct tls_form form;

	sym->needs_tls_pair |= kind == RELOC_TLSGD || kind == RELOC_TLSLD;
	/* A copy is rewritten, to see whether the access has a form for that. */
	memcpy(copy, sec->data + from, len);
	if (!link->arch->tls_relax(rel->type, copy, rel->offset - from, len, &form)) {
		sym->keeps_descriptor |= kind != RELOC_TLSGD && kind != RELOC_TLSLD;
		private->keeps_tls_calls |= kind == RELOC_TLSLD || link_is_tls_base(rel->sym);
		return 0;
	}
	form.start += from;
	*swallow = form.start + form.len;
	if (!link_is_asked_for(link, rel->sym) || !form.off)
		return 0;
	return link_plan_distance(link, sec, rel, &form, err);
}

static int fail_no_place(const struct objsec *sec, const struct objrel *rel,
			 const struct reloc_info *info, struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "%s+0x%llx: the thread-local variable '%s' is accessed by %s, but its "
			 "module has no fixed place in the process's threads",
			 sec->name, (unsigned long long)rel->offset, link_label(rel->sym),
			 info->name);
}

static int fail_call(const struct link *link, const struct objsec *sec, const struct objrel *rel,
		     struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "%s+0x%llx: the access to the thread-local variable '%s' by %s can't be "
			 "linked",
			 sec->name, (unsigned long long)rel->offset, link_label(rel->sym),
			 link->arch->reloc(rel->type)->name);
}

/* The access stays as it is; its field leads to what it takes. */
static int write_lead(const struct link *link, const struct objsec *sec, const struct objrel *rel,
		      taddr to, struct uspl_err *err)
{
	taddr place = link_section_address(link, sec) + rel->offset;

	if (rel->addend != PC_ADDEND)
		return fail_call(link, sec, rel, err);
	return link->arch->reloc_write(link->arch->reloc(rel->type),
				       link_section_bytes(link, sec) + rel->offset,
				       to + (uint64_t)rel->addend - place, err);
}

/* A pair of slots for __tls_get_addr. */
static int write_pair(const struct link *link, const struct objsec *sec, const struct objrel *rel,
		      struct uspl_err *err)
{
	const struct link_symbol *sym = link_symbol_of(link, rel->sym);
	bool own_block = link->arch->reloc(rel->type)->kind == RELOC_TLSLD;
	uint64_t pair[2] = { own_block ? link_block_id(link) : sym->value.tls_id,
			     own_block ? 0 : sym->value.addr - (uint64_t)sym->value.tls_offset };

	if (!pair[0] || (!own_block && link_is_asked_for(link, rel->sym)))
		return fail_call(link, sec, rel, err);
	memcpy(link->segs[LINK_RODATA].bytes + sym->tls_pair, pair, sizeof(pair));
	return write_lead(link, sec, rel, link_in_segment(link, LINK_RODATA, sym->tls_pair), err);
}

/*
 * The two halves of an access by a descriptor: an instruction that has its address, and the call.
 */
static int keep_descriptor(const struct link *link, const struct objsec *sec,
			   const struct objrel *rel, struct uspl_err *err)
{
	uint64_t id = link_is_tls_base(rel->sym) ? link_block_id(link)
						 : link_symbol_of(link, rel->sym)->value.tls_id;

	if (!id || link_is_asked_for(link, rel->sym))
		return fail_call(link, sec, rel, err);
	if (link->arch->reloc(rel->type)->kind == RELOC_TLSDESC_CALL)
		return 0;
	return write_lead(link, sec, rel, link_descriptor(link, rel->sym), err);
}

/* Must the access stay, since what it is for has no fixed place or it can't be rewritten? */
static bool stays(const struct link *link, const struct objrel *rel)
{
	if (link->arch->reloc(rel->type)->kind == RELOC_TLSLD)
		return link_counts_from_block(link);
	return !link_has_place(link, rel->sym) || link_symbol_of(link, rel->sym)->keeps_descriptor;
}

int link_relocate_tls_call(const struct link *link, const struct objsec *sec,
			   const struct objrel *rel, uint64_t *swallow, struct uspl_err *err)
{
	const struct reloc_info *info = link->arch->reloc(rel->type);
	uint8_t *bytes = link_section_bytes(link, sec);
	struct tls_form form;
	uint64_t distance;
	int32_t value;

	if (stays(link, rel) ||
	    !link->arch->tls_relax(rel->type, bytes, rel->offset, sec->size, &form))
		return info->kind == RELOC_TLSDESC || info->kind == RELOC_TLSDESC_CALL
			       ? keep_descriptor(link, sec, rel, err)
			       : write_pair(link, sec, rel, err);
	*swallow = form.start + form.len;
	if (!form.off)
		return 0;
	/* The access counts from the thread pointer now. */
	distance = link_symbol_of(link, rel->sym)->value.addr + (uint64_t)(rel->addend - PC_ADDEND);
	if (link_is_asked_for(link, rel->sym))
		return link_take_distance(link, rel, distance, err);
	value = (int32_t)distance;
	if (value != (int64_t)distance)
		return fail_no_place(sec, rel, info, err);
	memcpy(bytes + form.start + form.off, &value, sizeof(value));
	return 0;
}

int link_relocate_tls(const struct link *link, const struct objsec *sec, const struct objrel *rel,
		      struct uspl_err *err)
{
	const struct reloc_info *info = link->arch->reloc(rel->type);
	const struct link_symbol *sym = link_symbol_of(link, rel->sym);
	uint8_t *field = link_section_bytes(link, sec) + rel->offset;
	taddr value = sym->value.addr + (uint64_t)rel->addend;
	taddr place = link_section_address(link, sec) + rel->offset;
	bool from_block = info->kind == RELOC_DTPOFF && link_counts_from_block(link);

	if (!from_block && !link_has_place(link, rel->sym))
		return fail_no_place(sec, rel, info, err);
	if (link_is_asked_for(link, rel->sym))
		return link_take_distance(
			link, rel, info->kind == RELOC_GOTTPOFF ? value - PC_ADDEND : value, err);
	if (from_block)
		value -= (uint64_t)sym->value.tls_offset;
	else if (info->kind == RELOC_GOTTPOFF)
		value = link_in_segment(link, LINK_RODATA, sym->tls_got) + (uint64_t)rel->addend -
			place;
	return link->arch->reloc_write(info, field, value, err);
}
