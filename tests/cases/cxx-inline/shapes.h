// SPDX-License-Identifier: GPL-3.0-or-later
// shapes.h - what two units have copies of
#ifndef SHAPES_H
#define SHAPES_H

#define COPIED __attribute__((noinline))

COPIED inline int more(int n)
{
	return n + 1;
}

template <typename T, int factor> COPIED T times(T n)
{
	return n * factor - 1;
}

class Counter
{
      public:
	COPIED static int next()
	{
		static int count;

		return ++count;
	}
};

int other_more(int n);
int other_times(int n);
int other_next();

#endif
