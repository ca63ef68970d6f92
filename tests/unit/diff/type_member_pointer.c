// SPDX-License-Identifier: GPL-3.0-or-later
// type_member_pointer.c - a pointer to a member of C++, a distance, belongs to another class
// ways: g++ -O2
// refuses: data-change variable 'member': its type changes
struct first {
	int x, y;
};

struct second {
	int y, x;
};

#ifdef PATCHED
#define OF second
#else
#define OF first
#endif

static int OF::*member;

int get(OF *object)
{
	return object->*member;
}

void set()
{
	member = &OF::x;
}
