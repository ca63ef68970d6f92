// SPDX-License-Identifier: GPL-3.0-or-later
// type_enum_changed.c - a new enumerator in the middle: the variable's value means another one
// ways: any
// refuses: data-change post.c:6: 'enum state' changes: 'BUSY' changes from 1 to 2

enum state {
	IDLE,
#ifdef PATCHED
	WAITING,
#endif
	BUSY,
	LEAVING
};

enum state now;

int busy(void)
{
	return now == BUSY;
}
