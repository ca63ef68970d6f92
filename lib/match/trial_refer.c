// SPDX-License-Identifier: GPL-3.0-or-later
// trial_refer.c - what a reference teaches
//
// A reference in the pre object names a symbol and an offset; the running code tells the address.
// What that teaches depends on what the symbol is:
//
//	code of the pre object      a hint: this offset of that func lies at this address
//	merged string or constant   the place of the symbol if it has a name; contents must be equal
//	other data of the object    the place of its item; read-only ones must be equal, too
//	anything else               the place of the symbol
//
// A call to a global function may lead to a stub of the procedure linkage table. The stub's address
// is kept apart: it is good for calls, but code that takes the function's address doesn't get it.
// Each update has stubs of its own beside the program's. Of these it is known where they lead, and
// all of a function must lead to the same place. What an update refers to by a return stub
// (link_caller.c) is what that calls.

#include <inttypes.h>
#include <string.h>

#include "match/match_internal.h"
#include "objfile/refname.h"

/* A symbol as people call it. */
static const char *label(const struct objsym *sym)
{
	return sym->type == STT_SECTION && sym->sec ? sym->sec->name : refname_symbol(sym->name);
}

static bool contradiction(struct trial *trial, const struct reference *ref, taddr one, taddr other)
{
	return trial_fail(trial,
			  "'%s' is at 0x%" PRIx64 " by one reference and at 0x%" PRIx64
			  " by another",
			  label(ref->sym), one, other);
}

static bool note_place(struct trial *trial, const struct reference *ref, struct place *place,
		       taddr addr)
{
	struct place **noted;

	if (place->known)
		return place->addr == addr || contradiction(trial, ref, addr, place->addr);
	noted = vec_push(&trial->noted);
	if (!noted)
		return trial_fail_oom(trial);
	*noted = place;
	place->known = true;
	place->addr = addr;
	return true;
}

/*
 * True if what is referred to is a stub of the procedure linkage table: a jump through a slot,
 * perhaps behind an endbr64. All that a function loses that begins this way is that its address
 * isn't learnt from calls. slot: where the stub has the address that it jumps to.
 */
static bool through_stub(const struct trial *trial, const struct reference *ref, taddr *ret_slot)
{
	enum { LOOK = 16 };
	const struct match *match = trial->match;
	const uint8_t *code;
	struct insn insn;
	size_t at = 0;
	int32_t disp;

	if (!ref->branch || ref->sym->bind == STB_LOCAL)
		return false;
	code = image_bytes(match->image, ref->addr, LOOK);
	if (!code || !match->arch->insn_decode(code, LOOK, &insn))
		return false;
	if (insn.flow == INSN_PLAIN) {
		at = insn.len;
		if (!match->arch->insn_decode(code + at, LOOK - at, &insn))
			return false;
	}
	if (insn.flow != INSN_JUMP_INDIRECT || !insn.pc_relative_mem ||
	    insn.disp_size != sizeof(disp))
		return false;
	memcpy(&disp, code + at + insn.disp_off, sizeof(disp));
	*ret_slot = ref->addr + at + insn.len + (taddr)(int64_t)disp;
	return true;
}

/* True for what is the program's own, not an update's. */
static bool in_program(const struct image *image, taddr addr)
{
	return addr >= image->start && addr < image->end;
}

/* Where a stub of an update leads: it was bound when the update was applied. */
static bool read_slot(const struct image *image, taddr slot, taddr *ret)
{
	const uint8_t *bytes = image_bytes(image, slot, sizeof(*ret));

	if (bytes)
		memcpy(ret, bytes, sizeof(*ret));
	return bytes != NULL;
}

/* Where a return stub of an update leads; 0 if there is none. */
static taddr return_stub_target(const struct match *match, taddr addr)
{
	size_t len = match->arch->return_stub_len;
	const uint8_t *code =
		in_program(match->image, addr) ? NULL : image_bytes(match->image, addr, len);
	taddr slot = code ? match->arch->return_stub_slot(addr, code, len) : 0;
	taddr target = 0;

	return slot && read_slot(match->image, slot, &target) ? target : 0;
}

static bool refer_symbol(struct trial *trial, const struct reference *written)
{
	struct match *match = trial->match;
	taddr through = written->off ? 0 : return_stub_target(match, written->addr);
	struct reference called = *written;
	const struct reference *ref = &called;
	taddr addr, slot, target;

	/* The stub calls the function, or the program's own stub for it. */
	if (through) {
		called.addr = through;
		called.branch = true;
	}
	addr = ref->addr - ref->off;

	/* mold has calls of a weak function that isn't there lead to the module's first byte. */
	if (ref->branch && ref->sym->bind == STB_WEAK && !ref->sym->sec &&
	    addr == match->image->start)
		return true;
	if (ref->off != 0 || !through_stub(trial, ref, &slot))
		return note_place(trial, ref, &match->addrs[ref->sym->mark], addr);
	if (!in_program(match->image, addr) && read_slot(match->image, slot, &target))
		return note_place(trial, ref, &match->targets[ref->sym->mark], target);
	return note_place(trial, ref, &match->calls[ref->sym->mark], addr);
}

