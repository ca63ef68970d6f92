// SPDX-License-Identifier: GPL-3.0-or-later
// update_page.c - an update as a page for a browser
/*
 * A page without a script. Whatever comes from a record, a process or a patch goes through
 * add_text, which makes it text. The instructions of a function before and after are paired by the
 * longest common subsequence; addresses and distances, which differ wherever code lies elsewhere,
 * don't count for that.
 */

#include "view/update_page.h"

#include <inttypes.h>
#include <string.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "command/html.h"
#include "image/image_debug.h"
#include "objfile/disasm.h"
#include "proc/module.h"
#include "view/page_diff.h"

#define FUNCTION_MAX (64u << 10) /* bytes of one that are shown */

static const char style[] =
	":root{color-scheme:light dark}"
	"body{margin:1em;font:14px sans-serif}h1{font-size:18px}h2{font-size:16px}"
	"table{border-collapse:collapse}td,th{padding:1px 8px;text-align:left;vertical-align:top}"
	".code{font:12px monospace;white-space:pre-wrap;width:100%;table-layout:fixed}"
	".code td{overflow-wrap:anywhere}.code td:nth-child(odd){opacity:.6}"
	".number{width:5em}td.place{opacity:1}"
	".was{background:light-dark(#fdd,#522)}.is{background:light-dark(#dfd,#252)}"
	".place{background:light-dark(#eee,#333)}";

/* Names, lines and the like of strangers. */
static void add_text(struct buf *out, const char *text)
{
	html_add_printable(out, text, true);
}

static void add_cell(struct buf *out, const char *text)
{
	buf_addstr(out, "<td>");
	add_text(out, text);
}

static void add_where(const struct scan_update *update, struct buf *out)
{
	const struct scan_presence *presence;
	char *const *name;

	buf_addstr(out, "<h2>Where</h2>\n<table id=\"where\"><tr><th>PID<th>Command<th>State"
			"<th>Applied<th>User<th>Libraries that lack it</tr>\n");
	vec_for_each (&update->presences, presence) {
		char when[CLOCK_UTC_LEN];

		if (!clock_utc_text(presence->status.applied_at, when))
			when[0] = '\0';
		buf_addf(out, "<tr><td>%d", presence->process->pid);
		add_cell(out, presence->process->comm);
		add_cell(out, presence->status.state);
		add_cell(out, presence->status.applied_at ? when : "");
		add_cell(out, presence->process->user);
		buf_addstr(out, "<td>");
		vec_for_each (&presence->status.pending, name) {
			add_text(out, *name);
			buf_addstr(out, " ");
		}
		buf_addstr(out, "</tr>\n");
	}
	buf_addstr(out, "</table>\n");
}

/* What the functions of a region are looked at with. */
struct looked {
	const struct proc *proc;
	const struct scan_process *process;
	const struct region *region;
	const struct image *image; /* of the module; NULL: there are fewer names */
};

/* "name" or "name+0x12" */
static void add_place(const char *name, uint64_t distance, struct buf *out)
{
	buf_addstr(out, name);
	if (distance)
		buf_addf(out, "+0x%" PRIx64, distance);
}

/* A name for the address, if an update or the program has one there. */
static void name_address(const struct looked *looked, taddr addr, struct buf *out)
{
	const struct image_sym *sym = looked->image ? image_sym_at(looked->image, addr) : NULL;
	const struct region *region;
	const struct region_range *name;

	vec_for_each (&looked->process->regions, region)
		vec_for_each (&region->names, name)
			if (addr >= name->addr && addr - name->addr < name->size) {
				add_place(name->name, addr - name->addr, out);
				return;
			}
	if (sym)
		add_place(sym->name, addr - sym->addr, out);
	else
		buf_addf(out, "0x%" PRIx64, addr);
}

/* A function's instructions, with names of what branches outside lead to. */
static int disassemble(const struct looked *looked, taddr start, const struct buf *bytes,
		       page_lines *ret, struct uspl_err *err)
{
	const uint8_t *code = (const uint8_t *)bytes->data;
	size_t len = bytes->len;

	for (size_t at = 0; at < len;) {
		struct page_line *line = vec_push(ret);
		char text[256];
		struct insn insn;
		size_t n = disasm_insn(code + at, len - at, start + at, text, sizeof(text));
		auto_buf struct buf all = { 0 };

		if (!line)
			return uspl_fail_nomem(err);
		if (n && arch_native()->insn_decode(code + at, len - at, &insn) && insn.rel_size) {
			taddr to = start + at + insn.len + (taddr)insn.rel;

			/* The mnemonic, then where it leads. */
			buf_add(&all, text, strcspn(text, " "));
			buf_addstr(&all, " ");
			if (to - start < len)
				buf_addf(&all, "+0x%" PRIx64, to - start);
			else
				name_address(looked, to, &all);
		} else {
			buf_addstr(&all, text);
		}
		line->number = at;
		line->text = buf_take(&all);
		if (!line->text)
			return uspl_fail_nomem(err);
		at += n ? n : 1;
	}
	return 0;
}

