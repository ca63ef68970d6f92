// SPDX-License-Identifier: GPL-3.0-or-later
// agent.c - the agent's code in its place in a target
/*
 * The agent's code goes into padding: the bytes between the end of a program's code and the end of
 * its last page, mapped, executable and unused. So no gadget has to be found, nothing has to be
 * mapped first, and a static program will do as well as any. The bytes are put back afterwards.
 *
 * A tool that dies leaves its agent there, and a thread may still be in it, for as long as it is
 * kept from running. So code of the agent that is found in padding is used, but stays, until it is
 * known that no thread is in it (agent_left_clear).
 */

#include "inject/agent.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "inject/carrier.h"
#include "proc/shstk.h"

extern const uint8_t uspl_agent[], uspl_agent_end[], uspl_agent_back_end[];

/* How a thread that was sent is looked for outside: by its signals, then stopped. */
#define CARRIER_LOOKS 50
#define CARRIER_PAUSE_NS 20000
#define CARRIER_STOPS 5

static size_t agent_len(void)
{
	return (size_t)(uspl_agent_end - uspl_agent);
}

/* Its length with the way back that threads with a shadow stack take. */
static size_t agent_back_len(void)
{
	return (size_t)(uspl_agent_back_end - uspl_agent) + sizeof(struct agent_back);
}

/* Its length without the words that belong to one thread. */
static size_t code_len(const struct inject_agent *agent)
{
	return agent->leads_back ? (size_t)(uspl_agent_back_end - uspl_agent) : agent_len();
}

/* Not in a library that may be unloaded at any moment, under the thread that runs the agent. */
static bool may_hold(const struct module *module)
{
	return !module->is_vdso && module->lasting;
}

enum padding_state { PADDING_ZEROS, PADDING_AGENT, PADDING_OTHER, PADDING_UNREADABLE };

static const uint8_t zeros[AGENT_BACK_MAX];

static enum padding_state padding_state(const struct proc *proc, taddr addr, size_t len)
{
	uint8_t have[AGENT_BACK_MAX];
	bool there = false;

	/* Only tools write there, in a module that stays. */
	if (proc_read_once(proc, addr, have, len, &there, NULL) || !there)
		return PADDING_UNREADABLE;
	if (!memcmp(have, zeros, len))
		return PADDING_ZEROS;
	return memcmp(have, uspl_agent, agent_len()) ? PADDING_OTHER : PADDING_AGENT;
}

/* Room for so many bytes behind the last one of a segment's code, 0 if there isn't enough. */
static taddr padding_of(const struct proc *proc, const struct module *module, size_t len)
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
		if (end % PAGE && end + len <= map->end && end % PAGE + len <= PAGE)
			return end;
	}
	return 0;
}

bool agent_spare(const struct proc *proc, const struct module *module, taddr *ret_start,
		 taddr *ret_end)
{
	taddr padding = padding_of(proc, module, agent_len());
	/* So much is the agent's, of this tool or another one on this machine. */
	size_t room = shstk_offered() ? AGENT_BACK_MAX : AGENT_MAX;

	if (!padding || padding % PAGE + room >= PAGE)
		return false;
	*ret_start = padding + room;
	*ret_end = (padding | (PAGE - 1)) + 1;
	return true;
}

/*
 * Padding that is all zeros is best: then what belongs there is known whatever happened before. 0
 * if there is none.
 */
static taddr find_padding(const struct proc *proc, const module_vec *modules, size_t len)
{
	const struct module *module;
	taddr addr = 0;

	vec_for_each (modules, module) {
		taddr padding = may_hold(module) ? padding_of(proc, module, len) : 0;
		enum padding_state state =
			padding ? padding_state(proc, padding, len) : PADDING_UNREADABLE;

		/*
		 * What a thread with a shadow stack needs to find back may still be needed there.
		 */
		if (state == PADDING_ZEROS || (state == PADDING_AGENT && len == agent_len()))
			return padding;
		if (!addr && state != PADDING_UNREADABLE)
			addr = padding;
	}
	return addr;
}

