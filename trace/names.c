// SPDX-License-Identifier: GPL-3.0-or-later
// names.c - ids and addresses as the names of functions

#include <inttypes.h>
#include <string.h>

#include "objfile/demangle.h"
#include "trace/trace.h"

static int add(struct trace_names *names, const char *name, const char *module,
	       struct uspl_err *err)
{
	char **place = vec_push(&names->by_id), **module_place = vec_push(&names->modules);

	if (!place || !module_place)
		return uspl_fail_nomem(err);
	*place = name ? demangle_name(name) : NULL;
	*module_place = strdup(module);
	return (name && !*place) || !*module_place ? uspl_fail_nomem(err) : 0;
}

/* The image of a module, made when it is first asked for; NULL if that fails. */
static struct image *image_of(struct trace_names *names, const struct module *module)
{
	size_t i = (size_t)(module - names->proc_modules->items);

	if (!names->images.items[i] &&
	    module_image(names->proc, module, &names->images.items[i], NULL) != 0)
		return NULL;
	return names->images.items[i];
}

static int add_region(struct trace_names *names, const struct trace_region *region,
		      struct uspl_err *err)
{
	const struct module *module = module_at(names->proc_modules, region->head.module);
	struct image *image = module ? image_of(names, module) : NULL;
	const struct uspl_trace_site *site;
	int rc = 0;

	vec_for_each (&region->sites, site) {
		const struct image_sym *sym = image ? image_sym_at(image, site->entry) : NULL;

		if (!rc)
			rc = add(names, sym && sym->addr == site->entry ? sym->name : NULL,
				 region->module_name, err);
	}
	return rc;
}

static int by_first_id(const void *a, const void *b)
{
	const struct trace_region *const *x = a, *const *y = b;

	return (*x)->head.first_id < (*y)->head.first_id ? -1 : 1;
}

int names_find(const struct proc *proc, const module_vec *modules,
	       const struct trace_session *session, struct trace_names *ret, struct uspl_err *err)
{
	struct trace_names names = { .proc = proc, .proc_modules = modules };
	const struct trace_region *regions[USPL_TRACE_ARENAS];
	size_t n = session->regions.n;
	int rc = 0;

	if (n > ARRAY_SIZE(regions))
		return uspl_fail(err, USPL_E_HOSTILE, "a trace has %zu parts", n);
	for (size_t i = 0; i < modules->n; i++)
		if (!vec_push(&names.images))
			rc = uspl_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		regions[i] = &session->regions.items[i];
	qsort(regions, n, sizeof(*regions), by_first_id);
	for (size_t i = 0; !rc && i < n; i++) {
		if (regions[i]->head.first_id != names.by_id.n + 1)
			rc = uspl_fail(err, USPL_E_HOSTILE, "the parts of a trace don't fit");
		else
			rc = add_region(&names, regions[i], err);
	}
	if (rc)
		names_release(&names);
	else
		*ret = names;
	return rc;
}

void names_release(struct trace_names *names)
{
	for (size_t i = 0; i < names->by_id.n; i++)
		free(names->by_id.items[i]);
	for (size_t i = 0; i < names->modules.n; i++)
		free(names->modules.items[i]);
	for (size_t i = 0; i < names->images.n; i++)
		image_free(names->images.items[i]);
	vec_release(&names->by_id);
	vec_release(&names->modules);
	vec_release(&names->images);
}

const char *names_of(const struct trace_names *names, const struct trace_session *session,
		     uint32_t id, char *buf, size_t len)
{
	const struct trace_region *region;
	const struct uspl_trace_site *site;

	if (id && id - 1 < names->by_id.n && names->by_id.items[id - 1])
		return names->by_id.items[id - 1];
	site = session_site(session, id, &region);
	if (site)
		snprintf(buf, len, "%s+0x%" PRIx64, region->module_name,
			 site->entry - region->head.module);
	else
		snprintf(buf, len, "?");
	return buf;
}

const char *names_module(const struct trace_names *names, uint32_t id)
{
	return id && id - 1 < names->modules.n ? names->modules.items[id - 1] : "?";
}

/* The address with this low half in the module, 0 if there is none. */
static taddr widen(const struct module *module, uint32_t low)
{
	taddr addr = (module->start & ~(taddr)UINT32_MAX) | low;

	if (addr < module->start)
		addr += (taddr)1 << 32;
	return addr < module->end ? addr : 0;
}

const char *names_of_caller(struct trace_names *names, uint32_t low, char *buf, size_t len)
{
	const struct module *module;

	vec_for_each (names->proc_modules, module) {
		taddr addr = widen(module, low);
		struct image *image = addr ? image_of(names, module) : NULL;
		/* A return address: the call stands before it. */
		const struct image_sym *sym = image ? image_sym_at(image, addr - 1) : NULL;
		auto_free char *plain = NULL;

		if (!addr || (image && !image_seg_at(image, addr)))
			continue;
		plain = sym ? demangle_name(sym->name) : NULL;
		if (plain)
			snprintf(buf, len, "%s", plain);
		else
			snprintf(buf, len, "%s+0x%" PRIx64, module->name, addr - module->start);
		return buf;
	}
	snprintf(buf, len, "0x..%08x", low);
	return buf;
}
