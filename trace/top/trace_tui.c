// SPDX-License-Identifier: GPL-3.0-or-later
// trace_tui.c - uspl-trace tui: what was recorded, function by function and call by call, on a
// terminal
//
// A view leads to the next one, and back. A trace is read once, as a whole; what was saved is
// somebody else's file, so the tool gives up what it doesn't need before it reads.

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/cli.h"
#include "base/text.h"
#include "trace/cmd/subcommands.h"
#include "trace/output/look.h"
#include "trace/output/reader.h"
#include "trace/output/tracer.h"
#include "trace/top/screen.h"
#include "trace/top/tui_lines.h"
#include "trace/tracers/tracers.h"

/* ^C may come between the question whether it has come and the wait: that is asked this often. */
#define ASK_MS 500

struct tui {
	struct screen screen;
	struct reader *reader;
	struct buf title;
	enum top_key key;
	VEC(struct tui_view) views; /* the last one is shown */
	struct tui_lines lines;
	struct uspl_err err; /* of what a key has asked for */
	int rc;
};

static void release(struct tui *tui)
{
	tui_lines_release(&tui->lines);
	vec_release(&tui->views);
	buf_release(&tui->title);
}

DEFINE_AUTO_RELEASE(tui, struct tui, release)
#define auto_tui __attribute__((cleanup(cleanup_tui_)))

static struct tui_view *shown(const struct tui *tui)
{
	return &tui->views.items[tui->views.n - 1];
}

static void sort(void *ctx)
{
	struct tui *tui = ctx;

	tui_lines_sort(&tui->lines, tui->key, tui->screen.filter);
}

/* A failure ends it. */
static void show(struct tui *tui)
{
	const struct tui_view *view = shown(tui);

	tui->rc = tui_lines_make(&tui->lines, tui->reader, view, &tui->err);
	if (tui->rc) {
		tui->screen.over = true;
		return;
	}
	sort(tui);
	tui->screen.selected = view->selected;
	tui->screen.first = view->first;
}

static void go_to(struct tui *tui, const struct tui_view *view)
{
	struct tui_view *place;

	shown(tui)->selected = tui->screen.selected;
	shown(tui)->first = tui->screen.first;
	place = vec_push(&tui->views);
	if (!place) {
		tui->rc = uspl_fail_nomem(&tui->err);
		tui->screen.over = true;
		return;
	}
	*place = *view;
	show(tui);
}

static void fold(struct tui *tui, bool unfold, bool all)
{
	struct screen *screen = &tui->screen;
	const struct tui_branch *branch = tui_tree_branch(&tui->lines.tree, screen->selected);

	/* What is folded already: to the branch that it is in. */
	if (!unfold && !all && (!branch->child || !branch->unfolded)) {
		screen->selected = tui_tree_parent(&tui->lines.tree, screen->selected);
		return;
	}
	tui->rc = tui_tree_fold(&tui->lines.tree, screen->selected, unfold, all, &tui->err);
	screen->over |= tui->rc != 0;
}

/* What a key does with the line that has the cursor. */
static void press_line(struct tui *tui, int key)
{
	size_t line = tui->screen.selected;
	const struct tui_branch *branch;
	struct tui_view next;
	uint32_t id;

	if (line >= tui_lines_count(&tui->lines))
		return;
	if (tui->lines.view.kind == TUI_TREE) {
		branch = tui_tree_branch(&tui->lines.tree, line);
		if (key == SCREEN_ENTER)
			fold(tui, !branch->unfolded, false);
		if (key == SCREEN_RIGHT || key == '+' || key == SCREEN_LEFT || key == '-')
			fold(tui, key == SCREEN_RIGHT || key == '+', false);
		if (key == '*')
			fold(tui, true, true);
	}
	if (key == SCREEN_ENTER && tui_lines_next(&tui->lines, line, &next))
		go_to(tui, &next);
	id = key == 'l' ? tui_lines_id(&tui->lines, line) : 0;
	if (id)
		go_to(tui, &(struct tui_view){ TUI_CALLS, id, tui->lines.view.tid, 0, 0 });
}