/* Finds agent->addr and agent->len. */
static int find_place(const struct proc *proc, const module_vec *known, module_vec *now,
		      struct inject_agent *agent, struct uspl_err *err)
{
	const size_t lens[] = { agent_back_len(), agent_len() };
	int rc;

	for (size_t i = shstk_offered() ? 0 : 1; i < ARRAY_SIZE(lens); i++) {
		agent->len = lens[i];
		agent->leads_back = i == 0;
		agent->addr = known ? find_padding(proc, known, agent->len) : 0;
		if (agent->addr)
			return 0;
		rc = now->n ? 0 : modules_read(proc, now, err);
		if (rc)
			return rc;
		agent->addr = find_padding(proc, now, agent->len);
		if (agent->addr)
			return 0;
	}
	/* Of another program's modules nothing is in the memory that we hold open. */
	rc = proc_check_current(proc, proc_task(proc), err);
	if (rc)
		return rc;
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "pid %d has no room for %zu bytes of code behind that of its program, or "
			 "of a library that stays",
			 proc->pid, agent_len());
}

static int place_agent(const struct proc *proc, const module_vec *known, struct inject_agent *agent,
		       struct uspl_err *err)
{
	auto_modules module_vec now = { 0 };
	int rc = find_place(proc, known, &now, agent, err);

	if (rc)
		return rc;
	rc = agent_left_find(proc, now.n ? &now : known, &agent->left, err);
	if (rc)
		return rc;
	rc = proc_read(proc, agent->addr, agent->saved, agent->len, err);
	if (rc)
		return rc;
	return proc_write(proc, agent->addr, uspl_agent, code_len(agent), err);
}

int agent_new(const struct proc *proc, const module_vec *modules, struct inject_agent **ret,
	      struct uspl_err *err)
{
	auto_free struct inject_agent *agent = calloc(1, sizeof(*agent));
	int rc;

	if (!agent)
		return uspl_fail_nomem(err);
	agent->proc = proc;
	agent_frame_prepare();
	rc = place_agent(proc, modules ? modules : proc->modules, agent, err);
	if (!rc)
		*ret = take_ptr(agent);
	else
		vec_release(&agent->left);
	return rc;
}

int agent_note_carrier(struct inject_agent *agent, pid_t tid, struct uspl_err *err)
{
	pid_t *item = vec_push(&agent->carriers);

	if (!item)
		return uspl_fail_nomem(err);
	*item = tid;
	return 0;
}

static int fail_back(const struct inject_agent *agent, const char *why, struct uspl_err *err)
{
	uspl_fail(err, USPL_E_UNSTOPPABLE,
		  "a thread of pid %d with a shadow stack can't be asked: %s", agent->proc->pid,
		  why);
	return CARRIER_UNFIT;
}

int agent_note_back(const struct inject_agent *agent, const struct agent_back *back,
		    struct uspl_err *err)
{
	auto_vec tid_vec tids = { 0 };
	const pid_t *tid;
	bool is_free;

	if (!agent->leads_back)
		return fail_back(agent, "no program has room for the agent's way back", err);
	/* A thread that a dead tool has left in the agent may need the words that are there. */
	is_free = !agent->left.n || tasks_list(agent->proc, &tids, NULL) == 0;
	vec_for_each (&tids, tid)
		is_free = is_free && agent_shows_outside(agent, *tid);
	if (!is_free)
		return fail_back(agent, "one may still be at work for a command that has died",
				 err);
	return proc_write(agent->proc, agent->addr + code_len(agent), back, sizeof(*back), err);
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
 * A thread that does so of its own can't be told from one in the agent by that.
 */
bool agent_hides(uint64_t sigmask)
{
	const uint64_t never = 1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1);

