// SPDX-License-Identifier: GPL-3.0-or-later
// apt.c - apt with a configuration of its own, in which the machine's archives give sources, too

#include "create/package/apt.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "package/dpkg.h"

/* What the machine's configuration says. */
struct machine {
	char *list, *parts, *status;
};

static void machine_release(struct machine *machine)
{
	free(machine->list);
	free(machine->parts);
	free(machine->status);
}
DEFINE_AUTO_RELEASE(machine, struct machine, machine_release)
#define auto_machine __attribute__((cleanup(cleanup_machine_)))

/* A line NAME='VALUE', of a value without quotes; allocated, "" if it isn't there. */
static char *shell_value(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = text; *line; line += *line == '\n') {
		if (!strncmp(line, name, len) && line[len] == '=' && line[len + 1] == '\'')
			return strndup(line + len + 2, strcspn(line + len + 2, "'\n"));
		line += strcspn(line, "\n");
	}
	return strdup("");
}

static int ask_machine(struct machine *ret, struct uspl_err *err)
{
	static const char *const argv[] = { "apt-config", "shell",
					    "LIST",       "Dir::Etc::sourcelist/f",
					    "PARTS",      "Dir::Etc::sourceparts/d",
					    "STATUS",     "Dir::State::status/f",
					    NULL };
	auto_buf struct buf text = { 0 };
	auto_buf struct buf errors = { 0 };
	int status = dpkg_run(argv, NULL, &text, &errors, err);

	if (status < 0)
		return status;
	if (status)
		return uspl_fail(err, USPL_E_SYSTEM, "apt-config failed: %s",
				 dpkg_complaint(&errors));
	ret->list = shell_value(buf_str(&text), "LIST");
	ret->parts = shell_value(buf_str(&text), "PARTS");
	ret->status = shell_value(buf_str(&text), "STATUS");
	return ret->list && ret->parts && ret->status ? 0 : uspl_fail_nomem(err);
}

/* sources.list(5), one-line style: lines of deb and deb-src become lines of deb-src. */
static void add_lines(const char *text, struct buf *ret)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		const char *at = text + strspn(text, " \t");

		if (!strncmp(at, "deb", 3)) {
			at += !strncmp(at, "deb-src", 7) ? 7 : 3;
			if (*at == ' ' || *at == '\t')
				buf_addf(ret, "deb-src%.*s\n", (int)(text + len - at), at);
		}
		text += len + (text[len] == '\n');
	}
}

/* deb822 style: every stanza's types become deb-src. */
static void add_stanzas(const char *text, struct buf *ret)
{
	static const char types[] = "types:";

	while (*text) {
		size_t len = strcspn(text, "\n");

		if (!strncasecmp(text, types, strlen(types)))
			buf_addstr(ret, "Types: deb-src\n");
		else
			buf_addf(ret, "%.*s\n", (int)len, text);
		text += len + (text[len] == '\n');
	}
	buf_addstr(ret, "\n");
}

/* A file that this user may not read has nothing for us: apt would say so to others. */
static void add_file(const char *path, struct buf *lines, struct buf *stanzas)
{
	auto_buf struct buf text = { 0 };

	if (file_read(path, &text, NULL) != 0)
		return;
	if (text_ends_with(path, ".sources"))
		add_stanzas(buf_str(&text), stanzas);
	else
		add_lines(buf_str(&text), lines);
}

static int is_part(const struct dirent *entry)
{
	return text_ends_with(entry->d_name, ".list") || text_ends_with(entry->d_name, ".sources");
}

static void add_parts(const char *folder, struct buf *lines, struct buf *stanzas)
{
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, is_part, alphasort);

	for (int i = 0; i < n; i++) {
		auto_free char *path = file_join(folder, entries[i]->d_name);

		if (path)
			add_file(path, lines, stanzas);
		free(entries[i]);
	}
	free(entries);
}

/* Writes a file, unless it is the same already. */
static int renew(const char *folder, const char *name, const struct buf *text, bool *changed,
		 struct uspl_err *err)
{
	auto_free char *path = file_join(folder, name);
	auto_buf struct buf old = { 0 };

	if (!path || text->oom)
		return uspl_fail_nomem(err);
	if (file_read(path, &old, NULL) == 0 && !strcmp(buf_str(&old), buf_str(text)))
		return 0;
	*changed = true;
	return file_write(path, buf_str(text), text->len, err);
}

