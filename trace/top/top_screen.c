// SPDX-License-Identifier: GPL-3.0-or-later
// top_screen.c - the table on a terminal, with keys
/*
 * Two views: the functions, and the callers of one of them, which is looked at several times in
 * each interval. What is painted goes through text_add_printable, so that no name of the process
 * acts on the terminal. ncurses is loaded when it is needed. The signals of keys are switched off:
 * the command's first process, which would get them, isn't the one that has the screen
 * (base/worker.h).
 */

#include "trace/top/top_screen.h"

#include <curses.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/clock.h"
#include "base/late.h"
#include "base/text.h"
#include "late_names.h"
#include "trace/top/top.h"
#include "trace/top/top_table.h"

#define FILTER_MAX 64
#define LOOK_NS 50000000ll /* between two looks at callers */
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

	return late_load(LATE_NCURSESW, functions, ARRAY_SIZE(functions));
}

struct screen {
	struct top *top;
	WINDOW *window;
	struct top_callers callers; /* id 0: the functions are shown */
	size_t selected, first;     /* of the lines: the one with the cursor, the uppermost */
	bool paused, typing, helps, over;
	char filter[FILTER_MAX];
};

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

static size_t count_lines(const struct screen *screen)
{
	return screen->callers.id ? screen->callers.items.n : screen->top->shown;
}

static size_t room_for_lines(const struct screen *screen)
{
	int y = late_getmaxy(screen->window) - HEAD_LINES - 1;

	return y > 0 ? (size_t)y : 1;
}

static void put_help(const struct screen *screen)
{
	static const char *const lines[] = {
		"s c t a p m n   sort by self time, calls, total time, average, p99, maximum, name",
		"/               show functions with a text in their name; a glob ('read*'); Esc: "
		"all",
		"arrows, PgUp, PgDn, Home, End",
		"Enter           the callers of a function; of callers: those of the caller",
		"Esc, Backspace  back to the functions",
		"space           stop reading, and go on",
		"q, ^C           end",
		"",
		"SELF %, TOTAL %: of one processor; of threads that wait, the waiting counts",
		"P99: 99 of 100 calls took less; MAX: since the start; OPEN: calls that go on",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines) && i < room_for_lines(screen); i++) {
		auto_buf struct buf line = { 0 };

		buf_addstr(&line, lines[i]);
		put_line(screen, (int)i + HEAD_LINES, &line, false);
	}
}

static void put_state(const struct screen *screen)
{
	auto_buf struct buf line = { 0 };

	if (screen->callers.id) {
		top_table_callers_title(&screen->top->rows, &screen->callers, &line);
	} else {
		buf_addf(&line, "by %s", top_key_name(screen->top->key));
		if (screen->typing || screen->filter[0]) {
			buf_addstr(&line, ", filter: ");
			text_add_printable(&line, screen->filter, strlen(screen->filter), false);
			buf_addstr(&line, screen->typing ? "_" : "");
		}
		buf_addf(&line, ", %zu shown", screen->top->shown);
	}
	buf_addstr(&line, screen->paused ? ", paused" : "");
	put_line(screen, 1, &line, false);
}

static void put_lines(const struct screen *screen)
{
	size_t n = count_lines(screen), room = room_for_lines(screen);

	for (size_t i = 0; i < room && screen->first + i < n; i++) {
		auto_buf struct buf line = { 0 };
		size_t at = screen->first + i;

		if (screen->callers.id)
			top_table_caller(&screen->top->rows, &screen->callers,
					 &screen->callers.items.items[at], &line);
		else
			top_table_row(&screen->top->rows, &screen->top->rows.rows.items[at], &line);
		put_line(screen, (int)i + HEAD_LINES, &line, at == screen->selected);
	}
}

static void paint(struct screen *screen)
{
	auto_buf struct buf title = { 0 }, head = { 0 }, foot = { 0 };
	size_t n = count_lines(screen), room = room_for_lines(screen);

	if (screen->selected >= n)
		screen->selected = n ? n - 1 : 0;
	if (screen->selected < screen->first)
		screen->first = screen->selected;
	if (screen->selected >= screen->first + room)
		screen->first = screen->selected - room + 1;
	late_werase(screen->window);
	top_table_title(&screen->top->rows, &title);
	put_line(screen, 0, &title, false);
	put_state(screen);
	if (screen->callers.id)
		top_table_callers_head(&head);
	else
		top_table_head(&head);
	put_line(screen, HEAD_LINES - 1, &head, true);
	if (screen->helps)
		put_help(screen);
	else
		put_lines(screen);
	buf_addstr(&foot, screen->callers.id
				  ? "Enter callers of the caller  Esc back  q end  h help"
				  : "s c t a p m n sort  / filter  Enter callers  space "
				    "pause  q end  h help");
	put_line(screen, late_getmaxy(screen->window) - 1, &foot, false);
	late_wrefresh(screen->window);
}

static void sort(struct screen *screen)
{
	screen->top->shown = top_rows_sort(&screen->top->rows, screen->top->key, screen->filter);
}

