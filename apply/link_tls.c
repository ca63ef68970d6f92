// SPDX-License-Identifier: GPL-3.0-or-later
// link_tls.c - accesses to thread-local variables
/*
 * Compilers write an access by one of four models (Drepper, "ELF Handling For TLS"). Two of them
 * count from the thread pointer. They only fit a variable that has a fixed place there, and are the
 * relocations of kind TPOFF and GOTTPOFF. The other two, and descriptors, call a function that knows
 * where each module's variables are.
 *
 * If the variable's module has a fixed place, such a call is rewritten to count from the thread
 * pointer, as any linker does. So nothing need be known of the module but that place. Else the call
 * stays, with a pair of slots of our own: the module's number and the offset in its block, which
 * __tls_get_addr takes. A descriptor is never made: what it consists of is private to the dynamic
 * linker. Where descriptors are used to find the own module's block (_TLS_MODULE_BASE_), the thread
 * pointer takes the block's place.
 *
 * A variable that the new code brings is none of the dynamic linker's, and has no place at a fixed
 * distance. Its accesses are rewritten in the same way first, and then go through a detour each,
 * where the distance is asked for (link_threads.c).
 */

#include <string.h>

#include "apply/link_internal.h"

/* An access is no longer than this, and its field no further from its beginning. */
enum { FORM_MAX = 32, FIELD_MAX = 8 };

/* Relative to the pc the addend counts from the field, 4 bytes before the instruction's end. */
enum { PC_ADDEND = -4 };

bool link_is_tls_base(const struct objsym *sym)
{
	return !sym->sec && !strcmp(sym->name, "_TLS_MODULE_BASE_");
}

static struct link_private *private_of(const struct link *link)
{
	return link->priv;
}

bool link_is_tls_call(enum reloc_kind kind)
{
	return kind == RELOC_TLSGD || kind == RELOC_TLSLD || kind == RELOC_TLSDESC ||
	       kind == RELOC_TLSDESC_CALL;
}

bool link_is_tls(enum reloc_kind kind)
{
	return kind == RELOC_TPOFF || kind == RELOC_GOTTPOFF || kind == RELOC_DTPOFF;
}

bool link_is_fresh(const struct objsym *sym)
{
	return sym->sec && (sym->sec->flags & SHF_TLS);
}

/* What the access would be rewritten to; false if it is of another form. */
static bool form_of(const struct link *link, const struct objsec *sec, const struct objrel *rel,
		    struct tls_form *ret)
{
	uint64_t from = rel->offset > FIELD_MAX ? rel->offset - FIELD_MAX : 0;
	uint64_t len = sec->size - from < FORM_MAX ? sec->size - from : FORM_MAX;
	uint8_t copy[FORM_MAX];

	memcpy(copy, sec->data + from, len);
	if (!link->arch->tls_relax(rel->type, copy, rel->offset - from, len, ret))
		return false;
	ret->start += from;
	return true;
}