static int copy_sources(const struct apt *apt, const struct machine *machine, bool *ret_changed,
			struct uspl_err *err)
{
	auto_free char *folder = file_join(apt->folder, "sources.list.d");
	auto_buf struct buf lines = { 0 };
	auto_buf struct buf stanzas = { 0 };
	int rc = folder ? file_mkdirs(folder, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	add_file(machine->list, &lines, &stanzas);
	add_parts(machine->parts, &lines, &stanzas);
	if (!lines.len && !stanzas.len) {
		uspl_fail(err, USPL_E_SYSTEM, "apt has no archives to fetch sources from");
		uspl_hint(err, "give it some, in '%s'", machine->parts);
		return -USPL_E_SYSTEM;
	}
	rc = renew(folder, "lines.list", &lines, ret_changed, err);
	if (rc)
		return rc;
	return renew(folder, "stanzas.sources", &stanzas, ret_changed, err);
}

static int add_options(struct apt *apt, const struct machine *machine, struct uspl_err *err)
{
	auto_free char *parts = file_join(apt->folder, "sources.list.d");
	auto_free char *state = file_join(apt->folder, "state");
	auto_free char *cache = file_join(apt->folder, "cache");
	const struct {
		const char *name, *value;
	} options[] = {
		{ "Dir::Etc::sourcelist", "/dev/null" },
		{ "Dir::Etc::sourceparts", parts },
		{ "Dir::State", state },
		{ "Dir::State::status", machine->status },
		{ "Dir::Cache", cache },
		{ "Acquire::http::Timeout", "20" },
		{ "Acquire::Retries", "1" },
		/* apt's own user may not look into the user's folders. */
		{ "APT::Sandbox::User", "root" },
	};

	if (!parts || !state || !cache)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		char *option = text_format("-o%s=%s", options[i].name, options[i].value);

		if (!strvec_take(&apt->options, option))
			return uspl_fail_nomem(err);
	}
	return 0;
}

static int make_folder(struct apt *apt, struct uspl_err *err)
{
	static const char *const below[] = { "state/lists/partial", "cache/archives/partial",
					     "source" };

	apt->folder = file_in_cache("uspl/packages");
	if (!apt->folder)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < ARRAY_SIZE(below); i++) {
		auto_free char *path = file_join(apt->folder, below[i]);
		int rc = path ? file_mkdirs(path, err) : uspl_fail_nomem(err);

		if (rc)
			return rc;
	}
	return 0;
}

int apt_open(struct apt *ret, struct uspl_err *err)
{
	auto_machine struct machine machine = { 0 };
	auto_free char *lock = NULL;
	bool changed = false;
	int rc = ask_machine(&machine, err);

	ret->lock = -1;
	if (rc)
		return rc;
	rc = make_folder(ret, err);
	if (rc)
		return rc;
	lock = file_join(ret->folder, "lock");
	if (!lock)
		return uspl_fail_nomem(err);
	ret->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (ret->lock < 0 || flock(ret->lock, LOCK_EX) < 0)
		return uspl_fail_errno(err, "cannot lock '%s'", lock);
	rc = copy_sources(ret, &machine, &changed, err);
	if (rc)
		return rc;
	rc = add_options(ret, &machine, err);
	return rc || !changed ? rc : apt_update(ret, err);
}

int apt_run(const struct apt *apt, const cli_strings *words, const char *folder, struct buf *out,
	    struct buf *errors, struct uspl_err *err)
{
	size_t n = 0;
	auto_free const char **argv = calloc(apt->options.n + words->n + 2, sizeof(*argv));

	if (!argv)
		return uspl_fail_nomem(err);
	argv[n++] = words->items[0];
	argv[n++] = "-qq";
	for (size_t i = 0; i < apt->options.n; i++)
		argv[n++] = apt->options.items[i];
	for (size_t i = 1; i < words->n; i++)
		argv[n++] = words->items[i];
	return dpkg_run(argv, folder, out, errors, err);
}

int apt_update(struct apt *apt, struct uspl_err *err)
{
	const char *items[] = { "apt-get", "update" };
	const cli_strings words = { .items = items, .n = ARRAY_SIZE(items) };
	auto_buf struct buf errors = { 0 };
	int status;

	log_info("package", "fetching the lists of sources");
	status = apt_run(apt, &words, NULL, NULL, &errors, err);
	apt->is_new = true;
	if (status > 0)
		log_info("package", "apt-get update: %s", dpkg_complaint(&errors));
	return status < 0 ? status : 0;
}

void apt_release(struct apt *apt)
{
	strvec_release(&apt->options);
	if (apt->lock > 0)
		close(apt->lock);
	free(apt->folder);
	*apt = (struct apt){ 0 };
}
