// SPDX-License-Identifier: GPL-3.0-or-later
// phase.c - running a build under the compiler wrapper

#include "create/build/phase.h"

#include "create/build/meter.h"
#include "create/tree/build.h"
#include "create/tree/paths.h"
#include "create/tree/wrapper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

enum { SHOWN_LINES = 30, TERM_MS = 5000, REPORT_MS = 250 };

static const char *const unset[] = {
	"MAKEFLAGS",    "MFLAGS",       "GNUMAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MAKEFILES",
	"MAKE_TERMOUT", "MAKE_TERMERR", "CDPATH",       "LANGUAGE",  "GCC_COLORS",    "DESTDIR",
};

/* The signals by which users end us. cmd_create.c holds them back while there is a work folder. */
static void ending_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

static void become_build(const struct build_paths *paths, const struct phase *phase, int log)
{
	const char *old_path = getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin";
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	auto_buf struct buf path = { 0 };
	sigset_t ending;

	setpgid(0, 0);
	ending_signals(&ending);
	sigprocmask(SIG_UNBLOCK, &ending, NULL);
	/* The environment that both builds have in common. */
	buf_addf(&path, "%s/bin:%s", paths->work, old_path);
	for (size_t i = 0; i < ARRAY_SIZE(unset); i++)
		unsetenv(unset[i]);
	wrapper_rename_variables();
	setenv("PATH", buf_str(&path), 1);
	setenv("PWD", paths->tree, 1);
	setenv("LC_ALL", "C", 1);
	setenv("SOURCE_DATE_EPOCH", "1", 0);
	wrapper_hold_launchers();
	setenv("USPL_CC_WORK", paths->work, 1);
	setenv("USPL_CC_PHASE", phase->name, 1);
	setenv("USPL_CC_TREE", paths->tree, 1);
	setenv("USPL_CC_SOURCE", paths->source, 1);
	/* For the recipe. */
	setenv("USPL_SETTLED", phase->settled ? "yes" : "", 1);
	setenv("USPL_CONFIGURED", phase->configured ? "yes" : "", 1);
	if (chdir(paths->tree) == 0 && null >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
	    dup2(log, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0)
		execl("/bin/sh", "sh", "-c", phase->command, (char *)NULL);
	_exit(127);
}

enum end { END_NOT_YET, END_SIGNAL, END_DONE };

/*
 * Waits until the build ends, or the time is over, or one of the ending signals comes, which stays
 * pending.
 */
static enum end wait_for_end(int pidfd, int signals, int timeout_ms)
{
	struct pollfd fds[2] = { { .fd = pidfd, .events = POLLIN },
				 { .fd = signals, .events = POLLIN } };

	while (poll(fds, 2, timeout_ms) < 0 && errno == EINTR)
		;
	if (fds[0].revents)
		return END_DONE;
	return fds[1].revents ? END_SIGNAL : END_NOT_YET;
}

static int wait_build(pid_t pid, struct meter *meter, const char *record, int *ret_status,
		      struct uspl_err *err)
{
	auto_close int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int report_ms = meter->options->progress ? REPORT_MS : -1;
	auto_close int signals = -1;
	enum end end = END_DONE;
	sigset_t ending;

	ending_signals(&ending);
	if (pidfd >= 0)
		signals = signalfd(-1, &ending, SFD_CLOEXEC);
	while (pidfd >= 0 && (end = wait_for_end(pidfd, signals, report_ms)) == END_NOT_YET)
		meter_report(meter, record);
	if (end == END_SIGNAL) {
		kill(-pid, SIGTERM);
		if (wait_for_end(pidfd, -1, TERM_MS) != END_DONE)
			kill(-pid, SIGKILL);
	}
	while (waitpid(pid, ret_status, 0) < 0)
		if (errno != EINTR)
			return uspl_fail_errno(err, "cannot wait for the build");
	return end == END_DONE ? 0 : uspl_fail(err, USPL_E_CANCELLED, "interrupted");
}

/* What tells the line in which a compiler, linker or make says why. */
static const char *const complaints[] = {
	"uspl-cc: ",           ": error:",       ": fatal error:", ": Error:",
	"undefined reference", "cannot find -l", "*** ",
};

/* Up to `lines` lines from there. */
static size_t lines_len(const char *text, int lines)
{
	const char *p = text;

	for (; *p && lines; lines--)
		p = text_next_line(p);
	return (size_t)(p - text);
}

static const char *last_lines(const char *text, int lines)
{
	size_t at = strlen(text);

	while (at > 0 && (text[at - 1] != '\n' || !text[at] || --lines))
		at--;
	return text + at;
}

/*
 * Shows what the compiler had to say: from the line in front of the first complaint, which names
 * the function; other compilations may have gone on behind it. Without any, the end of the output.
 * The first complaint is the caller's to free, NULL if there is none.
 */
static char *show_reason(const char *text, bool quiet)
{
	const char *before = text, *shown = NULL;
	char *complaint = NULL;
	size_t len;

	for (const char *line = text; *line && !complaint; line += len + (line[len] == '\n')) {
		bool complains = false;

		len = strcspn(line, "\n");
		for (size_t i = 0; i < ARRAY_SIZE(complaints); i++)
			complains |=
				memmem(line, len, complaints[i], strlen(complaints[i])) != NULL;
		if (complains) {
			complaint = strndup(line, len);
			shown = before;
		}
		before = line;
	}
	if (!shown)
		shown = last_lines(text, SHOWN_LINES);
	len = lines_len(shown, SHOWN_LINES);
	if (quiet || !len)
		return complaint;
	fwrite(shown, 1, len, stderr);
	if (shown[len - 1] != '\n')
		fputc('\n', stderr);
	return complaint;
}

/* Without the command: it is mostly our own, and -v shows it. */
static int build_failed(const struct phase *phase, const char *complaint, struct uspl_err *err)
{
	bool pre = !strcmp(phase->name, "pre"), twice = phase->twice && !pre;

	uspl_fail(err, USPL_E_BUILD, "%s%s%.200s",
		  phase->failed ? phase->failed
		  : pre         ? "the build before the patch failed"
		  : twice       ? "the patch breaks the build, or this package can't be built twice"
				: "the patch breaks the build",
		  complaint ? ": " : "", complaint ? complaint : "");
	uspl_hint(err, "--keep=FOLDER keeps the tree and the whole output (build-%s.log)%s",
		  phase->name, pre || twice ? "; --build=COMMAND says how to build" : "");
	return -USPL_E_BUILD;
}

int phase_run(const struct build_paths *paths, const struct build_options *options,
	      const struct phase *phase, struct uspl_err *err)
{
	auto_free char *log = text_format("%s/build-%s.log", paths->work, phase->name);
	auto_free char *record = text_format("%s/record-%s", paths->work, phase->name);
	auto_free char *complaint = NULL;
	auto_close int fd = -1;
	auto_buf struct buf output = { 0 };
	struct meter meter;
	int status, rc;
	size_t start;
	pid_t pid;

	if (!log || !record)
		return uspl_fail_nomem(err);
	log_info("build", "%s: %s", phase->what, phase->command);
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return uspl_fail_errno(err, "cannot create '%s'", log);
	start = (size_t)lseek(fd, 0, SEEK_END);
	pid = fork();
	if (pid < 0)
		return uspl_fail_errno(err, "cannot start the build");
	if (pid == 0)
		become_build(paths, phase, fd);
	meter_start(&meter, options, phase->what);
	rc = wait_build(pid, &meter, record, &status, err);
	meter_stop(&meter);
	if (rc || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
		return rc;
	if (phase->ret_failed) {
		*phase->ret_failed = true;
		return 0;
	}
	/* What this command has put out, behind that of those before. */
	if (!file_read(log, &output, NULL) && output.len > start)
		complaint = show_reason(buf_str(&output) + start, phase->quiet);
	return build_failed(phase, complaint, err);
}
