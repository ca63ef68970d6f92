// SPDX-License-Identifier: GPL-3.0-or-later
// screen.c - lines on a terminal, with a cursor, a filter and keys
//
// ncurses is loaded when it is needed. The signals of keys are switched off: the command's first
// process, which would get them, may not be the one that has the screen (base/worker.h).

#include "trace/top/screen.h"

#include <curses.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/late.h"
#include "base/text.h"
#include "late_names.h"

#define HEAD_LINES 3
#define KEY_CTRL_C 3
#define KEY_ESCAPE 27

LATE(newterm);
LATE(delscreen);
LATE(endwin);
LATE(raw);
LATE(noecho);
LATE(curs_set);
LATE(keypad);
LATE(wtimeout);
LATE(wgetch);
LATE(werase);
LATE(wmove);
LATE(waddnstr);
LATE(wattrset);
LATE(wrefresh);
LATE(getmaxx);
LATE(getmaxy);
LATE(set_escdelay);
static WINDOW **late_stdscr;

static bool load(void)
{
	static const struct late_function functions[] = {
		LATE_LINE(newterm),  LATE_LINE(delscreen),    LATE_LINE(endwin),
		LATE_LINE(raw),      LATE_LINE(noecho),       LATE_LINE(curs_set),
		LATE_LINE(keypad),   LATE_LINE(wtimeout),     LATE_LINE(wgetch),
		LATE_LINE(werase),   LATE_LINE(wmove),        LATE_LINE(waddnstr),
		LATE_LINE(wattrset), LATE_LINE(wrefresh),     LATE_LINE(getmaxx),
		LATE_LINE(getmaxy),  LATE_LINE(set_escdelay), { "stdscr", (void **)&late_stdscr },
	};

	setlocale(LC_CTYPE, "");
	return late_load(LATE_NCURSESW, functions, ARRAY_SIZE(functions));
}

void screen_load(void)
{
	(void)load();
}

/* As much of the text as a line has room for. */
static void put_line(const struct screen *screen, int y, const struct buf *text, bool marked)
{
	const char *at = buf_str(text);
	size_t len = strlen(at), used = 0;
	int room = late_getmaxx(screen->window), width = 0;

	while (used < len) {
		uint32_t character;
		size_t n = text_decode(at + used, len - used, &character);
		int columns = n ? wcwidth((wchar_t)character) : 1;

		columns = columns < 0 ? 1 : columns;
		if (width + columns > room)
			break;
		width += columns;
		used += n ? n : 1;
	}
	late_wattrset(screen->window, marked ? A_REVERSE : A_NORMAL);
	late_wmove(screen->window, y, 0);
	late_waddnstr(screen->window, at, (int)used);
	for (; marked && width < room; width++)
		late_waddnstr(screen->window, " ", 1);
	late_wattrset(screen->window, A_NORMAL);
}

static size_t room_for_lines(const struct screen *screen)
{
	int y = late_getmaxy(screen->window) - HEAD_LINES - 1;

	return y > 0 ? (size_t)y : 1;
}

void screen_paint(struct screen *screen)
{
	auto_buf struct buf title = { 0 }, state = { 0 }, head = { 0 }, foot = { 0 };
	const struct screen_user *user = screen->user;
	size_t n = user->count(screen->ctx), room = room_for_lines(screen);

	if (screen->selected >= n)
		screen->selected = n ? n - 1 : 0;
	if (screen->selected < screen->first)
		screen->first = screen->selected;
	if (screen->selected >= screen->first + room)
		screen->first = screen->selected - room + 1;
	/* The terminal may have become larger, or the lines fewer. */
	if (screen->first + room > n)
		screen->first = n > room ? n - room : 0;
	late_werase(screen->window);
	user->title(screen->ctx, &title);
	put_line(screen, 0, &title, false);
	user->state(screen->ctx, &state);
	put_line(screen, 1, &state, false);
	user->head(screen->ctx, &head);
	put_line(screen, HEAD_LINES - 1, &head, true);
	for (size_t i = 0; i < room; i++) {
		auto_buf struct buf line = { 0 };
		size_t at = screen->first + i;

		if (screen->helps ? i >= user->n_help : at >= n)
			break;
		if (screen->helps)
			buf_addstr(&line, user->help[i]);
		else
			user->line(screen->ctx, at, &line);
		put_line(screen, (int)i + HEAD_LINES, &line,
			 !screen->helps && at == screen->selected);
	}
	buf_addstr(&foot, user->foot(screen->ctx));
	put_line(screen, late_getmaxy(screen->window) - 1, &foot, false);
	late_wrefresh(screen->window);
}