int link_plan_tls(struct link *link, const struct objsec *sec, const struct objrel *rel,
		  uint64_t *swallow, struct uspl_err *err)
{
	enum reloc_kind kind = link->arch->reloc(rel->type)->kind;
	struct link_symbol *sym = link_symbol_of(link, rel->sym);
	struct tls_form form;

	if (kind == RELOC_TLSGD || kind == RELOC_TLSLD)
		sym->needs_tls_pair = true;
	private_of(link)->moves_tls_base |= link_is_tls_base(rel->sym);
	if (!form_of(link, sec, rel, &form)) {
		private_of(link)->keeps_tls_calls |= kind == RELOC_TLSLD;
		return 0;
	}
	*swallow = form.start + form.len;
	if (!link_is_fresh(rel->sym) || !form.off)
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

/* Fills in the distance from the thread pointer; the access counts from there now. */
static int write_distance(const struct link *link, const struct objsec *sec,
			  const struct objrel *rel, uint64_t field, int64_t addend,
			  struct uspl_err *err)
{
	const struct reloc_info *info = link->arch->reloc(rel->type);
	const struct link_symbol *sym = link_symbol_of(link, rel->sym);
	int32_t value = (int32_t)(sym->value.addr + (uint64_t)addend);

	if (link_is_fresh(rel->sym))
		return link_take_distance(link, rel, sym->value.addr + (uint64_t)addend, err);
	if (value != (int64_t)(sym->value.addr + (uint64_t)addend))
		return fail_no_place(sec, rel, info, err);
	memcpy(link_section_bytes(link, sec) + field, &value, sizeof(value));
	return 0;
}

/* The access stays as it is: it gets a pair of slots for __tls_get_addr. */
static int write_pair(const struct link *link, const struct objsec *sec, const struct objrel *rel,
		      struct uspl_err *err)
{
	const struct reloc_info *info = link->arch->reloc(rel->type);
	const struct link_symbol *sym = link_symbol_of(link, rel->sym);
	uint64_t pair[2] = { sym->value.tls_id, 0 };
	taddr place = link_section_address(link, sec) + rel->offset;

	if (!sym->value.tls_id || link_is_fresh(rel->sym) || rel->addend != PC_ADDEND ||
	    (info->kind != RELOC_TLSGD && info->kind != RELOC_TLSLD))
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "%s+0x%llx: the access to the thread-local variable '%s' by %s "
				 "can't be linked",
				 sec->name, (unsigned long long)rel->offset, link_label(rel->sym),
				 info->name);
	if (info->kind == RELOC_TLSGD)
		pair[1] = sym->value.addr - (uint64_t)sym->value.tls_offset;
	memcpy(link->segs[LINK_RODATA].bytes + sym->tls_pair, pair, sizeof(pair));
	return link->arch->reloc_write(info, link_section_bytes(link, sec) + rel->offset,
				       link_in_segment(link, LINK_RODATA, sym->tls_pair) +
					       (uint64_t)rel->addend - place,
				       err);
}

static bool has_place(const struct link *link, const struct objrel *rel)
{
	return link_is_fresh(rel->sym) || link_is_tls_base(rel->sym) ||
	       link_symbol_of(link, rel->sym)->value.tls_offset;
}

int link_relocate_tls_call(const struct link *link, const struct objsec *sec,
			   const struct objrel *rel, uint64_t *swallow, struct uspl_err *err)
{
	bool keep = link->arch->reloc(rel->type)->kind == RELOC_TLSLD &&
		    private_of(link)->keeps_tls_calls;
	struct tls_form form;

	if (!has_place(link, rel) || keep ||
	    !link->arch->tls_relax(rel->type, link_section_bytes(link, sec), rel->offset, sec->size,
				   &form))
		return write_pair(link, sec, rel, err);
	*swallow = form.start + form.len;
	if (!form.off)
		return 0;
	return write_distance(link, sec, rel, form.start + form.off, rel->addend - PC_ADDEND, err);
}

/* True if the offset stays one in its module's block, as what it is added to stays the block. */
static bool counts_from_block(const struct link *link, const struct objrel *rel)
{
	return private_of(link)->keeps_tls_calls ||
	       (!has_place(link, rel) && !private_of(link)->moves_tls_base);
}

int link_relocate_tls(const struct link *link, const struct objsec *sec, const struct objrel *rel,
		      struct uspl_err *err)
{
	const struct reloc_info *info = link->arch->reloc(rel->type);
	const struct link_symbol *sym = link_symbol_of(link, rel->sym);
	uint8_t *field = link_section_bytes(link, sec) + rel->offset;
	taddr value = sym->value.addr + (uint64_t)rel->addend;
	taddr place = link_section_address(link, sec) + rel->offset;
	bool from_block = info->kind == RELOC_DTPOFF && counts_from_block(link, rel);

	if (from_block ? link_is_fresh(rel->sym) : !has_place(link, rel))
		return fail_no_place(sec, rel, info, err);
	if (from_block)
		value -= (uint64_t)sym->value.tls_offset;
	else if (link_is_fresh(rel->sym))
		return link_take_distance(
			link, rel, info->kind == RELOC_GOTTPOFF ? value - PC_ADDEND : value, err);
	else if (info->kind == RELOC_GOTTPOFF)
		value = link_in_segment(link, LINK_RODATA, sym->tls_got) + (uint64_t)rel->addend -
			place;
	return link->arch->reloc_write(info, field, value, err);
}
