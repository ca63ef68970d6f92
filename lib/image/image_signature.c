// SPDX-License-Identifier: GPL-3.0-or-later
// image_signature.c - what a function is called with and what it returns, by its debugging
// information

#include "image/image_signature.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <inttypes.h>
#include <string.h>

#include "arch/arch.h"
#include "base/buf.h"
#include "image/image_internal.h"

#define NAMES_MAX 4096
#define NESTING_MAX 16

/* The type of a thing without typedefs and qualifiers; false if it has none, which is void. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr), ret) &&
	       dwarf_peel_type(ret, ret) == 0;
}

static uint64_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_formudata(dwarf_attr_integrate(die, name, &attr), &value) ? 0 : value;
}

static bool is_float(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_base_type &&
	       number_of(type, DW_AT_encoding) == DW_ATE_float;
}

static bool is_pointer(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

static void classify(Dwarf_Die *type, uint64_t at, struct call_type *out, int nesting);

/* The members of a structure, or the base classes, each where it lies. */
static void classify_members(Dwarf_Die *type, uint64_t at, struct call_type *out, int nesting)
{
	Dwarf_Die child, member;

	if (dwarf_child(type, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);

		if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
		    !dwarf_hasattr(&child, DW_AT_external) && type_of(&child, &member))
			classify(&member, at + number_of(&child, DW_AT_data_member_location), out,
				 nesting + 1);
	} while (dwarf_siblingof(&child, &child) == 0);
}

/* Notes what there is in each 8 bytes of a type that begins at `at`. */
static void classify(Dwarf_Die *type, uint64_t at, struct call_type *out, int nesting)
{
	Dwarf_Word size, one;
	Dwarf_Die element;

	if (at >= 2 * WORD_LEN || nesting > NESTING_MAX)
		return;
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		classify_members(type, at, out, nesting);
		break;
	case DW_TAG_array_type:
		if (!type_of(type, &element) || dwarf_aggregate_size(type, &size) != 0 ||
		    dwarf_aggregate_size(&element, &one) != 0 || !one)
			break;
		for (uint64_t i = 0; i < size / one && at + i * one < 2 * WORD_LEN; i++)
			classify(&element, at + i * one, out, nesting + 1);
		break;
	default:
		if (dwarf_aggregate_size(type, &size) != 0)
			size = WORD_LEN;
		/* long double goes by way of memory. */
		if (is_float(type) && size > WORD_LEN)
			out->in_memory = true;
		else if (is_float(type))
			out->real |= (uint8_t)(1u << at / WORD_LEN);
		else
			out->whole |= (uint8_t)((size > WORD_LEN ? 3u : 1u) << at / WORD_LEN);
	}
}

static struct call_type call_type_of(Dwarf_Die *type)
{
	struct call_type out = { .size = WORD_LEN, .align = WORD_LEN };
	Dwarf_Word size;

	if (dwarf_aggregate_size(type, &size) == 0 && size <= UINT32_MAX)
		out.size = (uint32_t)size;
	if (is_pointer(type))
		out.size = WORD_LEN;
	if (is_float(type) && out.size > WORD_LEN)
		out.align = out.size;
	/* C++: what has a constructor of its own is handed over by its address. */
	if (number_of(type, DW_AT_calling_convention) == DW_CC_pass_by_reference) {
		out.size = WORD_LEN;
		out.whole = 1;
		return out;
	}
	classify(type, 0, &out, 0);
	return out;
}

/* "RED=0,GREEN=1" */
static char *enumerators_of(Dwarf_Die *type)
{
	struct buf text = { 0 };
	Dwarf_Die child;

	if (dwarf_child(type, &child) != 0)
		return NULL;
	do {
		Dwarf_Attribute attr;
		Dwarf_Sword value;

		if (dwarf_tag(&child) == DW_TAG_enumerator && text.len < NAMES_MAX &&
		    dwarf_formsdata(dwarf_attr(&child, DW_AT_const_value, &attr), &value) == 0)
			buf_addf(&text, "%s%s=%" PRId64, text.len ? "," : "", dwarf_diename(&child),
				 (int64_t)value);
	} while (dwarf_siblingof(&child, &child) == 0);
	return buf_take(&text);
}

static bool points_to_text(Dwarf_Die *type)
{
	const char *name;
	Dwarf_Die to;

	if (dwarf_tag(type) != DW_TAG_pointer_type || !type_of(type, &to))
		return false;
	name = dwarf_diename(&to);
	return dwarf_tag(&to) == DW_TAG_base_type && name && !strcmp(name, "char");
}

/* What the value is, as far as it is one that fits into 8 bytes. */
static void fill_kind(Dwarf_Die *type, struct image_value *value)
{
	int tag = dwarf_tag(type);
	uint64_t encoding = tag == DW_TAG_base_type ? number_of(type, DW_AT_encoding) : 0;

	value->type = call_type_of(type);
	value->width = value->type.size < WORD_LEN ? (uint8_t)value->type.size : WORD_LEN;
	if (points_to_text(type))
		value->kind = USPL_PROBE_TEXT;
	else if (is_pointer(type) || tag == DW_TAG_ptr_to_member_type)
		value->kind = USPL_PROBE_POINTER;
	else if (tag == DW_TAG_enumeration_type)
		value->kind = USPL_PROBE_SIGNED;
	else if (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char)
		value->kind = USPL_PROBE_SIGNED;
	else if (tag == DW_TAG_base_type)
		value->kind = encoding == DW_ATE_float ? USPL_PROBE_FLOAT : USPL_PROBE_UNSIGNED;
	if (value->type.size > WORD_LEN)
		value->kind = 0;
	if (tag == DW_TAG_enumeration_type)
		value->names = enumerators_of(type);
	else if (encoding == DW_ATE_boolean)
		value->names = strdup("false=0,true=1");
}