void screen_go_home(struct screen *screen)
{
	screen->selected = screen->first = 0;
}

void screen_add_filter(const struct screen *screen, struct buf *out)
{
	if (!screen->typing && !screen->filter[0])
		return;
	buf_addstr(out, ", filter: ");
	text_add_printable(out, screen->filter, strlen(screen->filter), false);
	buf_addstr(out, screen->typing ? "_" : "");
}

/* While the filter is typed. */
static void type(struct screen *screen, int key)
{
	size_t len = strlen(screen->filter);

	if (key == '\r' || key == '\n' || key == KEY_ENTER || key == KEY_ESCAPE)
		screen->typing = false;
	if (key == KEY_ESCAPE)
		screen->filter[0] = '\0';
	if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && len)
		screen->filter[len - 1] = '\0';
	if (key > ' ' && key < 256 && key != 127 && len + 1 < sizeof(screen->filter)) {
		screen->filter[len] = (char)key;
		screen->filter[len + 1] = '\0';
	}
	screen_go_home(screen);
	screen->user->filtered(screen->ctx);
}

static void move_by(struct screen *screen, int64_t by)
{
	int64_t last = (int64_t)screen->user->count(screen->ctx) - 1;
	int64_t to = (int64_t)screen->selected + by;

	to = to > last ? last : to;
	screen->selected = to > 0 ? (size_t)to : 0;
}

static void press(struct screen *screen, int key)
{
	int64_t room = (int64_t)room_for_lines(screen);

	screen->helps = key == 'h' || key == '?';
	switch (key) {
	case 'q':
	case KEY_CTRL_C:
		screen->over = true;
		break;
	case KEY_UP:
		move_by(screen, -1);
		break;
	case KEY_DOWN:
		move_by(screen, 1);
		break;
	case KEY_PPAGE:
		move_by(screen, -room);
		break;
	case KEY_NPAGE:
		move_by(screen, room);
		break;
	case KEY_HOME:
		move_by(screen, INT32_MIN);
		break;
	case KEY_END:
		move_by(screen, INT32_MAX);
		break;
	case '\r':
	case '\n':
	case KEY_ENTER:
		screen->user->press(screen->ctx, SCREEN_ENTER);
		break;
	case KEY_ESCAPE:
	case KEY_BACKSPACE:
	case 127:
		screen->user->press(screen->ctx, SCREEN_BACK);
		break;
	case KEY_LEFT:
		screen->user->press(screen->ctx, SCREEN_LEFT);
		break;
	case KEY_RIGHT:
		screen->user->press(screen->ctx, SCREEN_RIGHT);
		break;
	default: /* KEY_RESIZE among them: all is painted anew */
		if (key < 128)
			screen->user->press(screen->ctx, key);
		break;
	}
}

bool screen_take_keys(struct screen *screen)
{
	bool any = false;
	int key;

	while (!screen->over && (key = late_wgetch(screen->window)) != ERR) {
		any = true;
		if (screen->typing && key != KEY_CTRL_C)
			type(screen, key);
		else
			press(screen, key);
	}
	return any || !feof(stdin);
}

int screen_open(struct screen *screen, const char *hint, struct uspl_err *err)
{
	if (load())
		screen->terminal = late_newterm(NULL, stdout, stdin);
	if (!screen->terminal) {
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "this needs libncursesw, and a terminal that it knows");
		uspl_hint(err, "%s", hint);
		return -USPL_E_UNSUPPORTED;
	}
	screen->window = *late_stdscr;
	late_raw();
	late_noecho();
	late_set_escdelay(50);
	late_keypad(screen->window, true);
	late_wtimeout(screen->window, 0);
	late_curs_set(0);
	return 0;
}

void screen_close(struct screen *screen)
{
	if (!screen->terminal)
		return;
	late_endwin();
	late_delscreen(screen->terminal);
	screen->terminal = NULL;
}