static int read_code(const struct looked *looked, taddr start, uint64_t len, struct buf *code,
		     struct uspl_err *err)
{
	len = len < FUNCTION_MAX ? len : FUNCTION_MAX;
	buf_addzero(code, len);
	if (code->oom)
		return uspl_fail_nomem(err);
	code->len = proc_read_some(looked->proc, start, code->data, len);
	return 0;
}

/* What ran before: the function's own code, or that of an older update of it. */
static int read_before(const struct looked *looked, const struct region_site *site,
		       taddr *ret_start, struct buf *code, struct uspl_err *err)
{
	taddr entry = region_site_entry(site);
	const uint8_t *old = site->recorded.addr ? site->recorded.old_bytes : site->old_bytes;
	taddr older = arch_native()->jump_target(entry, old, site->len);
	const struct region_range *range;
	const struct region *other;
	uint64_t len = site->old_size;
	int rc;

	*ret_start = entry;
	vec_for_each (&looked->region->ranges, range)
		if (entry >= range->addr && entry - range->addr < range->size)
			len = range->addr + range->size - entry;
	vec_for_each (&looked->process->regions, other)
		vec_for_each (&other->names, range)
			if (older && range->addr == older) {
				*ret_start = older;
				len = range->size;
			}
	rc = read_code(looked, *ret_start, len, code, err);
	if (rc)
		return rc;
	if (*ret_start == entry && code->len >= site->len)
		memcpy(code->data, old, site->len);
	return 0;
}

static int add_function(const struct looked *looked, const struct region_site *site,
			struct buf *out, struct uspl_err *err)
{
	auto_page_lines page_lines was = { 0 }, is = { 0 };
	auto_buf struct buf before = { 0 }, after = { 0 };
	auto_free char *line =
		looked->image ? image_line(looked->image, region_site_entry(site)) : NULL;
	const struct region_range *name;
	uint64_t len = 0;
	taddr start;
	int rc = read_before(looked, site, &start, &before, err);

	if (rc)
		return rc;
	vec_for_each (&looked->region->names, name)
		if (name->addr == site->new_addr)
			len = name->size;
	rc = read_code(looked, site->new_addr, len, &after, err);
	if (rc)
		return rc;
	rc = disassemble(looked, start, &before, &was, err);
	if (rc)
		return rc;
	rc = disassemble(looked, site->new_addr, &after, &is, err);
	if (rc)
		return rc;
	buf_addstr(out, "<h2 class=\"function\">");
	add_text(out, site->name);
	buf_addstr(out, "</h2>\n<p>in ");
	add_text(out, looked->region->module_name);
	if (line) {
		buf_addstr(out, ", from ");
		add_text(out, line);
	}
	buf_addf(out, "; before: 0x%" PRIx64 ", %zu bytes; after: 0x%" PRIx64 ", %zu bytes</p>\n",
		 start, before.len, site->new_addr, after.len);
	return page_diff_add(&was, &is, out, err);
}

/* All functions, as the first process has them that has all of it. */
static int add_functions(const struct scan_update *update, struct buf *out, struct uspl_err *err)
{
	const struct scan_presence *presence = update->presences.items;
	const struct scan_process *process = presence->process;
	auto_proc struct proc *proc = NULL;
	const struct region **region;
	const struct region_site *site;
	int rc = proc_open_readonly(process->pid, &proc, err);

	if (rc)
		return rc;
	vec_for_each (&presence->status.regions, region) {
		const struct module *module = module_at(&process->modules, (*region)->module);
		auto_image struct image *image = NULL;
		struct looked looked = { proc, process, *region, NULL };

		if (module && module_image(proc, module, &image, NULL) == 0)
			looked.image = image;
		vec_for_each (&(*region)->sites, site) {
			rc = add_function(&looked, site, out, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

int update_page_add(const struct scan_update *update, struct buf *out, struct uspl_err *err)
{
	const struct region *region = update->region;
	auto_buf struct buf body = { 0 }, title = { 0 };
	struct html_page page = { .style = { style, sizeof(style) - 1 } };
	int rc;

	buf_addf(&title, "update %s", region->id);
	buf_addstr(&body, "<h1>Update ");
	add_text(&body, region->id);
	buf_addstr(&body, "</h1>\n<p>");
	add_text(&body, region->description);
	buf_addstr(&body, "</p>\n");
	add_where(update, &body);
	buf_addstr(&body, "<h2>Patch</h2>\n");
	rc = page_diff_add_patch(region->patch, region->patch_len, &body, err);
	if (rc)
		return rc;
	rc = add_functions(update, &body, err);
	if (rc)
		return rc;
	if (body.oom || title.oom)
		return uspl_fail_nomem(err);
	page.title = buf_str(&title);
	page.body = buf_str(&body);
	page.body_len = body.len;
	html_add_page(out, &page);
	return 0;
}
