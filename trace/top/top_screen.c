// SPDX-License-Identifier: GPL-3.0-or-later
// top_screen.c - the table on a terminal, with keys
//
// Two views: the functions, and the callers of one of them, which is looked at several times in
// each interval. What is painted goes through text_add_printable, so that no name of the process
// acts on the terminal.

#include "trace/top/top_screen.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "trace/top/screen.h"
#include "trace/top/top.h"
#include "trace/top/top_table.h"

#define LOOK_NS 50000000ll /* between two looks at callers */

struct top_screen {
	struct screen screen;
	struct top *top;
	struct top_callers callers; /* id 0: the functions are shown */
	bool paused;
};

static size_t count_lines(const void *ctx)
{
	const struct top_screen *view = ctx;

	return view->callers.id ? view->callers.items.n : view->top->shown;
}

static void add_title(const void *ctx, struct buf *out)
{
	const struct top_screen *view = ctx;

	top_table_title(&view->top->rows, out);
}

static void add_state(const void *ctx, struct buf *out)
{
	const struct top_screen *view = ctx;

	if (view->callers.id) {
		top_table_callers_title(&view->top->rows, &view->callers, out);
	} else {
		buf_addf(out, "by %s", top_key_name(view->top->key));
		screen_add_filter(&view->screen, out);
		buf_addf(out, ", %zu shown", view->top->shown);
	}
	buf_addstr(out, view->paused ? ", paused" : "");
}

static void add_head(const void *ctx, struct buf *out)
{
	const struct top_screen *view = ctx;

	if (view->callers.id)
		top_table_callers_head(out);
	else
		top_table_head(out);
}

static void add_line(const void *ctx, size_t at, struct buf *out)
{
	const struct top_screen *view = ctx;

	if (view->callers.id)
		top_table_caller(&view->top->rows, &view->callers, &view->callers.items.items[at],
				 out);
	else
		top_table_row(&view->top->rows, &view->top->rows.rows.items[at], out);
}

static const char *foot(const void *ctx)
{
	const struct top_screen *view = ctx;

	return view->callers.id ? "Enter callers of the caller  Esc back  q end  h help"
				: "s c t a p m n sort  / filter  Enter callers  space "
				  "pause  q end  h help";
}

static void sort(void *ctx)
{
	struct top_screen *view = ctx;
	struct top *top = view->top;

	top->shown = top_row_sort(&top->rows.rows, &top->rows.names, top->key, view->screen.filter);
}

/* Reads; the cursor goes with its function, unless it is at the top. */
static int read_rows(struct top_screen *view, struct uspl_err *err)
{
	struct top *top = view->top;
	struct screen *screen = &view->screen;
	bool follows = screen->selected && !view->callers.id && screen->selected < top->shown;
	uint32_t id = follows ? top->rows.rows.items[screen->selected].id : 0;
	int rc = top_read(top, err);

	if (rc)
		return rc;
	sort(view);
	for (size_t i = 0; follows && i < top->shown; i++)
		if (top->rows.rows.items[i].id == id)
			screen->selected = i;
	return 0;
}

/* To the callers of a function, or with 0 back to the functions. */
static void go_to(struct top_screen *view, uint32_t id)
{
	top_callers_release(&view->callers);
	view->callers = (struct top_callers){ .id = id };
	screen_go_home(&view->screen);
}

static void press(void *ctx, int key)
{
	struct top_screen *view = ctx;
	size_t selected = view->screen.selected;

	if (top_key_by_letter(key, &view->top->key))
		sort(view);
	switch (key) {
	case ' ':
		view->paused = !view->paused;
		break;
	case '/':
		view->screen.typing = !view->callers.id;
		break;
	case SCREEN_ENTER:
		if (selected >= count_lines(view))
			break;
		if (!view->callers.id)
			go_to(view, view->top->rows.rows.items[selected].id);
		else if (view->callers.items.items[selected].around)
			go_to(view, view->callers.items.items[selected].around);
		break;
	case SCREEN_BACK:
		if (!view->callers.id)
			view->screen.filter[0] = '\0';
		go_to(view, 0);
		sort(view);
		break;
	default:
		break;
	}
}

static int look(struct top_screen *view, struct uspl_err *err)
{
	int rc = top_callers_look(&view->callers, &view->top->rows, err);

	if (rc)
		return rc;
	top_callers_sort(&view->callers);
	return 0;
}

static int run(struct top_screen *view, struct uspl_err *err)
{
	struct top *top = view->top;
	int64_t look_ns = 0;

	while (!view->screen.over) {
		bool looks = view->callers.id && !view->paused && look_ns < top->next_ns;
		int64_t until = looks ? look_ns : top->next_ns;
		int rc = 0;

		screen_paint(&view->screen);
		switch (top_wait(top, STDIN_FILENO, until)) {
		case TOP_OVER:
			return 0;
		case TOP_KEYS:
			if (!screen_take_keys(&view->screen))
				return 0;
			continue;
		case TOP_DUE:
			break;
		}
		if (looks) {
			rc = look(view, err);
			look_ns = clock_now_ns() + LOOK_NS;
		} else if (view->paused) {
			top->next_ns = clock_now_ns() + top->interval_ns;
		} else {
			rc = read_rows(view, err);
		}
		if (rc)
			return rc;
	}
	return 0;
}

int top_screen_run(struct top *top, struct uspl_err *err)
{
	static const char *const help[] = {
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
	static const struct screen_user user = {
		.title = add_title,
		.state = add_state,
		.head = add_head,
		.count = count_lines,
		.line = add_line,
		.foot = foot,
		.press = press,
		.filtered = sort,
		.help = help,
		.n_help = ARRAY_SIZE(help),
	};
	struct top_screen view = { .screen = { .user = &user, .ctx = &view }, .top = top };
	int rc = screen_open(&view.screen, "'--batch' prints tables", err);

	if (rc)
		return rc;
	snprintf(view.screen.filter, sizeof(view.screen.filter), "%s", top->filter);
	sort(&view);
	rc = run(&view, err);
	top_callers_release(&view.callers);
	screen_close(&view.screen);
	return rc;
}