static void press(void *ctx, int key)
{
	struct tui *tui = ctx;

	if (top_key_by_letter(key, &tui->key)) {
		sort(tui);
		return;
	}
	switch (key) {
	case '/':
		tui->screen.typing = tui->lines.view.kind == TUI_FUNCTIONS;
		break;
	case 'T':
		go_to(tui, &(struct tui_view){ .kind = TUI_THREADS });
		break;
	case 'C':
		go_to(tui, &(struct tui_view){ .kind = TUI_TREE, .tid = tui->lines.view.tid });
		break;
	case SCREEN_BACK:
		if (tui->views.n > 1) {
			tui->views.n--;
			show(tui);
			break;
		}
		tui->screen.filter[0] = '\0';
		screen_go_home(&tui->screen);
		sort(tui);
		break;
	default:
		press_line(tui, key);
		break;
	}
}

static size_t count(const void *ctx)
{
	const struct tui *tui = ctx;

	return tui_lines_count(&tui->lines);
}

static void add_title(const void *ctx, struct buf *out)
{
	const struct tui *tui = ctx;

	buf_addstr(out, buf_str(&tui->title));
}

static void add_state(const void *ctx, struct buf *out)
{
	const struct tui *tui = ctx;

	tui_lines_add_state(&tui->lines, out);
	if (tui->lines.view.kind != TUI_TREE)
		buf_addf(out, ", by %s", top_key_name(tui->key));
	if (tui->lines.view.kind == TUI_FUNCTIONS)
		screen_add_filter(&tui->screen, out);
	buf_addf(out, ", %zu shown", count(tui));
}

static void add_head(const void *ctx, struct buf *out)
{
	const struct tui *tui = ctx;

	tui_lines_add_head(&tui->lines, out);
}

static void add_line(const void *ctx, size_t at, struct buf *out)
{
	const struct tui *tui = ctx;

	tui_lines_add(&tui->lines, at, out);
}

static const char *foot(const void *ctx)
{
	static const char *const feet[] = {
		[TUI_FUNCTIONS] = "s c t a p m n sort  / filter  Enter callers, callees  l calls  "
				  "C tree  T threads  q end  h help",
		[TUI_OF] = "Enter that function, or its calls  l calls  Esc back  q end  h help",
		[TUI_CALLS] = "s own time  t time  c begin  Enter what it calls  Esc back  q end  "
			      "h help",
		[TUI_MADE] = "s own time  t time  c begin  Enter what it calls  Esc back  q end  "
			     "h help",
		[TUI_THREADS] = "s own time  c calls  n id  Enter its functions  Esc back  q end  "
				"h help",
		[TUI_TREE] = "Enter + - * fold, unfold  l calls  Esc back  q end  h help",
	};
	const struct tui *tui = ctx;

	return feet[tui->lines.view.kind];
}

static void make_title(struct tui *tui)
{
	const struct reader *reader = tui->reader;
	const struct trace_log *log = &reader->log;
	struct buf *out = &tui->title;
	const struct trace_span *span;
	size_t n_threads = 0;
	pid_t tid = -1;

	vec_for_each (&reader->timeline.calls, span) {
		n_threads += span->record.tid != tid;
		tid = span->record.tid;
	}
	buf_addf(out, "pid %d ", log->pid);
	text_add_printable(out, log->comm, strlen(log->comm), false);
	buf_addf(out, ", %s: %zu calls in %zu threads", reader->tracer->name,
		 reader->timeline.calls.n, n_threads);
	if (log->overwritten)
		buf_addf(out, ", %llu older ones overwritten",
			 (unsigned long long)log->overwritten);
	if (log->unseen)
		buf_addf(out, ", %llu not recorded", (unsigned long long)log->unseen);
}