/* The place that the debugging information gives for the entry, where that is a register. */
static struct call_place place_at(Dwarf_Die *param, Dwarf_Addr entry)
{
	struct call_place nowhere = { USPL_LISTEN_NOWHERE, 0 };
	Dwarf_Attribute attr;
	Dwarf_Op *expr;
	size_t len;

	if (!dwarf_attr(param, DW_AT_location, &attr) ||
	    dwarf_getlocation_addr(&attr, entry, &expr, &len, 1) != 1 || len != 1)
		return nowhere;
	if (expr->atom >= DW_OP_reg0 && expr->atom <= DW_OP_reg31)
		return arch_native()->call_register(expr->atom - DW_OP_reg0);
	return expr->atom == DW_OP_regx ? arch_native()->call_register((unsigned)expr->number)
					: nowhere;
}

static int add_params(Dwarf_Die *function, Dwarf_Addr entry, struct image_signature *out,
		      struct uspl_err *err)
{
	Dwarf_Die child, type;

	if (dwarf_child(function, &child) != 0)
		return 0;
	do {
		struct image_value *value;
		Dwarf_Attribute attr;
		const char *name;

		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		value = vec_push(&out->args);
		if (!value)
			return uspl_fail_nomem(err);
		name = dwarf_formstring(dwarf_attr_integrate(&child, DW_AT_name, &attr));
		if (name && !(value->name = strdup(name)))
			return uspl_fail_nomem(err);
		if (type_of(&child, &type))
			fill_kind(&type, value);
		value->place = place_at(&child, entry);
	} while (dwarf_siblingof(&child, &child) == 0);
	return 0;
}

/*
 * By the calling convention, but for what the debugging information puts into a register at the
 * first instruction: compilers change the arguments of functions that no other unit calls.
 */
static int find_places(const struct image *image, taddr addr, struct image_signature *out,
		       struct uspl_err *err)
{
	auto_free struct call_type *types = calloc(out->args.n + 1, sizeof(*types));
	auto_free struct call_place *places = calloc(out->args.n + 1, sizeof(*places));
	const struct image_sym *sym = image_sym_at(image, addr);

	if (!types || !places)
		return uspl_fail_nomem(err);
	if (out->has_result)
		out->result.place = arch_native()->call_result(&out->result.type);
	for (size_t i = 0; i < out->args.n; i++)
		types[i] = out->args.items[i].type;
	arch_native()->call_places(out->has_result ? &out->result.type : NULL, types, out->args.n,
				   places);
	/* A copy of the function takes its arguments in other places than the function would. */
	if (sym && sym->addr == addr &&
	    (strstr(sym->name, ".isra.") || strstr(sym->name, ".constprop.") ||
	     strstr(sym->name, ".part.")))
		return 0;
	for (size_t i = 0; i < out->args.n; i++)
		if (out->args.items[i].place.from == USPL_LISTEN_NOWHERE)
			out->args.items[i].place = places[i];
	return 0;
}

/* The function's entry in the debugging information. */
static bool find_function(const struct image *image, taddr addr, Dwarf_Die *ret,
			  Dwarf_Addr *ret_entry)
{
	Dwfl_Module *mod = image_dwfl_module(image);
	Dwarf_Addr bias, low;
	Dwarf_Die *unit = mod ? dwfl_module_addrdie(mod, addr, &bias) : NULL;
	Dwarf_Die *scopes = NULL;
	int n = unit ? dwarf_getscopes(unit, addr - bias, &scopes) : 0;
	bool found = false;

	for (int i = 0; i < n && !found; i++) {
		found = dwarf_tag(&scopes[i]) == DW_TAG_subprogram &&
			dwarf_entrypc(&scopes[i], &low) == 0 && low == addr - bias;
		if (found)
			*ret = scopes[i];
	}
	if (found)
		*ret_entry = addr - bias;
	free(scopes);
	return found;
}

int image_signature_read(const struct image *image, taddr addr, struct image_signature *ret,
			 struct uspl_err *err)
{
	struct image_signature out = { 0 };
	Dwarf_Die function, type;
	Dwarf_Addr entry;
	int rc = 0;

	if (find_function(image, addr, &function, &entry)) {
		out.known = true;
		rc = add_params(&function, entry, &out, err);
		out.has_result = type_of(&function, &type);
		if (out.has_result)
			fill_kind(&type, &out.result);
		if (!rc)
			rc = find_places(image, addr, &out, err);
	}
	if (rc)
		image_signature_release(&out);
	else
		*ret = out;
	return rc;
}

static void release_value(struct image_value *value)
{
	free(value->name);
	free(value->names);
}

void image_signature_release(struct image_signature *signature)
{
	struct image_value *value;

	vec_for_each (&signature->args, value)
		release_value(value);
	release_value(&signature->result);
	vec_release(&signature->args);
}
