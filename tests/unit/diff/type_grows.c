// SPDX-License-Identifier: GPL-3.0-or-later
// type_grows.c - a structure on the heap gets larger; the one that contains it is the consequence
// ways: any
// refuses: data-change post.c:12: 'struct address' changes: new member 'scope' at offset 8, the size changes from 8 to 12 bytes

#include <stdlib.h>

struct address {
	int host;
	int port;
#ifdef PATCHED
	int scope;
#endif
};

struct peer {
	struct address address;
	struct peer *next;
};

struct peer *peer_new(int host)
{
	struct peer *peer = malloc(sizeof(*peer));

	peer->address.host = host;
	peer->next = NULL;
	return peer;
}
