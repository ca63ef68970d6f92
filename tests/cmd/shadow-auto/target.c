// SPDX-License-Identifier: GPL-3.0-or-later
// target.c - objects on the heap, made at requests: some before an update, some after it

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conn.h"
#include "serve.h"

#define MANY 1000

static struct conn *all[MANY];

/* What an update may lead to a member of its own, which undo must leave there. */
static const long nothing;
static const long *lent = &nothing;

KEPT static struct conn *conn_new(int id)
{
	struct conn *conn = room_zalloc(sizeof(*conn));

	if (!conn)
		abort();
	conn->id = id;
	conn->open = 1;
	conn->name = "conn";
	return conn;
}

KEPT static void conn_free(struct conn *conn)
{
	room_free(conn);
}

KEPT static void conn_clear(struct conn *conn)
{
	memset(conn, 0, sizeof(*conn));
}

KEPT static long conn_touch(struct conn *conn)
{
	conn->hits++;
	return conn->hits;
}

void answer(const char *request, char *reply, size_t size)
{
	char word[16] = "";
	int id = 0;

	sscanf(request, "%15s %d", word, &id);
	id = (unsigned int)id % MANY;
	if (!all[id])
		all[id] = conn_new(id);
	if (!strcmp(word, "renew")) {
		unsigned long old = (unsigned long)all[id];

		conn_free(all[id]);
		all[id] = conn_new(id);
		snprintf(reply, size, "%s", old == (unsigned long)all[id] ? "same" : "other");
		return;
	}
	if (!strcmp(word, "clear"))
		conn_clear(all[id]);
	if (!strcmp(word, "forget"))
		lent = &nothing;
	if (!strcmp(word, "lent"))
		snprintf(reply, size, "%ld", *lent);
	else if (!strcmp(word, "touch"))
		snprintf(reply, size, "%ld", conn_touch(all[id]));
	else
		snprintf(reply, size, "%ld", conn_sum(all[id]));
}
