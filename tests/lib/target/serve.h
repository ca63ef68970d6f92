/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * serve.h - the loop of the programs that the cases patch: a request is a line on stdin, an answer
 * a line on stdout
 *
 * A case writes answer(); serve.c, main.c and the Makefile come from tests/lib/target unless the
 * case has its own. The request "count" is answered by the loop itself: how many other requests it
 * has answered.
 */
#ifndef USPL_TESTS_SERVE_H
#define USPL_TESTS_SERVE_H

#include <stddef.h>

/* A function that stays one piece under its own name, whatever the optimisation. */
#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif

#define LINE_SIZE 512

/* Written by the case: puts the answer to a request into reply, which has size bytes. */
void answer(const char *request, char *reply, size_t size);

/* Answers requests until stdin ends. */
void serve(void);

/*
 * The next line of stdin without its line end. For a function that is to stay busy until the test
 * lets it go.
 */
void next_line(char line[LINE_SIZE]);

#endif
