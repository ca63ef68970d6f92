/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * screen.h - lines on a terminal, with a cursor, a filter and keys
 *
 * It has the terminal, the keys that all views have in common, and the cursor; what is shown, and
 * what other keys do, is its user's. All text of the user's has to be printable.
 */
#ifndef USPL_TRACE_TOP_SCREEN_H
#define USPL_TRACE_TOP_SCREEN_H

#include "base/buf.h"
#include "base/error.h"

#define SCREEN_FILTER_MAX 64

/* Keys that aren't characters. */
enum screen_key { SCREEN_ENTER = 0x1000, SCREEN_BACK, SCREEN_LEFT, SCREEN_RIGHT };

/* Each that has a buf appends one line without its end. */
struct screen_user {
	void (*title)(const void *ctx, struct buf *out);
	void (*state)(const void *ctx, struct buf *out); /* below the title */
	void (*head)(const void *ctx, struct buf *out);  /* of the columns */
	size_t (*count)(const void *ctx);                /* how many lines there are */
	void (*line)(const void *ctx, size_t at, struct buf *out);
	const char *(*foot)(const void *ctx); /* which keys there are */
	void (*press)(void *ctx, int key);    /* a character, or one of enum screen_key */
	void (*filtered)(void *ctx);          /* the filter is another one */
	const char *const *help;
	size_t n_help;
};

struct screen {
	const struct screen_user *user;
	void *ctx;
	void *window, *terminal; /* of ncurses */
	size_t selected, first;  /* of the lines: the one with the cursor, the uppermost */
	bool typing;             /* the filter; the user sets it */
	bool helps, over;
	char filter[SCREEN_FILTER_MAX];
};

/* Loads ncurses, if it is there: afterwards the tool may give up its right to load libraries. */
void screen_load(void);
/*
 * Takes the terminal of standard input and output. USPL_E_UNSUPPORTED: there is no ncurses, or it
 * doesn't know the terminal. hint: what to do then.
 */
int screen_open(struct screen *screen, const char *hint, struct uspl_err *err) uspl_must_check;
void screen_close(struct screen *screen);
void screen_paint(struct screen *screen);
/* Does what all keys say that have come. False: the terminal is gone. */
bool screen_take_keys(struct screen *screen);
/* The cursor goes to the first line. */
void screen_go_home(struct screen *screen);
/* Adds ", filter: TEXT" if there is one. */
void screen_add_filter(const struct screen *screen, struct buf *out);

#endif
