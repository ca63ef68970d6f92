// SPDX-License-Identifier: GPL-3.0-or-later
// names.c - ids and addresses as the names of functions

#include "trace/output/names.h"

#include <inttypes.h>
#include <string.h>

#include "base/demangle.h"
#include "base/text.h"
#include "image/image_debug.h"

/* Adds a name as people write it, and as a terminal may be shown it; NULL where none is known. */
static int add(struct trace_names *names, const char *name, struct uspl_err *err)
{
	char **place = vec_push(&names->by_id);

	if (!place)
		return uspl_fail_nomem(err);
	*place = name ? demangle_symbol(name) : NULL;
	return name && !*place ? uspl_fail_nomem(err) : 0;
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

/* The module that the part is for; NULL if it has been unloaded. */
static const struct module *module_of(const struct trace_names *names,
				      const struct trace_region *region)
{
	const struct module *module = module_at(names->proc_modules, region->head.module);

	return module && module->start == region->head.module &&
			       !strcmp(module->name, region->module_name)
		       ? module
		       : NULL;
}

/* All parts that there are no names of yet; images are those of the modules as they are now. */
static int add_all(struct trace_names *names, struct uspl_err *err)
{
	const struct trace_region *region;
	const struct uspl_trace_site *site;
	size_t known = 0;

	for (size_t i = 0; i < names->proc_modules->n; i++)
		if (!vec_push(&names->images))
			return uspl_fail_nomem(err);
	vec_for_each (&names->session->regions, region) {
		bool is_new = known == names->by_id.n;
		const struct module *module;
		struct image *image;

		if (region->head.first_id != known + 1)
			return uspl_fail(err, USPL_E_HOSTILE, "the parts of a trace don't fit");
		known += region->sites.n;
		if (!is_new)
			continue;
		module = module_of(names, region);
		image = module ? image_of(names, module) : NULL;
		vec_for_each (&region->sites, site) {
			const struct image_sym *sym =
				image ? image_sym_at(image, site->entry) : NULL;
			int rc =
				add(names, sym && sym->addr == site->entry ? sym->name : NULL, err);

			if (rc)
				return rc;
		}
	}
	return 0;
}

static void release_images(struct trace_names *names)
{
	for (size_t i = 0; i < names->images.n; i++)
		image_free(names->images.items[i]);
	vec_release(&names->images);
}

int names_grow(struct trace_names *names, struct uspl_err *err)
{
	release_images(names);
	regions_release(&names->updates);
	names->updates_read = false;
	return add_all(names, err);
}

int names_find(const struct proc *proc, const module_vec *modules,
	       const struct trace_session *session, struct trace_names *ret, struct uspl_err *err)
{
	auto_names struct trace_names names = { .session = session,
						.proc = proc,
						.proc_modules = modules };
	int rc = add_all(&names, err);

	if (rc)
		return rc;
	*ret = names;
	names = (struct trace_names){ 0 };
	return 0;
}

int names_take(struct trace_saved *saved, const module_vec *modules,
	       const struct trace_session *session, struct trace_names *ret, struct uspl_err *err)
{
	auto_names struct trace_names names = { .session = session, .proc_modules = modules };
	char *const *name;
	int rc;

	vec_for_each (&saved->names, name) {
		rc = add(&names, *name, err);
		if (rc)
			return rc;
	}
	names.callers = saved->callers;
	saved->callers = (trace_callers){ 0 };
	names.lines = saved->lines;
	saved->lines = (strvec){ 0 };
	*ret = names;
	names = (struct trace_names){ 0 };
	return 0;
}

void names_release(struct trace_names *names)
{
	for (size_t i = 0; i < names->by_id.n; i++)
		free(names->by_id.items[i]);
	for (size_t i = 0; i < names->lines.n; i++)
		free(names->lines.items[i]);
	free(names->line);
	for (size_t i = 0; i < names->callers.n; i++)
		free(names->callers.items[i].name);
	release_images(names);
	regions_release(&names->updates);
	vec_release(&names->by_id);
	vec_release(&names->lines);
	vec_release(&names->callers);
}

const char *names_of(const struct trace_names *names, uint32_t id, char *buf, size_t len)
{
	const struct trace_region *region;
	const struct uspl_trace_site *site;

	if (id && id - 1 < names->by_id.n && names->by_id.items[id - 1])
		return names->by_id.items[id - 1];
	site = trace_session_site(names->session, id, &region);
	if (site)
		snprintf(buf, len, "%s+0x%" PRIx64, region->module_name,
			 site->entry - region->head.module);
	else
		snprintf(buf, len, "?");
	return buf;
}

/* The image that the function is in, and its entry; NULL if that isn't known. */
static const struct image *image_with(struct trace_names *names, uint32_t id, taddr *ret_entry)
{
	const struct trace_region *region;
	const struct uspl_trace_site *site = trace_session_site(names->session, id, &region);
	const struct module *module = site && names->proc ? module_of(names, region) : NULL;

	if (!module)
		return NULL;
	*ret_entry = site->entry;
	return image_of(names, module);
}

char *names_source(struct trace_names *names, uint32_t id, int *ret_line)
{
	taddr entry;
	const struct image *image = image_with(names, id, &entry);

	return image ? image_source(image, entry, ret_line) : NULL;
}

const char *names_line(struct trace_names *names, uint32_t id)
{
	const struct image *image;
	taddr entry;

	if (!names->proc)
		return id && id - 1 < names->lines.n ? names->lines.items[id - 1] : NULL;
	image = image_with(names, id, &entry);
	free(names->line);
	names->line = image ? image_line(image, entry) : NULL;
	return names->line;
}

const char *names_module(const struct trace_names *names, uint32_t id)
{
	const struct trace_region *region;

	return trace_session_site(names->session, id, &region) ? region->module_name : "?";
}

/* The address with this low half in [start, end), 0 if there is none. */
static taddr widen(taddr start, taddr end, uint32_t low)
{
	taddr addr = (start & ~(taddr)UINT32_MAX) | low;

	if (addr < start)
		addr += (taddr)1 << 32;
	return addr < end ? addr : 0;
}

static void write_name(const char *name, char *buf, size_t len)
{
	auto_free char *plain = demangle_symbol(name);

	snprintf(buf, len, "%s", plain ? plain : "?");
}

/* The function in one of the process's modules; false if the address is in none. */
static bool find_in_modules(struct trace_names *names, uint32_t low, char *buf, size_t len)
{
	const struct module *module;

	vec_for_each (names->proc_modules, module) {
		taddr addr = widen(module->start, module->end, low);
		struct image *image = addr ? image_of(names, module) : NULL;
		/* A return address: the call stands before it. */
		const struct image_sym *sym = image ? image_sym_at(image, addr - 1) : NULL;

		if (!addr || (image && !image_seg_at(image, addr)))
			continue;
		if (sym)
			write_name(sym->name, buf, len);
		else
			snprintf(buf, len, "%s+0x%" PRIx64, module->name, addr - module->start);
		return true;
	}
	return false;
}

/* The same in the new code of updates. */
static bool find_in_updates(struct trace_names *names, uint32_t low, char *buf, size_t len)
{
	const struct region *update;

	/* Where they can't be read their code has no names. */
	if (!names->updates_read && regions_read(names->proc, &names->updates, NULL))
		regions_release(&names->updates);
	names->updates_read = true;
	vec_for_each (&names->updates, update) {
		taddr addr = widen(update->text, update->text + update->text_len, low);
		const struct region_range *function =
			addr ? regions_function_at(&names->updates, addr - 1, &update) : NULL;

		if (function) {
			write_name(function->name, buf, len);
			return true;
		}
	}
	return false;
}

const char *names_of_caller(struct trace_names *names, uint32_t low, char *buf, size_t len)
{
	const struct trace_caller *caller = callers_find(&names->callers, low);

	if (caller)
		snprintf(buf, len, "%s", caller->name);
	else if (!names->proc ||
		 (!find_in_modules(names, low, buf, len) && !find_in_updates(names, low, buf, len)))
		snprintf(buf, len, "0x..%08x", low);
	return buf;
}
