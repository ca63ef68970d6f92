// SPDX-License-Identifier: GPL-3.0-or-later
// agent.c - the agent's code in its place in a target
/*
 * The agent's code goes into slack: the bytes between the end of a program's code and the end of
 * its last page, which are mapped, executable and used by nobody. So no gadget has to be found,
 * nothing has to be mapped first, and a static program will do as well as any. The bytes are put
 * back afterwards.
 *
 * A tool that dies leaves its agent there, and a thread may still be in it, for as long as it is
 * kept from running. So code of the agent that is found in a slack is used, but stays, until it is
 * known that no thread is in it (inject_left_clear).
 */

#include "proc/agent.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/log.h"

extern const uint8_t uspl_agent[], uspl_agent_end[];

/* How a thread that was sent is looked for outside: by its signals, then stopped. */
#define GUEST_LOOKS 50
#define GUEST_PAUSE_NS 20000
#define GUEST_STOPS 5

static size_t agent_len(void)
{
	return (size_t)(uspl_agent_end - uspl_agent);
}

enum slack_state { SLACK_ZEROS, SLACK_AGENT, SLACK_OTHER };

static enum slack_state slack_state(const struct proc *proc, taddr addr)
{
	static const uint8_t zeros[AGENT_MAX];
	uint8_t have[AGENT_MAX];
	size_t len = agent_len();

	if (proc_read_some(proc, addr, have, len) != len)
		return SLACK_OTHER;
	if (!memcmp(have, zeros, len))
		return SLACK_ZEROS;
	return memcmp(have, uspl_agent, len) ? SLACK_OTHER : SLACK_AGENT;
}

/* Room behind the last byte of a segment's code, 0 if there isn't enough. */
static taddr slack_of(const struct proc *proc, const struct module *module)
{
	const Elf64_Phdr *phdr;

	vec_for_each (&module->phdrs, phdr) {
		taddr end = phdr->p_vaddr + (uint64_t)module->bias + phdr->p_filesz;
		const struct mapping *map = proc_mapping_at(proc, end - 1);

		if (phdr->p_type != PT_LOAD || !(phdr->p_flags & PF_X) ||
		    phdr->p_memsz != phdr->p_filesz || !map || !map->exec || map->shared)
			continue;
		end = (end + 15) & ~15ull;
		/* Still in the page that holds the last byte. */
		if (end % PAGE && end + agent_len() <= map->end && end % PAGE + agent_len() <= PAGE)
			return end;
	}
	return 0;
}

bool inject_spare(const struct proc *proc, const struct module *module, taddr *ret_start,
		  taddr *ret_end)
{
	taddr slack = slack_of(proc, module);

	if (!slack || slack % PAGE + AGENT_MAX >= PAGE)
		return false;
	*ret_start = slack + AGENT_MAX;
	*ret_end = (slack | (PAGE - 1)) + 1;
	return true;
}

/*
 * Slack that is all zeros is best: then what belongs there is known whatever happened before. 0 if
 * there is none.
 */
static taddr find_slack(const struct proc *proc, const module_vec *modules, bool lasting)
{
	const struct module *module;
	taddr addr = 0;

	vec_for_each (modules, module) {
		taddr slack =
			module->is_vdso || module->lasting != lasting ? 0 : slack_of(proc, module);

		if (slack && slack_state(proc, slack) != SLACK_OTHER)
			return slack;
		addr = addr ? addr : slack;
	}
	return addr;
}

/* Not in a library that may be unloaded at any moment, if there is another one. */
static int place_agent(const struct proc *proc, const module_vec *modules,
		       struct inject_agent *agent, struct uspl_err *err)
{
	taddr addr;
	int rc = inject_left_find(proc, modules, &agent->left, err);

	if (rc)
		return rc;
	addr = find_slack(proc, modules, true);
	if (!addr)
		addr = find_slack(proc, modules, false);
	if (!addr)
		return uspl_fail(
			err, USPL_E_UNSUPPORTED,
			"pid %d has no room for %zu bytes of code behind any program's code",
			proc->pid, agent_len());
	agent->addr = addr;
	agent->len = agent_len();
	rc = proc_read(proc, addr, agent->saved, agent->len, err);
	return rc ? rc : proc_write(proc, addr, uspl_agent, agent->len, err);
}

int inject_agent_new(const struct proc *proc, const module_vec *modules, struct inject_agent **ret,
		     struct uspl_err *err)
{
	auto_free struct inject_agent *agent = calloc(1, sizeof(*agent));
	module_vec own = { 0 };
	int rc;

