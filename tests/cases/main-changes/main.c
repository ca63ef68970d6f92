// SPDX-License-Identifier: GPL-3.0-or-later
// main.c - starts the loop

#include "serve.h"

int main(void)
{
	serve();
	return 0;
}
