/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * region.h - what is applied in a process, read from its own memory
 *
 * include/uspl/abi.h says how a region lies in the target. This is the tool's side of it: finding
 * all of them, reading one into structures, encoding a new one, writing its state. Everything read
 * is the target's word and treated as hostile. An update that changes several modules of a process
 * has one region for each; they switch together.
 */
#ifndef USPL_RECORD_REGION_H
#define USPL_RECORD_REGION_H

#include "base/cleanup.h"
#include "base/buf.h"
#include "proc/proc.h"
#include "uspl/abi.h"
#include "uspl/hook.h"

/* What the record says of a site whose jump lies elsewhere at the moment. */
struct region_recorded {
	taddr addr; /* 0: it lies where the record says */
	uint8_t old_bytes[USPL_SITE_BYTES_MAX];
	enum uspl_entry entry;
	taddr punned;
	uint8_t punned_len;
	uint8_t body_len; /* of the code that the jump stands in front of, there */
};

/* A redirected function. */
struct region_site {
	char *name;
	/*
	 * Where the jump lies, and its bytes: the function's entry or, as long as the function is
	 * traced, the chain slot of its body (record/chain_slot.h), and then what the record says
	 * of it is in `recorded`.
	 */
	taddr addr, new_addr;
	struct region_recorded recorded;
	/* Bytes of code at addr that must have no thread in them; 0: they are among the ranges. */
	uint64_t old_size;
	uint8_t len; /* of the jump */
	uint8_t old_bytes[USPL_SITE_BYTES_MAX], new_bytes[USPL_SITE_BYTES_MAX];
	enum uspl_entry entry;
	taddr punned; /* of a USPL_ENTRY_PUNNED */
	uint8_t punned_len;
};

/* A named piece of code. */
struct region_range {
	char *name;
	taddr addr;
	uint64_t size;
};

typedef VEC(struct region_range) region_range_vec;

/* A hook: a function of the new code. */
struct region_hook {
	char *name;
	taddr addr;
	enum uspl_hook_kind kind;
};

/* An initial value that the update changes. */
struct region_datum {
	char *name;
	taddr addr;
	uint8_t len;
	uint8_t was[USPL_SITE_BYTES_MAX], is[USPL_SITE_BYTES_MAX];
	bool changed; /* in the switch that goes on */
};

struct region {
	taddr self, map;
	uint64_t map_len, info_len;
	enum uspl_region_state state;
	char id[USPL_ID_MAX];
	char *description, *patch;
	char *module_name; /* of the module's file; of a pending one: of the update's target */
	char *build_id;    /* the module's, in hex; NULL or "" if it has none */
	char *builds_on; /* ids of older updates whose code or data it uses, separated by blanks */
	size_t patch_len;
	/* "" or NULL: an unpacked update; it isn't signed, or an older uspl applied it */
	char *digest; /* of the update's file, SHA-256 in hex */
	char *signer; /* the id of the key that it was signed with */
	taddr module; /* where the changed module begins; 0: it isn't there */
	/* found by region_status_find_gone: it was unloaded, nothing is in effect */
	bool gone;
	int64_t applied_at; /* seconds since the epoch */
	uint64_t order;     /* higher is newer */
	taddr text, eh_frame, data;
	uint64_t text_len, eh_frame_len, data_len;
	taddr trampolines, selector; /* 0: there are none */
	uint64_t trampolines_len;
	taddr detours;       /* struct uspl_detours; 0: there are none */
	bool frames;         /* eh_frame is registered with the target's own unwinder */
	uint32_t thread_key; /* uspl/abi.h */
	VEC(struct region_site) sites;
	region_range_vec ranges; /* other code of replaced functions */
	region_range_vec names;  /* all functions of the new code */
	bool has_hooks;          /* the update has some, be they in another region */
	VEC(struct region_hook) hooks;
	enum uspl_hook_kind phase; /* struct uspl_region_hooks */
	uint32_t hooks_done;
	/* ids of the updates whose place it takes, and "NAME=NUMBER", separated by blanks */
	char *replaces, *states; /* NULL or "": none */
	VEC(struct region_datum) data_values;
	/* It may be switched thread by thread, and its author says so (uspl_region_by_thread). */
	bool by_thread, agreed;
	/* Threads go over one by one just now; found by trampolines_by_thread. */
	bool between;
	size_t threads_left; /* so many haven't yet, then */
};

typedef VEC(struct region) region_vec;
/* Some regions of a region_vec, which must not grow meanwhile. */
typedef VEC(const struct region *) region_list;

