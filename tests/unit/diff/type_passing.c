// SPDX-License-Identifier: GPL-3.0-or-later
// type_passing.c - a class of C++ gets a destructor: its objects are passed by address from then on
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
