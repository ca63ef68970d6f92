// SPDX-License-Identifier: GPL-3.0-or-later
// nearest_test.c - which name is taken for the one that was meant

#include "base/nearest.h"

#include <string.h>

#include "tests/unit/tap.h"

static const char *const names[] = { "apply", "create", "undo", "view", "trace", "check-machine" };

static void expect(const char *word, const char *meant)
{
	struct nearest nearest = { .word = word };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		nearest_try(&nearest, names[i]);
	ok(meant ? nearest.name && !strcmp(nearest.name, meant) : !nearest.name, "'%s': %s", word,
	   nearest.name ? nearest.name : "none");
}

int main(void)
{
	char word[4096];

	expect("aply", "apply");
	expect("applly", "apply");
	expect("appyl", "apply");
	expect("appls", "apply");
	expect("palyp", NULL);
	expect("vieww", "view");
	expect("veiw", "view");
	expect("vw", NULL);
	expect("che", "check-machine");
	expect("ch", NULL);
	expect("remove", NULL);
	expect("trace", "trace");
	expect("", NULL);
	expect("u", NULL);
	memset(word, 'a', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	expect(word, NULL);
	return tap_done();
}