	return (sigmask | never) == ~0ull;
}

bool agent_shows_outside(const struct inject_agent *agent, pid_t tid)
{
	return !agent_hides(task_blocked_signals(agent->proc, tid));
}

/*
 * A thread that was sent says that it is done a few instructions before it leaves. It never comes
 * back, so it is enough to see it outside once.
 */
static bool has_left(const struct inject_agent *agent, pid_t tid)
{
	for (int look = 0; look < CARRIER_LOOKS; look++) {
		const struct timespec pause = { .tv_nsec = CARRIER_PAUSE_NS * look };

		if (agent_shows_outside(agent, tid))
			return true;
		nanosleep(&pause, NULL);
	}
	for (int stop = 0; stop < CARRIER_STOPS; stop++) {
		struct thread thread = { .tid = tid };
		int64_t deadline = proc_deadline(agent->proc, STOP_LIMIT_NS);
		int rc = thread_stop(agent->proc, &thread, deadline, NULL);

		if (rc)
			thread_leave_behind(agent->proc, &thread);
		if (!rc && thread.state == THREAD_STOPPED)
			rc = thread_read_regs(agent->proc, &thread, NULL);
		thread_release(agent->proc, &thread);
		/* It stands somewhere else, or has ended. */
		if (!rc &&
		    (thread.state == THREAD_GONE || !agent_has(agent, regs_pc(&thread.regs))))
			return true;
	}
	return false;
}

int agent_require_alone(const struct inject_agent *agent, struct uspl_err *err)
{
	auto_vec tid_vec tids = { 0 };
	const pid_t *tid;
	sigset_t old;
	int rc = agent->left.n ? tasks_list(agent->proc, &tids, err) : 0;

	thread_guard(&old);
	vec_for_each (&tids, tid)
		if (!rc && !has_left(agent, *tid))
			rc = uspl_fail(
				err, USPL_E_BUSY,
				"thread %d of pid %d is still at work for a command that has "
				"died",
				*tid, agent->proc->pid);
	thread_unguard(&old);
	return rc;
}

void agent_free(struct inject_agent *agent)
{
	const pid_t *tid;
	sigset_t old;

	if (!agent)
		return;
	thread_guard(&old);
	vec_for_each (&agent->carriers, tid)
		agent->kept = agent->kept || !has_left(agent, *tid);
	thread_unguard(&old);
	if (!agent->kept &&
	    proc_write(agent->proc, agent->addr, agent->saved, agent->len, NULL) != 0)
		log_info("inject", "cannot clear the slack at 0x%" PRIx64, agent->addr);
	vec_release(&agent->carriers);
	vec_release(&agent->left);
	free(agent);
}

int agent_left_find(const struct proc *proc, const module_vec *modules, inject_left_vec *ret,
		    struct uspl_err *err)
{
	const size_t code = (size_t)(uspl_agent_back_end - uspl_agent);
	const struct module *module;

	vec_for_each (modules, module) {
		uint8_t have[AGENT_BACK_MAX];
		bool leads_back;
		taddr padding = may_hold(module) ? padding_of(proc, module, agent_len()) : 0;
		struct inject_left *left;

		if (!padding || padding_state(proc, padding, agent_len()) != PADDING_AGENT)
			continue;
		left = vec_push(ret);
		if (!left)
			return uspl_fail_nomem(err);
		leads_back = proc_read_some(proc, padding, have, code) == code &&
			     !memcmp(have, uspl_agent, code);
		*left = (struct inject_left){ padding,
					      leads_back ? agent_back_len() : agent_len() };
	}
	return 0;
}

void agent_left_clear(const struct proc *proc, const inject_left_vec *left)
{
	const struct inject_left *it;

	vec_for_each (left, it)
		if (proc_write(proc, it->addr, zeros, it->len, NULL) != 0)
			log_info("inject", "cannot clear the slack at 0x%" PRIx64, it->addr);
}
