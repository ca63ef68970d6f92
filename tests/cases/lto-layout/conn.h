/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conn.h - a structure that both sources know */

struct conn {
	int requests;
	int length;
};

struct conn *conn_get(void);
