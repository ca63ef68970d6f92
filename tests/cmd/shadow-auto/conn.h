/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conn.h - what two sources know of an object on the heap */
#ifndef CONN_H
#define CONN_H

struct conn {
	int id;
	long hits;
	unsigned int open : 1;
	const char *name;
};

void *room_zalloc(unsigned long size);
void room_free(void *room);
long conn_sum(const struct conn *conn);

#endif
