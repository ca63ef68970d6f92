// SPDX-License-Identifier: GPL-3.0-or-later
// type_padding.c - a new member lies where padding was, all others stay where they are
// ways: any
// redirects: used
// warns: post.c:11: 'struct session' changes: new member 'reuse' at offset 12; what is new isn't initialised

struct session {
	void *data;
	int use;
#ifdef PATCHED
	char reuse;
#endif
};

int used(const struct session *s)
{
#ifdef PATCHED
	if (s->reuse)
		return s->use + 1;
#endif
	return s->use;
}