	if (!agent)
		return uspl_fail_nomem(err);
	agent->proc = proc;
	agent_frame_prepare();
	rc = modules ? 0 : modules_read(proc, &own, err);
	if (!rc)
		rc = place_agent(proc, modules ? modules : &own, agent, err);
	modules_release(&own);
	if (!rc)
		*ret = take_ptr(agent);
	else
		vec_release(&agent->left);
	return rc;
}

int agent_note_guest(struct inject_agent *agent, pid_t tid, struct uspl_err *err)
{
	pid_t *item = vec_push(&agent->guests);

	if (!item)
		return uspl_fail_nomem(err);
	*item = tid;
	return 0;
}

bool agent_has(const struct inject_agent *agent, taddr pc)
{
	const struct inject_left *left;

	vec_for_each (&agent->left, left)
		if (pc - left->addr < left->len)
			return true;
	return pc - agent->addr < agent->len;
}

/*
 * In the agent a thread blocks all signals that can be blocked, up to the call that is its way out.
 * One that does so of its own can't be told by that.
 */
bool agent_hides(uint64_t sigmask)
{
	const uint64_t never = 1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1);

	return (sigmask | never) == ~0ull;
}

bool agent_shows_outside(const struct inject_agent *agent, pid_t tid)
{
	return !agent_hides(thread_blocked_signals(agent->proc, tid));
}

/* True if the thread, stopped for that, stands somewhere else, or has ended. */
static bool stops_outside(const struct inject_agent *agent, pid_t tid)
{
	struct thread thread = { .tid = tid };
	int rc = thread_stop(agent->proc, &thread, clock_now_ns() + STOP_LIMIT_NS, NULL);

	if (!rc && thread.state == THREAD_STOPPED)
		rc = thread_read_regs(agent->proc, &thread, NULL);
	thread_release(agent->proc, &thread);
	return !rc && (thread.state == THREAD_GONE || !agent_has(agent, regs_pc(&thread.regs)));
}

/*
 * A thread that was sent says that it is done a few instructions before it leaves. It never comes
 * back, so it is enough to see it outside once.
 */
static bool has_left(const struct inject_agent *agent, pid_t tid)
{
	for (int look = 0; look < GUEST_LOOKS; look++) {
		const struct timespec pause = { .tv_nsec = GUEST_PAUSE_NS * look };

		if (agent_shows_outside(agent, tid))
			return true;
		nanosleep(&pause, NULL);
	}
	for (int stop = 0; stop < GUEST_STOPS; stop++)
		if (stops_outside(agent, tid))
			return true;
	return false;
}

int agent_require_alone(const struct inject_agent *agent, struct uspl_err *err)
{
	tid_vec tids = { 0 };
	const pid_t *tid;
	sigset_t old;
	int rc = agent->left.n ? threads_list(agent->proc, &tids, err) : 0;

	thread_guard(&old);
	vec_for_each (&tids, tid)
		if (!rc && !has_left(agent, *tid))
			rc = uspl_fail(
				err, USPL_E_BUSY,
				"thread %d of pid %d is still at work for a command that has "
				"died",
				*tid, agent->proc->pid);
	thread_unguard(&old);
	vec_release(&tids);
	return rc;
}

static void agent_release(struct inject_agent *agent)
{
	const pid_t *tid;
	sigset_t old;

	thread_guard(&old);
	vec_for_each (&agent->guests, tid)
		agent->kept = agent->kept || !has_left(agent, *tid);
	thread_unguard(&old);
	if (!agent->kept &&
	    proc_write(agent->proc, agent->addr, agent->saved, agent->len, NULL) != 0)
		log_info("inject", "cannot clear the slack at 0x%" PRIx64, agent->addr);
	vec_release(&agent->guests);
	vec_release(&agent->left);
}

void inject_agent_free(struct inject_agent *agent)
{
	if (agent)
		agent_release(agent);
	free(agent);
}

int inject_left_find(const struct proc *proc, const module_vec *modules, inject_left_vec *ret,
		     struct uspl_err *err)
{
	const struct module *module;

	vec_for_each (modules, module) {
		taddr slack = module->is_vdso ? 0 : slack_of(proc, module);
		struct inject_left *left;

		if (!slack || slack_state(proc, slack) != SLACK_AGENT)
			continue;
		left = vec_push(ret);
		if (!left)
			return uspl_fail_nomem(err);
		*left = (struct inject_left){ slack, agent_len() };
	}
	return 0;
}

void inject_left_clear(const struct proc *proc, const inject_left_vec *left)
{
	static const uint8_t zeros[AGENT_MAX];
	const struct inject_left *it;

	vec_for_each (left, it)
		if (proc_write(proc, it->addr, zeros, it->len, NULL) != 0)
			log_info("inject", "cannot clear the slack at 0x%" PRIx64, it->addr);
}