/* The first instruction from there on that is no nop: branches may lead to it or to the nops. */
static taddr skip_nops(const struct match *match, const uint8_t *code, size_t len, taddr addr)
{
	struct insn insn;
	size_t at = 0;

	while (at < len && match->arch->insn_decode(code + at, len - at, &insn) && insn.is_nop)
		at += insn.len;
	return addr + at;
}

bool trial_lands(const struct match *match, const struct match_func *func, const uint32_t *map,
		 const struct ref_hint *ref_hint)
{
	const struct objsec *sec = func->sec;
	uint64_t off = ref_hint->off;
	const uint8_t *run;

	if (off > sec->size)
		return false;
	if (!map)
		return ref_hint->addr == func->addr + off;
	if (map[off] == MAP_NONE)
		off = skip_nops(match, sec->data + off, sec->size - off, off);
	if (map[off] == MAP_NONE)
		return false;
	if (ref_hint->addr == func->addr + map[off])
		return true;
	if (ref_hint->addr < func->addr || ref_hint->addr - func->addr > map[off])
		return false;
	run = image_bytes(match->image, ref_hint->addr, func->addr + map[off] - ref_hint->addr);
	return run && skip_nops(match, run, func->addr + map[off] - ref_hint->addr,
				ref_hint->addr) == func->addr + map[off];
}

static bool land_on(struct trial *trial, const struct reference *ref, struct func *func,
		    const struct ref_hint *ref_hint)
{
	const struct ref_hint *older;
	struct func **hinted;
	struct ref_hint *item;

	if (func->state == FUNC_MATCHED) {
		if (trial_lands(trial->match, &func->pub, func->map, ref_hint))
			return true;
		return contradiction(trial, ref, ref_hint->addr, func->pub.addr + ref_hint->off);
	}
	vec_for_each (&func->ref_hints, older) {
		if (older->off != ref_hint->off)
			continue;
		return older->addr == ref_hint->addr ||
		       contradiction(trial, ref, ref_hint->addr, older->addr);
	}
	item = vec_push(&func->ref_hints);
	hinted = vec_push(&trial->hinted_on);
	if (!item || !hinted)
		return trial_fail_oom(trial);
	*item = *ref_hint;
	*hinted = func;
	return true;
}

static bool refer_code(struct trial *trial, const struct reference *ref)
{
	const struct image *image = trial->match->image;
	struct func *func = trial->match->funcs[ref->sym->sec->mark];
	/* A reference to a redirected function means the code that runs when it is called. */
	struct ref_hint ref_hint = { ref->sym->value + ref->off, image_follow(image, ref->addr) };
	struct ref_hint *own;
	taddr slot;

	/*
	 * A global function of a library may be another module's, which the dynamic linker prefers.
	 */
	if (ref->sym->bind != STB_LOCAL && ref->off == 0 &&
	    (through_stub(trial, ref, &slot) || !image_holds(image, ref->addr)))
		return refer_symbol(trial, ref);
	if (ref_hint.off > func->pub.sec->size)
		return trial_fail(trial, "a reference leads outside '%s'", label(ref->sym));
	if (func != trial->func)
		return land_on(trial, ref, func, &ref_hint);
	own = vec_push(&trial->own);
	if (!own)
		return trial_fail_oom(trial);
	*own = ref_hint;
	return true;
}

bool trial_refer(struct trial *trial, const struct reference *ref)
{
	const struct objsec *sec = ref->sym->sec;
	uint64_t value = ref->sym->value, off = value + ref->off;
	struct place *place = &trial->match->addrs[ref->sym->mark];
	struct item *item, **pending;
	bool known;

	if (!sec || !(sec->flags & SHF_ALLOC) || ref->sym->type == STT_GNU_IFUNC)
		return refer_symbol(trial, ref);
	if (objsec_is_code(sec))
		return refer_code(trial, ref);
	if (match_sec_is_merged(sec)) {
		if (!merged_compare(trial, ref))
			return false;
		/* A linker that merges nothing leaves a string in several places: any will do. */
		if (!*ref->sym->name || place->known)
			return true;
		return note_place(trial, ref, place, ref->addr - ref->off);
	}
	/* array[-1] by the array's own symbol means the array, not what lies before it. */
	item = match_item_at(trial->match, sec,
			     (int64_t)(ref->sym->type == STT_SECTION ? off : value));
	if (!item)
		return true;
	known = item->place.known;
	if (!note_place(trial, ref, &item->place, ref->addr - (off - item->start)))
		return false;
	if (known || !item->sec->data)
		return true;
	if ((item->sec->flags & SHF_WRITE) && !trial->match->image->pristine)
		return true;
	pending = vec_push(&trial->pending);
	if (!pending)
		return trial_fail_oom(trial);
	*pending = item;
	return true;
}
