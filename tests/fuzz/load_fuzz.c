// SPDX-License-Identifier: GPL-3.0-or-later
// load_fuzz.c - any objects as an update of a library in any process: matched, resolved, planned
/*
 * Two bytes say how many bytes describe the process, four more how long the ELF file of the old
 * code is, which comes next; then comes the new code, or nothing: then it is the old one. The
 * process maps two libraries (library.h), of which the first has the object's
 * sections: so much of it matches, and what comes later is reached: which entries are redirected,
 * what symbols mean, where the code goes. That is all of `uspl-apply --check` but the threads.
 */

#include "apply/load.h"
#include "proc/module_tls.h"
#include "record/detours.h"
#include "record/overlay.h"
#include "tests/fuzz/library.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PROGRAM = 0x400000, OTHER = 0x800000, FUNCTIONS = 4 };

static bool is_function(const struct objsym *sym)
{
	return sym->type == STT_FUNC && sym->sec && objsec_is_code(sym->sec) && sym->name[0];
}

/* Which functions the update changes: any of those that the object has. */
static void choose_functions(struct input *in, struct update_target *target)
{
	const struct objfile *obj = target->new_code;

	for (size_t i = 0; i < obj->syms.n && target->functions.n < FUNCTIONS; i++) {
		const struct objsym *sym = obj->syms.items[i];
		struct update_function *function;

		if (!is_function(sym) || input_below(in, 4) == 1 ||
		    !objfile_symbol(target->pre_code, sym->name))
			continue;
		function = vec_push(&target->functions);
		if (!function)
			abort();
		function->name = strdup(sym->name);
		function->symbol = strdup(sym->name);
		function->unit = strdup("unit.c");
		function->reason = strdup("changed");
	}
}

static struct update *make_update(struct input *in, const struct input *code, size_t pre_len)
{
	size_t new_len = code->left - pre_len;
	struct update *update = update_new();
	struct update_target *target = update ? vec_push(&update->targets) : NULL;

	if (!target)
		abort();
	update->id = strdup("fuzz");
	target->name = strdup("lib.so");
	target->path = strdup("lib.so");
	if (objfile_read_memory("new.o", code->at + (new_len ? pre_len : 0),
				new_len ? new_len : pre_len, &target->new_code, NULL) ||
	    objfile_read_memory("pre.o", code->at, pre_len, &target->pre_code, NULL)) {
		update_free(update);
		return NULL;
	}
	choose_functions(in, target);
	return update;
}

static struct proc *make_process(struct input *in, const struct objfile *obj)
{
	struct proc *proc = target_new();

	library_make(proc, in, PROGRAM, "/lib/lib.so", "lib.so", obj, OTHER);
	library_make(proc, in, OTHER, "/lib/libc.so.6", "libc.so.6", NULL, PROGRAM);
	return proc;
}

/* The symbol table of the program's file. */
static void add_symbols(struct image *image, const struct objfile *obj)
{
	for (size_t i = 0; i < obj->syms.n; i++) {
		const struct objsym *sym = obj->syms.items[i];
		struct image_sym *item = sym->sec && sym->sec->mark ? vec_push(&image->syms) : NULL;

		if (item)
			*item = (struct image_sym){ .name = sym->name,
						    .addr = sym->sec->mark + sym->value,
						    .size = sym->size,
						    .type = sym->type,
						    .bind = sym->bind };
	}
}

