// SPDX-License-Identifier: GPL-3.0-or-later
// build.c - what a build gives: units, programs, and notes for the user

#include <stdarg.h>
#include <string.h>

#include "base/file.h"
#include "create/tree/build.h"

int build_note(struct build *build, struct uspl_err *err, const char *fmt, ...)
{
	va_list args;
	char *note;
	int len;

	va_start(args, fmt);
	len = vasprintf(&note, fmt, args);
	va_end(args);
	return len >= 0 && strvec_take(&build->notes, note) ? 0 : uspl_fail_nomem(err);
}

int build_unit_changed(const struct build_unit *unit, bool *ret, struct uspl_err *err)
{
	auto_buf struct buf pre = { 0 };
	auto_buf struct buf post = { 0 };
	int rc;

	*ret = !unit->pre_obj || !unit->post_obj;
	if (*ret || !strcmp(unit->pre_obj, unit->post_obj))
		return 0;
	rc = file_read(unit->pre_obj, &pre, err);
	if (rc)
		return rc;
	rc = file_read(unit->post_obj, &post, err);
	if (rc)
		return rc;
	*ret = pre.len != post.len || memcmp(buf_str(&pre), buf_str(&post), pre.len);
	return 0;
}

int build_link_changed(const struct build *build, const struct build_link *link, bool *ret,
		       struct uspl_err *err)
{
	const size_t *index;

	*ret = false;
	vec_for_each (&link->units, index) {
		int rc = build_unit_changed(&build->units.items[*index], ret, err);

		if (rc || *ret)
			return rc;
	}
	return 0;
}

void build_link_release(struct build_link *link)
{
	strvec_release(&link->build_ids);
	vec_release(&link->units);
	free(link->soname);
	free(link->file);
	free(link->before);
	free(link->options);
	free(link->path);
}

void build_free(struct build *build)
{
	struct build_unit *unit;
	struct build_link *link;

	if (!build)
		return;
	vec_for_each (&build->units, unit) {
		free(unit->source);
		free(unit->object);
		free(unit->pre_obj);
		free(unit->post_obj);
	}
	vec_release(&build->units);
	vec_for_each (&build->links, link)
		build_link_release(link);
	vec_release(&build->links);
	strvec_release(&build->notes);
	free(build->patch);
	free(build);
}
