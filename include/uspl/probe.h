/* SPDX-License-Identifier: MIT */
/*
 * probe.h - a probe of one's own: a function in C that is called when a marker is hit
 *
 *     #include <uspl/probe.h>
 *
 *     static unsigned long largest;
 *
 *     int uspl_probe(struct uspl_hit *hit)
 *     {
 *             if (hit->args[0] <= largest)
 *                     return 0;
 *             largest = hit->args[0];
 *             return 1;
 *     }
 *
 * `uspl-trace probe PID --at='net:*' largest.c` compiles it, loads it into the process and calls it
 * at each hit. It decides whether the hit is recorded, and may change what. It runs in the thread
 * that came to the marker, in the middle of the program's code, perhaps in several threads at once
 * and within a signal handler: it must be short, must not wait, and has no C library. What else it
 * must not do is checked before it is loaded (docs/markers.md). A run of more than half a million
 * instructions is cut short, as if it had returned 0; after a hundred of these it isn't called any
 * more.
 *
 * At a function's entry (--at=FUNCTION) the arguments are those of the function, at its return
 * (--at=FUNCTION:exit) the one is what it returns, as the program's debugging information says.
 * Without that they are words: the six registers of whole-number arguments, or the register that a
 * whole number is returned in.
 */
#ifndef USPL_PROBE_H
#define USPL_PROBE_H

#define USPL_HIT_ARGS_MAX 12

struct uspl_hit {
	unsigned long n_args;
	const char *marker; /* "subsystem:name", or the function's name */
	/*
	 * A letter for each argument, and a NUL: 'i' integer with a sign, 'u' without, 'd' the bits
	 * of a double, 'f' those of a float, 's' string, 'p' other pointer, '?' the first 8 bytes
	 * of what else there may be (a structure, a register of a function whose types aren't
	 * known; of a structure that is returned in memory its address), '-' nothing: the compiler
	 * doesn't hand that argument over.
	 */
	const char *types;
	/*
	 * The first n_args of them, as 8 bytes each: integers extended by their sign or with zeros.
	 * What is here afterwards is recorded.
	 */
	unsigned long args[USPL_HIT_ARGS_MAX];
};

/* Returns 0 if the hit isn't to be recorded. */
int uspl_probe(struct uspl_hit *hit);

#endif
