// SPDX-License-Identifier: GPL-3.0-or-later
// type_member_type.c - a member changes its type and keeps its size
// ways: any
// refuses: data-change 'struct sample' changes: 'value' changes from 'int' to 'float'; used by 'f'

#ifdef PATCHED
typedef float number;
#else
typedef int number;
#endif

struct sample {
	int at;
#ifdef PATCHED
	float value;
#else
	int value;
#endif
};

number f(struct sample *s)
{
	return s->value + s->at;
}