static int by_address(const void *a, const void *b)
{
	const struct image_sym *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* An earlier update of one of the functions, whose record says what it likes. */
static void add_earlier(struct input *in, const struct objfile *obj, region_vec *regions)
{
	const struct objsym *sym =
		obj->syms.n ? obj->syms.items[input_number(in, 1) % obj->syms.n] : NULL;
	struct region *region =
		sym && is_function(sym) && sym->sec->mark ? vec_push(regions) : NULL;
	struct region_site *site = region ? vec_push(&region->sites) : NULL;
	taddr addr = region ? sym->sec->mark + sym->value : 0;
	uint64_t bend = region ? input_number(in, 8) : 0;

	if (!site)
		return;
	snprintf(region->id, sizeof(region->id), "earlier");
	region->state = (enum uspl_region_state)(1 + bend % USPL_REGION_STATE_LAST);
	region->module = PROGRAM;
	region->module_name = strdup("lib.so");
	region->self = region->map = OTHER;
	region->map_len = region->info_len = (bend & 0x700) << 8;
	region->text = bend & 0x1000 ? addr : OTHER;
	region->text_len = bend & 0x2000 ? bend >> 16 : LIBRARY_HEAD;
	region->data = bend & 0x4000 ? bend >> 8 : OTHER + 0x1000;
	region->data_len = bend >> 16 & 0xffff;
	region->detours = (uint32_t)(bend >> 32);
	site->name = strdup(sym->name);
	site->addr = bend & 0x8000 ? addr + (bend >> 60) : addr;
	site->new_addr = OTHER + (bend >> 40 & 0xfff);
	site->len = (uint8_t)(1 + (bend >> 52) % USPL_SITE_BYTES_MAX);
	site->entry = (enum uspl_entry)((bend >> 56) % (USPL_ENTRY_LAST + 1));
}

static void plan(struct load *load)
{
	auto_resolver struct resolver *resolver = NULL;
	struct region region = { 0 };
	struct uspl_err err = { 0 };
	struct symbol_value value;
	int rc = resolver_new(load->proc, load->modules, load->module, load->image, load->match,
			      &resolver, &err);

	if (!rc) {
		const struct objfile *code = load->target->new_code;

		load->resolver = resolver;
		for (size_t i = 0; i < code->syms.n; i++)
			(void)!resolve(resolver, code->syms.items[i], &value, NULL);
		rc = load_plan(load, &region, &err);
	}
	if (rc && (!err.msg[0] || err.code != (enum uspl_code) - rc))
		abort();
	region_release(&region);
}

static void apply(struct load *load, struct image *image)
{
	auto_match struct match *match = NULL;
	const struct match_func *piece;
	const struct update_function *function;

	add_symbols(image, load->target->pre_code);
	if (image->syms.n)
		qsort(image->syms.items, image->syms.n, sizeof(*image->syms.items), by_address);
	if (module_tls_note(load->proc, load->modules, load->module, image, NULL) ||
	    overlay_add(image, load->proc, load->present, load->module->start, NULL) ||
	    detours_unpatch_image(image, load->present, load->module->start, NULL) ||
	    match_run(image, load->target->pre_code, &match, NULL))
		return;
	vec_for_each (&load->target->functions, function)
		if (match_require(match, function->symbol, &piece, NULL))
			return;
	load->match = match;
	plan(load);
}

static void apply_to(struct input *in, struct update *update)
{
	auto_proc struct proc *proc = make_process(in, update->targets.items->pre_code);
	bool is_main = input_below(in, 2);
	module_vec modules = { 0 };
	region_vec regions = { 0 };
	struct image *image = NULL;

	if (input_below(in, 2))
		add_earlier(in, update->targets.items->pre_code, &regions);
	if (modules_read(proc, &modules, NULL) == 0 && modules.n &&
	    module_image(proc, modules.items, &image, NULL) == 0) {
		struct load load = { .proc = proc,
				     .replaces = "",
				     .modules = &modules,
				     .module = modules.items,
				     .image = image,
				     .update = update,
				     .target = update->targets.items,
				     .present = &regions };

		modules.items->is_main = is_main;
		apply(&load, image);
		image_free(image);
	}
	modules_release(&modules);
	regions_release(&regions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input all = { data, size }, in, code;
	size_t about = (size_t)input_number(&all, 2), pre = (size_t)input_number(&all, 4);
	struct update *update;

	about = about < all.left ? about : all.left;
	in = (struct input){ all.at, about };
	code = (struct input){ all.at + about, all.left - about };
	update = make_update(&in, &code, pre < code.left ? pre : code.left);
	if (update)
		apply_to(&in, update);
	update_free(update);
	return 0;
}
