// SPDX-License-Identifier: GPL-3.0-or-later
// padding.c - places in a process that nothing uses: the end of a module's last page of constants

#include "thread/padding.h"

#include <string.h>

#include "proc/module.h"

#define MARK "uspl's own place"
#define MARK_LEN 16ull
/* With less it isn't worth while. */
#define PLACES_MIN 4

/* All zeros behind the segment, or our mark: then nothing else uses it. */
static bool is_free(const struct proc *proc, taddr at, uint64_t len)
{
	static const uint8_t zeros[PAGE];
	uint8_t have[PAGE];

	if (proc_read_some(proc, at, have, len) != len)
		return false;
	return !memcmp(have, MARK, MARK_LEN) || !memcmp(have, zeros, len);
}

/*
 * What lies between a segment of constants and the end of its last page; false if it's of no use.
 */
static bool look_behind(const struct proc *proc, const struct module *module,
			const Elf64_Phdr *phdr, uint64_t place, struct padding *ret)
{
	taddr end = phdr->p_vaddr + (uint64_t)module->bias + phdr->p_filesz;
	const struct mapping *map = proc_mapping_at(proc, end - 1);
	taddr at = (end + MARK_LEN - 1) & ~(MARK_LEN - 1), limit = (at + PAGE - 1) & ~(PAGE - 1);

	if (phdr->p_type != PT_LOAD || phdr->p_flags != PF_R || !phdr->p_filesz ||
	    phdr->p_memsz != phdr->p_filesz || !map || !map->read || map->write || map->exec ||
	    map->shared || limit > map->end || limit - at < MARK_LEN + PLACES_MIN * place ||
	    !is_free(proc, at, limit - at))
		return false;
	*ret = (struct padding){ .next = at + MARK_LEN, .end = limit, .len = place };
	return proc_write(proc, at, MARK, MARK_LEN, NULL) == 0;
}

bool padding_find(const struct proc *proc, uint64_t len, struct padding *ret)
{
	const struct module *module;
	auto_modules module_vec own = { 0 };
	bool found = false;

	/* Only lasting modules are looked at: it doesn't matter when the modules were read. */
	if (!proc->modules && modules_read(proc, &own, NULL) != 0)
		return false;
	vec_for_each (proc->modules ? proc->modules : &own, module) {
		const Elf64_Phdr *phdr;

		vec_for_each (&module->phdrs, phdr)
			found = found || (!module->is_vdso && module->lasting &&
					  look_behind(proc, module, phdr, len, ret));
	}
	return found;
}

static bool is_among(taddr at, const taddr *used, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (used[i] == at)
			return true;
	return false;
}

taddr padding_take(struct padding *padding, const taddr *used, size_t n)
{
	while (padding->next + padding->len <= padding->end) {
		taddr at = padding->next;

		padding->next += padding->len;
		if (!is_among(at, used, n))
			return at;
	}
	return 0;
}
