// SPDX-License-Identifier: GPL-3.0-or-later
// A class of C++ gets a destructor: its objects are no longer passed by value, but by address.
// ways: clang++ -O2
// refuses: data-change variable 'callback': its type changes
struct item {
	int value;
#ifdef PATCHED
	~item()
	{
	}
#endif
};

int (*callback)(item);

int function(item it)
{
	return it.value + 1;
}

void set()
{
	callback = function;
}
