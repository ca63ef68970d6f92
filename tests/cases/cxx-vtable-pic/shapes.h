/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shapes.h - a class with virtual functions, all of them inline */

struct shape {
	int side;
	explicit shape(int n) : side(n)
	{
	}
	virtual ~shape()
	{
	}
	virtual int area()
	{
		return side * side;
	}
};

int other_area(int n);
