// SPDX-License-Identifier: GPL-3.0-or-later
// shop.cc - markers in a template, a method and a lambda

#include <string>

#include <uspl/mark.h>

namespace shop
{

template <typename T> T twice(T value)
{
	USPL_MARK(shop, twice, "value=%ld", (long)value);
	return value + value;
}

struct basket {
	std::string name;
	long sum;

	void add(short price)
	{
		auto put = [&](short more) {
			USPL_MARK(shop, put, "name=%s price=%hd", name.c_str(), more);
			sum += more;
		};
		put(price);
	}
};

} // namespace shop

extern "C" long shop_run(long n)
{
	shop::basket basket = { "basket", 0 };

	for (long i = 0; i < n; i++)
		basket.add((short)-i);
	return basket.sum + shop::twice(n) + (long)shop::twice((double)n);
}
