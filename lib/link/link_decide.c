// SPDX-License-Identifier: GPL-3.0-or-later
// link_decide.c - which sections are loaded, and where to

#include <string.h>

#include "link/link_internal.h"

static const struct {
	uint32_t type;
	const char *what;
} refused_types[] = {
	{ SHT_INIT_ARRAY, "a constructor" },
	{ SHT_FINI_ARRAY, "a destructor" },
	{ SHT_PREINIT_ARRAY, "a constructor" },
};

/* Refuses what no compiler makes, and what would lie in two places at once. */
static int check_flags(const struct objsec *sec, bool eh_frame, struct uspl_err *err)
{
	const uint64_t special = SHF_WRITE | SHF_EXECINSTR | SHF_TLS;

	if (eh_frame && sec->flags & special)
		return uspl_fail(err, USPL_E_HOSTILE,
				 "section '%s' claims to be more than call frame information",
				 sec->name);
	if (sec->flags & SHF_TLS && objsec_is_code(sec))
		return uspl_fail(err, USPL_E_HOSTILE,
				 "section '%s' claims to be code, and to be thread-local",
				 sec->name);
	if (sec->type == SHT_NOTE && objsec_is_code(sec))
		return uspl_fail(err, USPL_E_HOSTILE, "section '%s' claims to be code, and a note",
				 sec->name);
	return 0;
}

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

int link_decide(struct link *link, struct uspl_err *err)
{
	for (size_t i = 0; i < link->obj->secs.n; i++) {
		const struct objsec *sec = link->obj->secs.items[i];
		/* Notes describe the object file; no program looks for an update's in memory. */
		bool loaded = (sec->flags & SHF_ALLOC) && sec->type != SHT_NOTE;
		bool eh_frame = loaded && !strcmp(sec->name, ".eh_frame");
		int rc = check_flags(sec, eh_frame, err);

		if (rc)
			return rc;
		rc = loaded ? check_section(sec, err) : 0;
		if (rc)
			return rc;
		*link_section_of(link, sec) = (struct link_section){
			.loaded = loaded,
			.eh_frame = eh_frame,
			.threads = loaded && sec->flags & SHF_TLS,
			.kind = objsec_is_code(sec)      ? LINK_TEXT
				: sec->flags & SHF_WRITE ? LINK_DATA
							 : LINK_RODATA,
		};
	}
	return 0;
}
