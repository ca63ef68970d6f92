// SPDX-License-Identifier: GPL-3.0-or-later
// type_signedness.c - a length is unsigned now: the same bits, said but let through
// ways: any
// redirects: f
// warns: 'struct buffer' changes: 'len' changes from 'int' to 'unsigned int'; what exists already keeps its contents

struct buffer {
	char *data;
#ifdef PATCHED
	unsigned int len;
#else
	int len;
#endif
};

int f(struct buffer *s, long at)
{
	return at < s->len;
}