/*
 * Finds and reads all regions of a process, oldest first. proc->maps must be current. Sites of
 * functions that are traced are where their jumps are now (record/chain_slot.h). A region of a
 * newer ABI version is USPL_E_FORMAT; a region whose contents contradict themselves is
 * USPL_E_HOSTILE.
 */
int regions_read(const struct proc *proc, region_vec *ret, struct uspl_err *err) uspl_must_check;
void regions_release(region_vec *regions);
DEFINE_AUTO_RELEASE(regions, region_vec, regions_release)
#define auto_regions __attribute__((cleanup(cleanup_regions_)))
/* Appends a region to a list. */
int region_list_add(region_list *list, const struct region *region,
		    struct uspl_err *err) uspl_must_check;

/* The function's entry, wherever the jump lies. */
taddr region_site_entry(const struct region_site *site);
/* True if fewer bytes are written there than a jump has: see entries.h. */
bool region_site_is_short(const struct region_site *site);
/* True while any entry holds its jump: APPLIED, or interrupted in between, and not gone. */
bool region_is_live(const struct region *region);
/* True if a tool has died while it switched the region, and no other has completed that. */
bool region_is_interrupted(const struct region *region);
/* True if the update is to be in effect: it is live, or its library isn't there at the moment. */
bool region_is_wanted(const struct region *region);
/* The name that users see: "loaded", "applied", "undone", "interrupted", "pending". */
const char *region_state_name(enum uspl_region_state state);
/* True if the region uses code or data of the older update. */
bool region_builds_on(const struct region *region, const char *id);
/* True if the update is one of those whose place the region's takes. */
bool region_replaces(const struct region *region, const char *id);
/* How many bytes the selector takes, with what lies behind it. */
static inline uint64_t region_selector_len(const struct region *region)
{
	return region->by_thread ? USPL_SELECTOR_LEN_BY_THREAD : USPL_SELECTOR_LEN;
}
/* True if region is part of the update. */
bool region_has_id(const struct region *region, const char *id);

/*
 * Appends the info part to buf: header, strings, sites, ranges, padded to whole pages. region->self
 * must be set; map, text and so on are taken as they are. A first call with zero addresses tells
 * how long it will be: the length depends on the names and counts alone.
 */
int region_encode(const struct region *region, struct buf *buf,
		  struct uspl_err *err) uspl_must_check;

/* Writes the state into the target, nothing else. */
int region_write_state(const struct proc *proc, struct region *region, enum uspl_region_state state,
		       struct uspl_err *err) uspl_must_check;
/*
 * Writes into a region that isn't live that nothing of the update is wanted any more (UNDONE), and
 * that it is of no use for a module that lies in the same place later.
 */
int region_write_retired(const struct proc *proc, struct region *region,
			 struct uspl_err *err) uspl_must_check;
/* The present time, as a record says when an update was applied, and which of several is newer. */
void region_now(int64_t *ret_applied_at, uint64_t *ret_order);
/* Writes the time of the switch and the order. */
int region_write_applied(const struct proc *proc, struct region *region, int64_t applied_at,
			 uint64_t order, struct uspl_err *err) uspl_must_check;

/* Writes the whole record as the structure has it. */
int region_write_record(const struct proc *proc, const struct region *region,
			struct uspl_err *err) uspl_must_check;

/* Notes in the target and in the structure the key of its thread-local variables. */
int region_write_thread_key(const struct proc *proc, struct region *region, uint32_t thread_key,
			    struct uspl_err *err) uspl_must_check;

/* Writes into the target and the structure that this kind's turn has come; 0: nothing goes on. */
int region_write_phase(const struct proc *proc, struct region *region, enum uspl_hook_kind phase,
		       struct uspl_err *err) uspl_must_check;
/* Reads both from the target, where a thread may have counted on. */
int region_read_phase(const struct proc *proc, struct region *region,
		      struct uspl_err *err) uspl_must_check;
/* Where a region with hooks counts those that have run. */
taddr region_hooks_done_at(const struct region *region);

/* Appends a hook; name is copied. */
int region_hook_add(struct region *region, const char *name, enum uspl_hook_kind kind,
		    struct uspl_err *err) uspl_must_check;
/* The function of an update's new code that the address lies in, NULL if there is none. */
const struct region_range *regions_function_at(const region_vec *regions, taddr addr,
					       const struct region **ret_region);
/* Appends a piece; name is copied. */
int region_range_add(region_range_vec *ranges, const char *name, taddr addr, uint64_t size,
		     struct uspl_err *err) uspl_must_check;

/* Frees what the structure owns; nothing in the target. */
void region_release(struct region *region);
DEFINE_AUTO_RELEASE(region, struct region, region_release)
#define auto_region __attribute__((cleanup(cleanup_region_)))

#endif
