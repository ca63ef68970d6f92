// SPDX-License-Identifier: GPL-3.0-or-later
// type_bit_field.c - a bit comes into the middle of a bit-field: same size, but others move
// ways: any
// refuses: data-change 'struct request' changes: new member 'fresh' at bit 3, 'keepalive' moves from bit 3 to 4; used by

struct request {
	unsigned int lingering : 3;
#ifdef PATCHED
	unsigned int fresh : 1;
#endif
	unsigned int keepalive : 1;
	unsigned int closed : 1;
};

int keeps(const struct request *r)
{
#ifdef PATCHED
	if (r->fresh)
		return 0;
#endif
	return r->keepalive && !r->closed;
}
