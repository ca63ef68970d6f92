// SPDX-License-Identifier: GPL-3.0-or-later
// type_enum_added.c - a new last enumerator; the one that counts them moves on
// ways: any
// redirects: next
// warns: 'enum state' changes: 'STATES' changes from 2 to 3; what exists already keeps its contents

enum state {
	IDLE,
	BUSY,
#ifdef PATCHED
	LEAVING,
#endif
	STATES
};

enum state now;

enum state next(void)
{
	now = (now + 1) % STATES;
	return now;
}
