/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * owners.h - the other owners of functions: for the code that switches them
 *
 * The entry of a function may have several owners: the tracer, probes of markers, updates
 * (docs/trace.md, "Owners of an entry"). The code that stops threads, looks at stacks and writes
 * entries asks here what belongs to the others. Only this folder knows which others there are, and
 * how their records are laid out (trace_records.h, probe_records.h).
 */
#ifndef USPL_RECORD_OWNERS_H
#define USPL_RECORD_OWNERS_H

#include "base/cleanup.h"
#include "record/region.h"
#include "unwind/unwind.h"

/* How many owners may hide one return address on a stack, one behind the other. */
#define OWNERS_HIDDEN_MAX 8

/* All owners but updates, as the process's memory says at one moment. */
struct owners;

/* proc->maps must be current; proc must outlive them. */
int owners_read(const struct proc *proc, struct owners **ret, struct uspl_err *err) uspl_must_check;
void owners_free(struct owners *owners);
DEFINE_AUTO_FREE(owners, struct owners, owners_free)
#define auto_owners __attribute__((cleanup(cleanup_owners_)))

/*
 * A new site that says what was read at the entry (addr, old_bytes): if the entry has other owners,
 * it says afterwards what the program or an older update has there, and where its own jump is to go
 * (chain_slot.h). USPL_E_BUSY if a switch of the tracer that didn't come to its end has left its
 * bytes there.
 */
int owners_adopt_site(const struct owners *owners, struct region_site *site,
		      struct uspl_err *err) uspl_must_check;
/*
 * USPL_E_CONFLICT if the bytes of the site hold a jump that comes and goes, and that can't stand
 * before the site's.
 */
int owners_refuse_at(const struct owners *owners, const struct region_site *site,
		     struct uspl_err *err) uspl_must_check;
/*
 * USPL_E_UNSUPPORTED if such a jump is behind the bytes of a short entry, where it would be part of
 * the entry's.
 */
int owners_refuse_behind(const struct owners *owners, const struct region_site *site,
			 struct uspl_err *err) uspl_must_check;

/* Code out of line: a thread in it is in the function that `site` is in. */
struct owners_code {
	taddr site, start, end;
	/*
	 * If the site is the function's entry: where in this code the function begins. A thread
	 * before that goes wherever the entry leads by then.
	 */
	taddr begins;
	size_t region, next; /* owners_next_code's; all 0 for the first call */
};

/* The next one of the code that lies at sites anywhere in functions; false if there is no other. */
bool owners_next_code(const struct owners *owners, struct owners_code *code);
/*
 * The code that the function at that entry has its first instructions in, or had, while a thread
 * may be in it still. False if there is none.
 */
bool owners_body(const struct owners *owners, taddr entry, struct owners_code *ret);

/* Makes an unwinder know their code, and where it keeps return addresses. */
int owners_add_to_unwinder(const struct owners *owners, struct unwinder *unwinder,
			   struct uspl_err *err) uspl_must_check;

/*
 * Memory in which an owner's runtime keeps addresses of code: no stack is there. Shadows of stacks
 * have return addresses that stay when the calls are long over.
 */
struct owners_memory {
	taddr start;
	uint64_t len;
};

typedef VEC(struct owners_memory) owners_memory_vec;

/*
 * Finds all such memory, that of tools which have died included; sorted. The caller releases the
 * vector. proc->maps must be current.
 */
int owners_find_memory(const struct proc *proc, owners_memory_vec *ret,
		       struct uspl_err *err) uspl_must_check;
bool owners_memory_has(const owners_memory_vec *memory, taddr addr);

#endif
