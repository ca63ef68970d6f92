// SPDX-License-Identifier: GPL-3.0-or-later
// inactive_back.c - calls on inactive stacks return without the thunks that wait for them
/*
 * A thunk of the tracer waits for the end of a call: the call's return address on the stack is the
 * thunk's, and its own is kept in the shadow of the stack. On a stack that no thread is on the
 * call's own can be written in the place of the thunk's: that is all that the thunk would do,
 * except for the record. So it doesn't matter whether a thread comes back to the stack or has left
 * it for good, which can't be told.
 *
 * What was kept for the place and the word there belong together: the thunk writes both, one right
 * after the other, and takes the word away when the call returns. A word for which nothing is kept
 * is a copy, or one from before: a thread that returned there would return to nowhere. No thread
 * enters the thunks any more, so what they keep stays as it is, and is looked at before the stop;
 * in the stop there are only the words to be compared and written.
 *
 * The word may lie in the shadow of another session, whose thunk came later and stands on the
 * stack: then that is where it is written. And if it is the program counter of a context, the stack
 * has it as well.
 *
 * Where a thread of the process has a shadow stack (shstk.h) nothing is written: such a stack has a
 * shadow stack, too, with the thunk's address, and nothing tells where.
 *
 * A thread that is in the code while it runs on such a stack may have read the word already, the
 * program's unwinder for example. So nothing is written then.
 */

#include "safety/inactive_priv.h"

#include "proc/shstk.h"

/* So many in one stop, which takes less than a millisecond then: each word is sound by itself. */
#define PORTIONS 12

int inactive_plan_back(struct inactive *inactive, bool all, struct uspl_err *err)
{
	const struct safety *safety = inactive->safety;
	struct inactive_word *word;
	bool shadowed = inactive->words.n && shstk_in_process(safety->proc);

	inactive->backs.n = inactive->next_back = 0;
	vec_for_each (&inactive->words, word) {
		taddr place = word->sp ? context_return_slot(word->sp) : word->place, kept_at;
		uint64_t kept[2] = { 0 };
		struct inactive_back *back;

		if (!all && (!word->live || word->doubted))
			continue;
		/* What the thunk of the word keeps for it. */
		kept_at = unwinder_kept_at(safety->unwinder, place, word->pc);
		if (!kept_at)
			continue;
		if (proc_read_some(safety->proc, kept_at, kept, sizeof(kept)) != sizeof(kept) ||
		    (!kept[0] && !kept[1])) {
			word->live = false;
			continue;
		}
		if (shadowed || safety_range_at(safety, kept[0] - 1))
			continue;
		back = vec_push(&inactive->backs);
		if (!back)
			return uspl_fail_nomem(err);
		*back = (struct inactive_back){ (size_t)(word - inactive->words.items), kept[0] };
	}
	return 0;
}

/* Some words at a time. */
struct portion {
	struct inactive_back *backs[PROC_PIECES_MAX];
	struct proc_piece pieces[PROC_PIECES_MAX];
	uint64_t now[PROC_PIECES_MAX];
	size_t n;
};

static const struct inactive_word *word_of(const struct inactive *inactive,
					   const struct inactive_back *back)
{
	return &inactive->words.items[back->word];
}

/* Fills the portion with words of stacks that no thread is on, from *next on, as they are now. */
static void fill(struct portion *portion, const struct inactive *inactive,
		 const thread_vec *threads, size_t *next)
{
	portion->n = 0;
	for (; *next < inactive->backs.n && portion->n < PROC_PIECES_MAX; ++*next) {
		struct inactive_back *back = &inactive->backs.items[*next];
		const struct inactive_word *word = word_of(inactive, back);

		if (inactive_is_threads_own(word, threads))
			continue;
		portion->backs[portion->n] = back;
		portion->pieces[portion->n] = (struct proc_piece){ word->at, sizeof(uint64_t),
								   &portion->now[portion->n] };
		portion->n++;
	}
}

/* Reads one by one, if not all are there. */
static void read_all(struct portion *portion, const struct proc *proc)
{
	if (proc_read_pieces(proc, portion->pieces, portion->n))
		return;
	for (size_t i = 0; i < portion->n; i++)
		if (proc_read_some(proc, portion->pieces[i].addr, &portion->now[i],
				   sizeof(uint64_t)) != sizeof(uint64_t))
			portion->now[i] = 0;
}

/* Leaves out what has changed. */
static void compare(struct portion *portion, const struct inactive *inactive)
{
	size_t n = 0;

	for (size_t i = 0; i < portion->n; i++) {
		struct inactive_back *back = portion->backs[i];

		if (portion->now[i] != word_of(inactive, back)->pc)
			continue;
		portion->backs[n] = back;
		portion->pieces[n] = portion->pieces[i];
		portion->pieces[n++].to = &back->value;
	}
	portion->n = n;
}

static int write_all(const struct portion *portion, const struct proc *proc, struct uspl_err *err)
{
	int rc = 0;

	if (proc_write_pieces(proc, portion->pieces, portion->n))
		return 0;
	for (size_t i = 0; i < portion->n; i++) {
		rc = proc_write(proc, portion->pieces[i].addr, portion->pieces[i].to,
				portion->pieces[i].len, err);
		if (rc)
			return rc;
	}
	return 0;
}

bool inactive_is_left(const struct inactive *inactive)
{
	return inactive->next_back < inactive->backs.n;
}

int inactive_put_back(struct inactive *inactive, const thread_vec *threads, size_t *ret_n,
		      struct uspl_err *err)
{
	const struct proc *proc = inactive->safety->proc;
	struct portion portion;
	int rc = 0;

	*ret_n = 0;
	for (int i = 0; i < PORTIONS && inactive_is_left(inactive); i++) {
		fill(&portion, inactive, threads, &inactive->next_back);
		read_all(&portion, proc);
		compare(&portion, inactive);
		rc = write_all(&portion, proc, err);
		if (rc)
			return rc;
		for (size_t j = 0; j < portion.n; j++) {
			struct inactive_word *word = &inactive->words.items[portion.backs[j]->word];

			word->live = false;
			/* A context is no call: the one that it belongs to lies on the stack. */
			*ret_n += !word->sp;
		}
	}
	return 0;
}
