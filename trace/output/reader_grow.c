// SPDX-License-Identifier: GPL-3.0-or-later
// reader_grow.c - records of libraries that have become part of a session since it was read

#include "trace/output/reader_grow.h"

/* The last id that the session has. */
static uint32_t last_id(const struct trace_session *session)
{
	const struct trace_region *last =
		session->regions.n ? &session->regions.items[session->regions.n - 1] : NULL;

	return last ? last->head.first_id + (uint32_t)last->sites.n - 1 : 0;
}

/* The session as it is now: the same, with more parts. */
static int read_again(struct reader *reader, struct uspl_err *err)
{
	struct view *view = &reader->view;
	auto_session struct trace_session session = { 0 };
	auto_modules module_vec modules = { 0 };
	struct trace_session known;
	module_vec old;
	int rc = proc_refresh_maps(view->proc, err);

	if (rc)
		return rc;
	rc = trace_session_read(view->proc, &session, err);
	if (rc)
		return rc;
	if (session.regions.n <= view->session.regions.n ||
	    session.regions.items[0].head.session != view->session.regions.items[0].head.session)
		return 0;
	rc = modules_read(view->proc, &modules, err);
	if (rc)
		return rc;
	known = view->session;
	view->session = session;
	session = known;
	old = view->modules;
	view->modules = modules;
	modules = old;
	return reader->names_later ? 0 : names_grow(&reader->names, err);
}

int reader_grow(struct reader *reader, struct uspl_err *err)
{
	uint32_t last = last_id(&reader->view.session);
	size_t n = 0;
	const struct trace_record *record;

	vec_for_each (&reader->records, record)
		n += record->id <= last;
	if (n == reader->records.n)
		return 0;
	n = 0;
	if (!proc_is_over(reader->view.proc)) {
		int rc = read_again(reader, err);

		if (rc && !proc_is_over(reader->view.proc))
			return rc;
	}
	last = last_id(&reader->view.session);
	vec_for_each (&reader->records, record)
		if (record->id <= last)
			reader->records.items[n++] = *record;
	reader->log.unseen += reader->records.n - n;
	reader->records.n = n;
	return 0;
}
