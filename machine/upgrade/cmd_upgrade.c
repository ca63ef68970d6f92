// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * cmd_upgrade.c - processes that run older code than the packages that are installed or offered
 *
 * A process that is behind gets the difference as an update. First all processes are held against
 * the packages: that gives cases, a process and a source package each. Then each pair of versions
 * that occurs gets its update, which is looked for or made once, and is applied to the processes of
 * its cases. Whatever comes of it, each case ends with an answer.
 */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/cli.h"
#include "base/subprocess.h"
#include "command/commands.h"
#include "machine/outcome.h"
#include "machine/upgrade/said.h"
#include "machine/upgrade/supply.h"

struct upgrade {
	const char *from;   /* where updates are; NULL: they are made */
	const char *cacert; /* a file of certificates, of which one has signed the server's */
	bool dry_run, json;
	VEC(const char *) sources; /* the packages that are asked for; none: all */
	struct running running;
	struct releases releases;
	struct supply supply;
	upgrade_cases cases;
};

static void upgrade_release(struct upgrade *upgrade)
{
	struct upgrade_case *item;

	vec_for_each (&upgrade->cases, item) {
		free(item->from);
		free(item->build_id);
		free(item->id);
		free(item->left_out);
	}
	vec_release(&upgrade->cases);
	vec_release(&upgrade->sources);
	supply_release(&upgrade->supply);
	releases_release(&upgrade->releases);
	running_release(&upgrade->running);
}
DEFINE_AUTO_RELEASE(upgrade, struct upgrade, upgrade_release)
#define auto_upgrade __attribute__((cleanup(cleanup_upgrade_)))

static int parse(int argc, char **argv, struct upgrade *upgrade, int *ret_first,
		 struct uspl_err *err)
{
	const struct cli_option table[] = {
		{ 'n', "dry-run", NULL, CLI_FLAG, &upgrade->dry_run,
		  "say what is behind, and change nothing" },
		{ 0, "from", "FOLDER|URL", CLI_STRING, &upgrade->from,
		  "take updates from this folder, and make none; https:// and file:// are "
		  "fetched" },
		{ 0, "cacert", "FILE", CLI_STRING, &upgrade->cacert,
		  "the certificates that the server's is checked with (default: the machine's)" },
		{ 0, "json", NULL, CLI_FLAG, &upgrade->json,
		  "one JSON object a process, one to a line" },
	};
	const struct cli_command cmd = {
		.name = "uspl-upgrade",
		.synopsis = "[OPTION]... [PACKAGE]...",
		.summary =
			"Brings running processes to the versions of packages that are installed "
			"or offered",
		.options = table,
		.n_options = ARRAY_SIZE(table),
	};

	return cli_parse(&cmd, argc, argv, ret_first, err);
}

static int read_names(char **names, int n, struct upgrade *upgrade, struct uspl_err *err)
{
	for (int i = 0; i < n; i++) {
		const char *source = releases_source(&upgrade->releases, names[i]);
		const char **slot;

		if (!source) {
			uspl_fail(err, USPL_E_USAGE, "the package '%s' isn't installed", names[i]);
			uspl_hint(err, "processes are found by the packages that have their files");
			return -USPL_E_USAGE;
		}
		slot = vec_push(&upgrade->sources);
		if (!slot)
			return uspl_fail_nomem(err);
		*slot = source;
	}
	return 0;
}

static bool is_asked_for(const struct upgrade *upgrade, const char *source)
{
	const char *const *asked;

	vec_for_each (&upgrade->sources, asked)
		if (!strcmp(*asked, source))
			return true;
	return !upgrade->sources.n;
}

/* ---- which processes are behind ---- */

/* The version that a module is of, if that can be told; NULL otherwise. */
static int find_version(struct upgrade *upgrade, const struct running_module *module,
			const struct dpkg_package *owner, const struct release *release,
			const char **ret, struct uspl_err *err)
{
	int rc;

	*ret = release->installed;
	if (releases_is_on_disk(&upgrade->releases, module))
		return 0;
	*ret = supply_version(&upgrade->supply, owner->source, module->build_id, release->newest);
	if (*ret)
		return 0;
	rc = releases_find_archived(&upgrade->releases, owner, module->build_id, ret, err);
	if (!rc && !**ret)
		*ret = NULL;
	return rc;
}

static int add_module(struct upgrade *upgrade, const struct running_process *process,
		      const struct running_module *module, struct uspl_err *err)
{
	const struct dpkg_package *owner = releases_owner(&upgrade->releases, module->path);
	const struct release *release =
		owner ? releases_of(&upgrade->releases, owner->source) : NULL;
	struct upgrade_case *item;
	const char *version;
	bool behind = true;
	int rc;

	if (!release || !is_asked_for(upgrade, release->source))
		return 0;
	vec_for_each (&upgrade->cases, item)
		if (item->process == process && item->release == release)
			return 0;
	rc = find_version(upgrade, module, owner, release, &version, err);
	/* Most files are those on disk; what is newer than these is later (releases_read). */
	if (!rc && version == release->installed)
		behind = strcmp(release->newest, release->installed) != 0;
	else if (!rc && version)
		rc = dpkg_is_later(release->newest, version, &behind, err);
	if (rc || !behind)
		return rc;
	item = vec_push(&upgrade->cases);
	if (!item)
		return uspl_fail_nomem(err);
	item->process = process;
	item->release = release;
	item->from = version ? strdup(version) : NULL;
	item->build_id = strdup(module->build_id);
	return item->build_id && (item->from || !version) ? 0 : uspl_fail_nomem(err);
}

