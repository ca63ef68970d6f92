// SPDX-License-Identifier: GPL-3.0-or-later
// modules_fuzz.c - ELF headers, dynamic sections, link maps, notes and frames in a process's memory

#include "proc/dynsym.h"
#include "proc/linkmap.h"
#include "proc/module_tls.h"
#include "tests/fuzz/target.h"
#include "trace/probe/marker.h"
#include "unwind/cfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_dynamic(struct proc *proc, const struct module *module)
{
	auto_dynsyms struct dynsyms *dyn = NULL;
	linkmap_vec maps = { 0 };
	taddr value;

	if (dynsyms_open(proc, module, &dyn, NULL))
		return;
	(void)dynsyms_find(dyn, "f", NULL);
	(void)dynsyms_find(dyn, "f", "V1");
	(void)dynsyms_wanted_version(dyn, "f");
	(void)dynsyms_bound_slot(dyn, "f", &value);
	(void)dynsyms_irelative(dyn, 0x100000, &value);
	(void)dynsyms_prefers_own(dyn, "f");
	if (linkmaps_read(proc, dyn->debug, module->dynamic, &maps, NULL) == 0)
		vec_release(&maps);
}

static void read_image(struct proc *proc, const module_vec *modules, const struct module *module)
{
	struct markers markers = { 0 };
	struct module_tls tls;
	struct image *image = NULL;

	(void)module_tls_read(proc, modules, module, &tls, NULL);
	if (module_image(proc, module, &image, NULL))
		return;
	(void)markers_find(proc, module, image, &markers, NULL);
	markers_release(&markers);
	image_free(image);
}

static void read_frames(struct proc *proc, taddr at)
{
	const struct unwind_code code = { 0x200000, 0x300000, at, 400 };
	struct cfi cfi;

	if (cfi_open_memory(&cfi, proc, &code, NULL) == 0 && cfi.cfi) {
		Dwarf_Frame *frame = NULL;

		if (dwarf_cfi_addrframe(cfi.cfi, 0x200010, &frame) == 0) {
			Dwarf_Op *ops;
			size_t n;

			(void)dwarf_frame_cfa(frame, &ops, &n);
			free(frame);
		}
	}
	cfi_close(&cfi);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	auto_proc struct proc *proc = target_open(&in);
	module_vec modules = { 0 };
	const struct module *module;

	if (modules_read(proc, &modules, NULL) == 0) {
		vec_for_each (&modules, module) {
			read_dynamic(proc, module);
			read_image(proc, &modules, module);
		}
		modules_release(&modules);
	}
	read_frames(proc, proc->maps.items[proc->maps.n - 1].start);
	return 0;
}
