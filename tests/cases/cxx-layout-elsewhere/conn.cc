// SPDX-License-Identifier: GPL-3.0-or-later
// conn.cc - the home of the class

#include "conn.h"

conn::~conn()
{
}

conn *the_conn()
{
	static conn *one = new conn;

	return one;
}