/* ---- updates, and what comes of them ---- */

static void give_up(struct upgrade_case *item, const struct uspl_err *why)
{
	item->answer = why->code == USPL_E_NO_CHANGE ? ANSWER_SAME : ANSWER_RESTART;
	item->why = *why;
}

/* The same versions, of the same package. */
static bool is_alike(const struct upgrade_case *a, const struct upgrade_case *b)
{
	return a->release == b->release && a->from && b->from && !strcmp(a->from, b->from);
}

/* Finds or makes what brings a process to the newest version; a dry run may find nothing. */
static int find_updates(struct upgrade *upgrade, const struct upgrade_case *item, supply_set *ret,
			struct uspl_err *err)
{
	const struct release *release = item->release;
	struct supply *supply = &upgrade->supply;
	struct supply_update *const *update;
	int rc = supply_find(supply, release->source, item->from, release->newest, ret, err);

	if (rc)
		return rc;
	if (ret->n && upgrade->dry_run)
		return 0;
	vec_for_each (ret, update) {
		rc = supply_fetch(supply, *update, err);
		if (rc)
			return rc;
	}
	if (ret->n)
		return 0;
	if (upgrade->from) {
		uspl_fail(err, USPL_E_UNSUPPORTED, "'%s' has no update of %s %s to %s",
			  upgrade->from, release->source, item->from, release->newest);
		uspl_hint(err, "'uspl-create --package=%s=%s --to=%s' makes one", release->source,
			  item->from, release->newest);
		return -USPL_E_UNSUPPORTED;
	}
	if (upgrade->dry_run)
		return 0;
	if (!cli_quiet())
		fprintf(stderr, "making the update of %s %s to %s\n", release->source, item->from,
			release->newest);
	rc = supply_make(supply, release->source, item->from, release->newest, err);
	if (rc)
		return rc;
	rc = supply_find(supply, release->source, item->from, release->newest, ret, err);
	if (rc || ret->n)
		return rc;
	return uspl_fail(err, USPL_E_BUG, "the update that was made isn't there");
}

/* What is known while an uspl-apply speaks. */
struct listener {
	upgrade_cases *cases;
	const struct upgrade_case *first;
};

static void take_outcome(const struct outcome *outcome, void *ctx)
{
	const struct listener *listener = ctx;
	struct upgrade_case *item;

	vec_for_each (listener->cases, item) {
		if (item->process->process.pid != outcome->pid || !is_alike(item, listener->first))
			continue;
		/* Of several updates each may be for another program. */
		if (outcome->error && !strcmp(outcome->error, "no-module"))
			continue;
		/* One that fails counts, and the stops are added up. */
		if (outcome->error)
			item->answer = ANSWER_RESTART;
		else if (item->answer != ANSWER_RESTART)
			item->answer = item->left_out ? ANSWER_PARTLY : ANSWER_PATCHED;
		item->changed |= outcome->changed;
		item->stop_us += outcome->stop_us;
		if (outcome->error)
			uspl_fail(&item->why, USPL_E_UNSUPPORTED, "%.1400s",
				  outcome->message ? outcome->message : outcome->error);
	}
}

/* A later process may have its pid. */
static bool has_ended(const struct upgrade_case *item)
{
	const struct census_process *was = &item->process->process;
	struct census_process now = { 0 };
	bool kernel;

	return census_read(was->pid, &now, &kernel, NULL) != 0 || now.starttime != was->starttime;
}

/*
 * A process that uspl-apply says nothing of has ended, or can't be read; or the update was refused
 * as a whole. What has ended while it was patched needs no restart, either.
 */
static void close_cases(const struct listener *listener, int status, const char *errors)
{
	static const char prog[] = "uspl-apply: ";
	const char *at = strstr(errors, prog);
	const char *message = at ? at + strlen(prog) : "it runs something else by now";
	size_t len = strcspn(message, "\n");
	struct upgrade_case *item;

	vec_for_each (listener->cases, item) {
		if (!is_alike(item, listener->first))
			continue;
		if (!item->changed && has_ended(item)) {
			item->answer = ANSWER_ENDED;
			item->why = (struct uspl_err){ 0 };
			continue;
		}
		if (item->answer != ANSWER_BEHIND)
			continue;
		item->answer = ANSWER_RESTART;
		uspl_fail(&item->why,
			  status == USPL_STATUS_REFUSED ? USPL_E_UNSUPPORTED : USPL_E_NO_PROCESS,
			  "%.*s", (int)(len < 1400 ? len : 1400), message);
	}
}

