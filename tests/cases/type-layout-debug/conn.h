// SPDX-License-Identifier: GPL-3.0-or-later
// conn.h - a connection

struct conn {
	int fd;
	long requests;
};
