/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conn.h - a class that is at home in conn.cc */
#ifndef CONN_H
#define CONN_H

struct conn {
	virtual ~conn();
	short fd = 1;
	short limit = 100;
};

conn *the_conn();

#endif
