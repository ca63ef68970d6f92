// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - objects that are called by each of their bases

#include <cstdio>
#include <cstdlib>

extern "C" {
#include "serve.h"
}

struct first {
	int a = 10;
	virtual ~first() = default;
	virtual int one(int n) = 0;
};

struct second {
	int b = 20;
	virtual ~second() = default;
	virtual int two(int n) = 0;
	virtual second *same() { return this; }
};

struct third {
	int c = 100;
	virtual ~third() = default;
	virtual int three(int n) = 0;
};

struct whole : first, second, virtual third {
	int d = 3;
	int one(int n) override;
	int two(int n) override { return b + n; }
	int three(int n) override { return c + n + 1; }
	whole *same() override
	{
		d = c + d % 100 + 1;
		return this;
	}
};

int whole::one(int n)
{
	return a + n + 1;
}

static whole *kept;

KEPT static int ask_first(first *object, int n)
{
	return object->one(n);
}

KEPT static int ask_second(second *object, int n)
{
	return object->two(n);
}

KEPT static int ask_third(third *object, int n)
{
	return object->three(n) + 1;
}

KEPT static second *ask_same(second *object)
{
	return object->same();
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	int n = atoi(request);

	if (!kept)
		kept = new whole;
	kept->d = 3;
	snprintf(reply, size, "%d %d %d %d", ask_first(kept, n), ask_second(kept, n),
		 ask_third(kept, n), static_cast<whole *>(ask_same(kept))->d);
}
