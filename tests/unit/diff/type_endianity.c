// SPDX-License-Identifier: GPL-3.0-or-later
// type_endianity.c - the bytes of a structure's members are to be in the other order, and objects
// exist
// ways: gcc -O2
// refuses: data-change 'struct header' changes: 'id' changes
#ifdef PATCHED
#define ORDER __attribute__((scalar_storage_order("big-endian")))
#else
#define ORDER
#endif

struct header {
	int id;
	int length;
} ORDER;

struct header *current;

int get(void)
{
	return current->length;
}