/* Reads; the cursor goes with its function, unless it is at the top. */
static int read_rows(struct screen *screen, struct uspl_err *err)
{
	struct top *top = screen->top;
	bool follows = screen->selected && !screen->callers.id && screen->selected < top->shown;
	uint32_t id = follows ? top->rows.rows.items[screen->selected].id : 0;
	int rc = top_read(top, err);

	if (rc)
		return rc;
	sort(screen);
	for (size_t i = 0; follows && i < top->shown; i++)
		if (top->rows.rows.items[i].id == id)
			screen->selected = i;
	return 0;
}

/* To the callers of a function, or with 0 back to the functions. */
static void go_to(struct screen *screen, uint32_t id)
{
	top_callers_release(&screen->callers);
	screen->callers = (struct top_callers){ .id = id };
	screen->selected = screen->first = 0;
}

static void enter(struct screen *screen)
{
	if (screen->selected >= count_lines(screen))
		return;
	if (!screen->callers.id)
		go_to(screen, screen->top->rows.rows.items[screen->selected].id);
	else if (screen->callers.items.items[screen->selected].around)
		go_to(screen, screen->callers.items.items[screen->selected].around);
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
	screen->selected = screen->first = 0;
	sort(screen);
}

static void move_by(struct screen *screen, int64_t by)
{
	int64_t to = (int64_t)screen->selected + by, last = (int64_t)count_lines(screen) - 1;

	to = to > last ? last : to;
	screen->selected = to > 0 ? (size_t)to : 0;
}

static void press(struct screen *screen, int key)
{
	static const struct {
		char letter;
		enum top_key key;
	} sorts[] = { { 's', TOP_SELF }, { 'c', TOP_CALLS }, { 't', TOP_TOTAL }, { 'a', TOP_AVG },
		      { 'p', TOP_P99 },  { 'm', TOP_MAX },   { 'n', TOP_NAME } };
	int64_t room = (int64_t)room_for_lines(screen);

	screen->helps = key == 'h' || key == '?';
	for (size_t i = 0; i < ARRAY_SIZE(sorts); i++)
		if (key == sorts[i].letter) {
			screen->top->key = sorts[i].key;
			sort(screen);
		}
	switch (key) {
	case 'q':
	case KEY_CTRL_C:
		screen->over = true;
		break;
	case ' ':
		screen->paused = !screen->paused;
		break;
	case '/':
		screen->typing = !screen->callers.id;
		break;
	case '\r':
	case '\n':
	case KEY_ENTER:
		enter(screen);
		break;
	case KEY_ESCAPE:
		screen->filter[0] = screen->callers.id ? screen->filter[0] : '\0';
		/* fall through */
	case KEY_BACKSPACE:
	case 127:
		go_to(screen, 0);
		sort(screen);
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
	default: /* KEY_RESIZE among them: all is painted anew */
		break;
	}
}

/* All keys that have come. false: the terminal is gone. */
static bool take_keys(struct screen *screen)
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

static int look(struct screen *screen, struct uspl_err *err)
{
	int rc = top_callers_look(&screen->callers, &screen->top->rows, err);

	if (rc)
		return rc;
	top_callers_sort(&screen->callers);
	return 0;
}

static int run(struct screen *screen, struct uspl_err *err)
{
	struct top *top = screen->top;
	int64_t look_ns = 0;

	while (!screen->over) {
		bool looks = screen->callers.id && !screen->paused && look_ns < top->next_ns;
		int64_t until = looks ? look_ns : top->next_ns;
		int rc = 0;

		paint(screen);
		switch (top_wait(top, STDIN_FILENO, until)) {
		case TOP_OVER:
			return 0;
		case TOP_KEYS:
			if (!take_keys(screen))
				return 0;
			continue;
		case TOP_DUE:
			break;
		}
		if (looks) {
			rc = look(screen, err);
			look_ns = clock_now_ns() + LOOK_NS;
		} else if (screen->paused) {
			top->next_ns = clock_now_ns() + top->interval_ns;
		} else {
			rc = read_rows(screen, err);
		}
		if (rc)
			return rc;
	}
	return 0;
}

int top_screen_run(struct top *top, struct uspl_err *err)
{
	struct screen screen = { .top = top };
	SCREEN *terminal = NULL;
	int rc;

	setlocale(LC_CTYPE, "");
	if (load())
		terminal = late_newterm(NULL, stdout, stdin);
	if (!terminal) {
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "this needs libncursesw, and a terminal that it knows");
		uspl_hint(err, "'--batch' prints tables");
		return -USPL_E_UNSUPPORTED;
	}
	snprintf(screen.filter, sizeof(screen.filter), "%s", top->filter);
	screen.window = *late_stdscr;
	late_raw();
	late_noecho();
	late_set_escdelay(50);
	late_keypad(screen.window, true);
	late_wtimeout(screen.window, 0);
	late_curs_set(0);
	sort(&screen);
	rc = run(&screen, err);
	top_callers_release(&screen.callers);
	late_endwin();
	late_delscreen(terminal);
	return rc;
}
