// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - parcels, some of which are there before the update

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

extern "C" {
#include "serve.h"
}

namespace post
{

static long labels;

/* What patches count. */
KEPT void count_label(int by)
{
	labels += by;
}

class parcel {
public:
	explicit parcel(int weight) : weight(weight)
	{
	}
	virtual ~parcel();
	virtual std::string describe();
	int weight;
};

parcel::~parcel()
{
	weight = 0;
}

std::string parcel::describe()
{
	return "old " + std::to_string(weight);
}

static std::vector<parcel *> all = { new parcel(1), new parcel(2) };

} // namespace post

void answer(const char *request, char *reply, size_t size)
{
	if (!strcmp(request, "add"))
		post::all.push_back(new post::parcel(9));
	else if (!strcmp(request, "drop")) {
		delete post::all.back();
		post::all.pop_back();
	} else if (!strcmp(request, "labels"))
		snprintf(reply, size, "%ld", post::labels);
	else
		snprintf(reply, size, "%s",
			 post::all[static_cast<size_t>(atoi(request))]->describe().c_str());
}