static int run(struct tui *tui, struct uspl_err *err)
{
	struct pollfd keys = { .fd = STDIN_FILENO, .events = POLLIN };

	while (!tui->screen.over) {
		screen_paint(&tui->screen);
		/* A signal may say that the terminal has another size. */
		while (poll(&keys, 1, ASK_MS) == 0 && !cancel_requested())
			;
		if (cancel_requested() || keys.revents & (POLLERR | POLLHUP | POLLNVAL) ||
		    !screen_take_keys(&tui->screen))
			break;
	}
	if (tui->rc)
		*err = tui->err;
	return tui->rc;
}

static int browse(struct reader *reader, enum top_key key, const char *filter, struct uspl_err *err)
{
	static const char *const help[] = {
		"s c t a p m n   sort by self time, calls, total time, average, p99, maximum, name",
		"/               show functions with a text in their name; a glob ('read*'); Esc: "
		"all",
		"arrows, PgUp, PgDn, Home, End",
		"Enter           of a function: who calls it, and what it calls; of a call: what "
		"it calls",
		"l               the calls of a function, one by one",
		"T               threads; Enter: the functions of one",
		"C               the call tree; Enter, + and -, arrows: unfold and fold; *: all "
		"below",
		"Esc, Backspace  back",
		"q, ^C           end",
		"",
		"OPEN: calls that go on; left: by a longjmp or an exception",
		"cut: began before the oldest record that is left; their own time isn't known",
	};
	static const struct screen_user user = {
		.title = add_title,
		.state = add_state,
		.head = add_head,
		.count = count,
		.line = add_line,
		.foot = foot,
		.press = press,
		.filtered = sort,
		.help = help,
		.n_help = ARRAY_SIZE(help),
	};
	auto_tui struct tui tui = {
		.screen = { .user = &user, .ctx = &tui },
		.reader = reader,
		.key = key,
	};
	struct tui_view *first = vec_push(&tui.views);
	int rc;

	if (!first)
		return uspl_fail_nomem(err);
	*first = (struct tui_view){ .kind = TUI_FUNCTIONS };
	make_title(&tui);
	rc = screen_open(&tui.screen, "'uspl-trace report' prints tables", err);
	if (rc)
		return rc;
	snprintf(tui.screen.filter, sizeof(tui.screen.filter), "%s", filter);
	show(&tui);
	rc = run(&tui, err);
	screen_close(&tui.screen);
	return rc;
}

int trace_tui(int argc, char **argv, struct uspl_err *err)
{
	const char *sort_by = NULL, *filter = "";
	const struct cli_option table[] = {
		{ 's', "sort", "KEY", CLI_STRING, &sort_by,
		  "'self' (default), 'calls', 'total', 'avg', 'p99', 'max', 'name'" },
		{ 'f', "filter", "TEXT", CLI_STRING, &filter,
		  "show functions with this in their name, or that match it ('read*')" },
	};
	const struct cli_command cmd = {
		.name = "uspl-trace tui",
		.synopsis = "[OPTION]... PID|FILE",
		.summary = "Shows what was recorded on a terminal: functions, calls, threads",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};
	const struct reader_wish wish = { 0 };
	auto_reader struct reader reader = { 0 };
	enum top_key key = TOP_SELF;
	int rc;

	/* What is left when it has given up the rest, before it reads. */
	screen_load();
	look_keep_screen();
	rc = reader_open_operand(&cmd, argc, argv, &wish, &reader, err);
	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	rc = sort_by ? top_key_find(sort_by, &key, err) : 0;
	if (rc)
		return rc;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		uspl_fail(err, USPL_E_UNSUPPORTED, "this needs a terminal");
		uspl_hint(err, "'uspl-trace report' prints tables");
		return -USPL_E_UNSUPPORTED;
	}
	reader.tracer = tracer_of(&reader.view.session);
	if (!reader.view.session.regions.n || reader.tracer->tally) {
		uspl_fail(err, USPL_E_UNSUPPORTED, "no calls were recorded there one by one");
		uspl_hint(err, "'uspl-trace report' prints what there is");
		return -USPL_E_UNSUPPORTED;
	}
	rc = reader_read(&reader, err);
	if (rc)
		return rc;
	cancel_catch();
	return browse(&reader, key, filter, err);
}