/* Says of a case what is to be applied. */
static int note_updates(struct upgrade_case *item, const supply_set *set, struct uspl_err *err)
{
	auto_buf struct buf ids = { 0 };
	struct supply_update *const *update;

	vec_for_each (set, update)
		buf_addf(&ids, "%s%s", ids.len ? " " : "", (*update)->entry.id);
	item->id = strdup(buf_str(&ids));
	if (!item->id || ids.oom)
		return uspl_fail_nomem(err);
	if (!set->items[0]->entry.upgrade.left_out)
		return 0;
	item->left_out = strdup(set->items[0]->entry.upgrade.left_out);
	return item->left_out ? 0 : uspl_fail_nomem(err);
}

/* Applies updates to the processes of the cases that are like this one. */
static int apply(struct upgrade *upgrade, const struct upgrade_case *first, const supply_set *set,
		 struct uspl_err *err)
{
	static const char *const start[] = { "/proc/self/exe", "apply", "--all", "--json" };
	const struct listener listener = { &upgrade->cases, first };
	auto_free const char **argv = calloc(upgrade->cases.n + set->n + 5, sizeof(*argv));
	auto_free char(*only)[24] = calloc(upgrade->cases.n, sizeof(*only));
	auto_buf struct buf out = { 0 };
	auto_buf struct buf errors = { 0 };
	size_t n = ARRAY_SIZE(start), n_only = 0;
	struct supply_update *const *update;
	struct upgrade_case *item;
	int status;

	if (!argv || !only)
		return uspl_fail_nomem(err);
	memcpy(argv, start, sizeof(start));
	vec_for_each (&upgrade->cases, item) {
		if (!is_alike(item, first))
			continue;
		status = note_updates(item, set, err);
		if (status)
			return status;
		snprintf(only[n_only], sizeof(*only), "--only=%d", item->process->process.pid);
		argv[n++] = only[n_only++];
	}
	vec_for_each (set, update)
		argv[n++] = (*update)->path;
	status = subprocess_run(argv, NULL, &out, &errors, err);
	if (status < 0)
		return status;
	outcome_each(buf_str(&out), take_outcome, (void *)(uintptr_t)&listener);
	close_cases(&listener, status, buf_str(&errors));
	return 0;
}

/* Only what ends the command is a failure of it. */
static int settle_case(struct upgrade *upgrade, struct upgrade_case *item, struct uspl_err *err)
{
	auto_vec supply_set set = { 0 };
	struct uspl_err why = { 0 };
	struct upgrade_case *other;
	int rc;

	if (!item->from) {
		uspl_fail(&why, USPL_E_UNSUPPORTED,
			  "which version of %s it runs isn't known: no update and no version that "
			  "apt has knows the build-id %s",
			  item->release->source, *item->build_id ? item->build_id : "(none)");
		give_up(item, &why);
		return 0;
	}
	/* One that is like an earlier one has been settled with that. */
	for (other = upgrade->cases.items; other < item; other++)
		if (is_alike(other, item))
			return 0;
	rc = find_updates(upgrade, item, &set, &why);
	if (rc == -USPL_E_NOMEM || rc == -USPL_E_CANCELLED) {
		*err = why;
		return rc;
	}
	if (!rc)
		return upgrade->dry_run ? 0 : apply(upgrade, item, &set, err);
	vec_for_each (&upgrade->cases, other)
		if (is_alike(item, other))
			give_up(other, &why);
	return 0;
}

static int run(struct upgrade *upgrade, char **names, int n, struct uspl_err *err)
{
	const struct selection everything = { .all = true };
	const struct running_process *process;
	const struct running_module *module;
	struct upgrade_case *item;
	int rc = releases_open(&upgrade->releases, err);

	if (!rc)
		rc = read_names(names, n, upgrade, err);
	if (!rc)
		rc = supply_open(upgrade->from, upgrade->cacert, &upgrade->supply, err);
	if (!rc)
		rc = running_find(&everything, &upgrade->running, err);
	if (!rc)
		rc = releases_read(&upgrade->releases, &upgrade->running, err);
	if (rc)
		return rc;
	vec_for_each (&upgrade->running.processes, process)
		vec_for_each (&process->modules, module) {
			rc = add_module(upgrade, process, module, err);
			if (rc)
				return rc;
		}
	vec_for_each (&upgrade->cases, item) {
		rc = cancel_check(err);
		if (!rc)
			rc = settle_case(upgrade, item, err);
		if (rc)
			return rc;
	}
	if (!upgrade->json)
		said_print(&upgrade->cases, &upgrade->running);
	else
		rc = said_print_json(&upgrade->cases, &upgrade->running, err);
	return rc ? rc : said_status(&upgrade->cases);
}

int cmd_upgrade(int argc, char **argv, struct uspl_err *err)
{
	auto_upgrade struct upgrade upgrade = { 0 };
	int first, rc = parse(argc, argv, &upgrade, &first, err);

	if (rc)
		return rc == CLI_STOP ? USPL_STATUS_DONE : rc;
	cancel_catch();
	return run(&upgrade, argv + first, argc - first, err);
}
