// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - refers to all that C++ code can refer to

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

extern "C" {
#include "serve.h"
}

struct Shape {
	virtual ~Shape() = default;
	virtual int area() const = 0;
};

struct Square : Shape {
	explicit Square(int a) : a(a) {}
	int area() const override { return a * a; }
	int a;
};

struct Line : virtual Shape {
	int area() const override { return 0; }
};

struct Counter {
	explicit Counter(int n) : n(n) {}
	~Counter() { n = -1; }
	int n;
};

namespace {
thread_local std::string last = "none";
thread_local int asked;
}

template <typename T> struct Pool {
	static inline int made = 10;
	T *make(int n)
	{
		made++;
		return new T(n);
	}
};

static std::map<std::string, int> seen;

KEPT static int measure(const Shape *shape)
{
	const auto *square = dynamic_cast<const Square *>(shape);

	return square ? square->area() : -1;
}

KEPT static int check(int n)
{
	if (n > 5)
		throw std::out_of_range("too much");
	return n;
}

KEPT std::string shapes(int n)
{
	Pool<Square> pool;
	Square *square = pool.make(n);
	Line line;
	std::ostringstream out;

	out << measure(square) << " " << measure(&line) << " " << Pool<Square>::made;
	delete square;
	return out.str();
}

KEPT std::string errors(int n)
{
	static Counter calls(100);

	try {
		calls.n += check(n);
	} catch (const std::exception &e) {
		return std::string(e.what()) + " " + std::to_string(calls.n);
	}
	return "fine " + std::to_string(calls.n);
}

KEPT std::string memory(int n)
{
	last = std::to_string(n);
	asked++;
	seen[last]++;
	return last + " " + std::to_string(asked) + " " + std::to_string(seen.size());
}

KEPT std::string names(int n)
{
	auto add = [n](int m) { return n + m; };

	return std::string(typeid(Square).name()) + " " + std::to_string(add(1)) +
	       (std::cerr.good() ? "" : " bad");
}

extern "C" void answer(const char *request, char *reply, size_t size)
{
	const char *space = strchr(request, ' ');
	int n = space ? atoi(space) : 0;
	std::string text = "?";

	switch (request[0]) {
	case 's':
		text = shapes(n);
		break;
	case 'e':
		text = errors(n);
		break;
	case 'm':
		text = memory(n);
		break;
	case 'n':
		text = names(n);
		break;
	}
	snprintf(reply, size, "%s", text.c_str());
}
