/* SPDX-License-Identifier: MIT */
/*
 * shadow.h - more data for objects that exist: what a patch would add to a structure as a member
 *
 *     #include <uspl/shadow.h>
 *
 *     USPL_SHADOW(conn_deadline, long, NULL, NULL);     // in one source of the patch
 *
 *     long *deadline = uspl_shadow_get_or_alloc(&conn_deadline, conn);
 *     uspl_shadow_free(&conn_deadline, conn);           // where the program frees the object
 *
 * An object keeps its size; what is new lies beside it, and is found by the object's address. For
 * the code of patches only: new functions and hooks. uspl-create finds this header by itself.
 * docs/authors.md has examples, and says when to use what.
 *
 * A shadow variable is a variable of the patch. So two updates never mean the same one by accident,
 * and an update that is made from a source with an earlier one in it means that one's by its name.
 * When the update that defines it is undone, all that it has is destroyed and freed.
 *
 * All functions may be called in any thread, also in signal handlers, and by several at once.
 * uspl_shadow_get takes no lock and makes no system call: hooks may call it at a standstill. The
 * others block signals, take a lock of this header's own and may map memory; the program's
 * allocator isn't called. The system calls are rt_sigprocmask, futex, mmap, madvise and munmap. No
 * lock is held while `construct` and `destroy` run.
 *
 * As ever, the program sees to it that no thread uses an object that another one frees. Undo frees
 * all that is left as soon as no thread is in the update's functions. A function that ends with a
 * call has been left when that call begins (the compiler makes a jump of it): don't pass on there
 * what a shadow variable holds or leads to.
 *
 * A child of fork has its own copy of all. C and C++, gcc and clang, x86-64.
 */
#ifndef USPL_SHADOW_H
#define USPL_SHADOW_H

#include "hook.h"

/* Programs are compiled with warnings of all kinds. */
#pragma GCC system_header

#ifndef __x86_64__
#error "uspl/shadow.h knows x86-64 only"
#endif

#define USPL_SHADOW_MAGIC 0x31574f4448535053ul /* "SPSHDOW1", little endian */
#define USPL_SHADOW_VERSION 1
#define USPL_SHADOW_NAME_MAX 64

/* Stands before the data of an object. */
struct uspl_shadow_node {
	/*
	 * Chains of the tables of even and of odd generation. When the table grows, the new one
	 * has other links than the old one: a thread may still be looking into that.
	 */
	struct uspl_shadow_node *next[2];
	unsigned long object; /* its address; 0: it has none */
	struct uspl_shadow_node *unused;
};

/* Its chains stand behind it. Those that it has replaced stay, for threads that still look. */
struct uspl_shadow_table {
	struct uspl_shadow_table *older;
	unsigned long len; /* chains, a power of two */
	unsigned int shift, generation;
};

/* Memory of many nodes, with this at its beginning. */
struct uspl_shadow_chunk {
	struct uspl_shadow_chunk *older;
	unsigned long len;
};

/*
 * One shadow variable. uspl-view reads it in the process (lib/record/shadow_records.c), up to
 * `count`: a contract. The rest is for the functions below.
 */
struct uspl_shadow {
	unsigned long magic;
	const struct uspl_shadow *self;
	unsigned int version, size; /* of an object's data, in bytes */
	char name[USPL_SHADOW_NAME_MAX];
	unsigned long count; /* objects that have it */
	void (*construct)(void *data, const void *object);
	void (*destroy)(void *data, const void *object);
	struct uspl_shadow_table *table;
	/*
	 * Counts what may have led a thread that looked meanwhile from its chain into another one:
	 * it looks again.
	 */
	unsigned long moves;
	struct uspl_shadow_node *unused;
	struct uspl_shadow_chunk *chunks;
	char *fresh, *fresh_end; /* of the newest chunk */
	/* A page by itself, which is zero in a child of fork: there no thread has the lock. */
	unsigned int *lock;
};

/* What a thread that has the lock needs to let it go. */
struct uspl_shadow_held {
	unsigned long signals;
	long blocked;
};

#ifdef __cplusplus
#define USPL_SHADOW_NULL_ 0
#else
#define USPL_SHADOW_NULL_ ((void *)0)
#endif

/* A later update finds these functions as they are here, not in variants for some of its calls. */
#ifdef __clang__
#define USPL_SHADOW_FN_ static __attribute__((noinline))
#else
#define USPL_SHADOW_FN_ static __attribute__((noipa))
#endif

static __inline__ __attribute__((always_inline)) long
uspl_shadow_syscall_(long number, const volatile void *a, unsigned long b, unsigned long c,
		     unsigned long d, long e)
{
	register unsigned long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = 0;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* Zeroed memory of whole pages; NULL if there is none. */
USPL_SHADOW_FN_ void *uspl_shadow_map_(unsigned long len)
{
	/* PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS */
	long at = uspl_shadow_syscall_(9, USPL_SHADOW_NULL_, len, 3, 0x22, -1);

	return at < 0 && at > -4096 ? USPL_SHADOW_NULL_ : (void *)at;
}

USPL_SHADOW_FN_ void uspl_shadow_unmap_(void *at, unsigned long len)
{
	uspl_shadow_syscall_(11, at, len, 0, 0, 0);
}

/* Makes the lock if there is none; 0: no memory. */
USPL_SHADOW_FN_ int uspl_shadow_ready_(struct uspl_shadow *id)
{
	unsigned int *lock = __atomic_load_n(&id->lock, __ATOMIC_ACQUIRE), *none = 0;

	if (lock)
		return 1;
	lock = (unsigned int *)uspl_shadow_map_(4096);
	if (!lock)
		return 0;
	uspl_shadow_syscall_(28, lock, 4096, 18, 0, 0); /* MADV_WIPEONFORK */
	if (!__atomic_compare_exchange_n(&id->lock, &none, lock, 0, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		uspl_shadow_unmap_(lock, 4096);
	return 1;
}

/*
 * A handler must not want the lock in the thread that has it. uspl's tools know a thread that has
 * it by its signals, too: they call nothing in it (lib/safety/safe_call.c).
 */
USPL_SHADOW_FN_ void uspl_shadow_lock_(struct uspl_shadow *id, struct uspl_shadow_held *held)
{
	unsigned long all = ~0ul;
	unsigned int was = 0;
	int turns;

	/* SIG_SETMASK */
	held->blocked = uspl_shadow_syscall_(14, (const void *)2, (unsigned long)&all,
					     (unsigned long)&held->signals, 8, 0);
	for (turns = 0; turns < 100; turns++) {
		was = 0;
		if (__atomic_compare_exchange_n(id->lock, &was, 1u, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return;
		__asm__ volatile("pause");
	}
	/* FUTEX_WAIT | FUTEX_PRIVATE_FLAG. 2: threads may be waiting. */
	while (__atomic_exchange_n(id->lock, 2u, __ATOMIC_ACQUIRE))
		uspl_shadow_syscall_(202, id->lock, 128, 2, 0, 0);
}

USPL_SHADOW_FN_ void uspl_shadow_unlock_(struct uspl_shadow *id,
					 const struct uspl_shadow_held *held)
{
	if (__atomic_exchange_n(id->lock, 0u, __ATOMIC_RELEASE) == 2)
		uspl_shadow_syscall_(202, id->lock, 129, 1, 0, 0); /* FUTEX_WAKE */
	if (held->blocked == 0)
		uspl_shadow_syscall_(14, (const void *)2, (unsigned long)&held->signals, 0, 8, 0);
}

/* Objects that lie at regular distances are to be spread as well as any. */
static __inline__ unsigned long uspl_shadow_hash_(unsigned long object)
{
	object *= 0x9e3779b97f4a7c15ul;
	object ^= object >> 32;
	return object * 0xd6e8feb86659fd93ul;
}

/* Where the chain of this address begins. */
static __inline__ struct uspl_shadow_node **
uspl_shadow_chain_(const struct uspl_shadow_table *table, unsigned long object)
{
	return (struct uspl_shadow_node **)(table + 1) +
	       (uspl_shadow_hash_(object) >> table->shift);
}

/* The object's data; NULL if it has none. */
static __inline__ void *uspl_shadow_get(const struct uspl_shadow *id, const void *object)
{
	const unsigned long address = (unsigned long)object;

	while (address) {
		unsigned long moves = __atomic_load_n(&id->moves, __ATOMIC_ACQUIRE);
		const struct uspl_shadow_table *table =
			__atomic_load_n(&id->table, __ATOMIC_ACQUIRE);
		struct uspl_shadow_node *node;

		if (!table)
			return USPL_SHADOW_NULL_;
		node = __atomic_load_n(uspl_shadow_chain_(table, address), __ATOMIC_ACQUIRE);
		while (node) {
			if (__atomic_load_n(&node->object, __ATOMIC_ACQUIRE) == address)
				return node + 1;
			node = __atomic_load_n(&node->next[table->generation], __ATOMIC_ACQUIRE);
		}
		if (__atomic_load_n(&id->moves, __ATOMIC_ACQUIRE) == moves)
			break;
	}
	return USPL_SHADOW_NULL_;
}

/* ---- with the lock held ---- */

/* Twice as many chains. The old ones stay as they are. */
USPL_SHADOW_FN_ void uspl_shadow_grow_(struct uspl_shadow *id)
{
	struct uspl_shadow_table *old = id->table, *table;
	const unsigned long len = old ? old->len * 2 : 256;
	unsigned long i;

	table = (struct uspl_shadow_table *)uspl_shadow_map_(sizeof(*table) + len * sizeof(void *));
	if (!table)
		return;
	table->older = old;
	table->len = len;
	table->shift = old ? old->shift - 1 : 56;
	table->generation = old ? !old->generation : 0;
	/* For threads that look into the table before the old one: its links are used again. */
	__atomic_fetch_add(&id->moves, 1, __ATOMIC_SEQ_CST);
	for (i = 0; old && i < old->len; i++) {
		struct uspl_shadow_node *node = ((struct uspl_shadow_node **)(old + 1))[i];

		for (; node; node = node->next[old->generation]) {
			struct uspl_shadow_node **chain = uspl_shadow_chain_(table, node->object);

			__atomic_store_n(&node->next[table->generation], *chain, __ATOMIC_RELEASE);
			*chain = node;
		}
	}
	__atomic_store_n(&id->table, table, __ATOMIC_RELEASE);
}

/* Room for one more object's data, with no object yet; NULL: no memory. */
USPL_SHADOW_FN_ struct uspl_shadow_node *uspl_shadow_take_(struct uspl_shadow *id)
{
	const unsigned long need = sizeof(struct uspl_shadow_node) + ((id->size + 15ul) & ~15ul);
	struct uspl_shadow_node *node = id->unused;
	struct uspl_shadow_chunk *chunk;
	unsigned long len = id->chunks ? id->chunks->len * 2 : 16384;

	if (node) {
		id->unused = node->unused;
		return node;
	}
	if ((unsigned long)(id->fresh_end - id->fresh) < need) {
		if (len > 1048576)
			len = 1048576;
		if (len < need + sizeof(*chunk))
			len = (need + sizeof(*chunk) + 4095) & ~4095ul;
		chunk = (struct uspl_shadow_chunk *)uspl_shadow_map_(len);
		if (!chunk)
			return (struct uspl_shadow_node *)USPL_SHADOW_NULL_;
		chunk->len = len;
		chunk->older = id->chunks;
		id->chunks = chunk;
		/* A child of fork may find this half done: then there is no room. */
		id->fresh = (char *)chunk + len;
		__atomic_store_n(&id->fresh_end, (char *)chunk + len, __ATOMIC_RELEASE);
		__atomic_store_n(&id->fresh, (char *)(chunk + 1), __ATOMIC_RELEASE);
	}
	node = (struct uspl_shadow_node *)id->fresh;
	id->fresh += need;
	return node;
}

USPL_SHADOW_FN_ void uspl_shadow_give_back_(struct uspl_shadow *id, struct uspl_shadow_node *node)
{
	node->unused = id->unused;
	id->unused = node;
}

/* The room becomes the object's; false: there is no table. */
USPL_SHADOW_FN_ int uspl_shadow_link_(struct uspl_shadow *id, struct uspl_shadow_node *node,
				      unsigned long object)
{
	struct uspl_shadow_node **chain;

	/* Short chains: each step along one may be a miss of the cache. */
	if (!id->table || id->count > id->table->len / 2)
		uspl_shadow_grow_(id);
	if (!id->table)
		return 0;
	chain = uspl_shadow_chain_(id->table, object);
	__atomic_store_n(&node->next[id->table->generation], *chain, __ATOMIC_RELEASE);
	__atomic_store_n(&node->object, object, __ATOMIC_RELEASE);
	__atomic_store_n(chain, node, __ATOMIC_RELEASE);
	__atomic_store_n(&id->count, id->count + 1, __ATOMIC_RELAXED);
	return 1;
}

/* Takes the node out of the chain that `link` is in; it isn't unused yet. */
USPL_SHADOW_FN_ void uspl_shadow_unlink_(struct uspl_shadow *id, struct uspl_shadow_node **link)
{
	struct uspl_shadow_node *node = *link;

	__atomic_store_n(link, node->next[id->table->generation], __ATOMIC_RELEASE);
	__atomic_store_n(&node->object, 0ul, __ATOMIC_RELEASE);
	__atomic_store_n(&id->count, id->count - 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&id->moves, 1, __ATOMIC_SEQ_CST);
}

/* ---- without the lock ---- */

static __inline__ void uspl_shadow_zero_(const struct uspl_shadow *id,
					 struct uspl_shadow_node *node)
{
	unsigned long words = (id->size + 7ul) / 8;
	void *at = node + 1;

	/* A loop would become a call of memset, which the program may not have. */
	__asm__ volatile("rep stosq" : "+D"(at), "+c"(words) : "a"(0ul) : "memory");
}

/* The object's data; what it had if `share`, else NULL if it had some. NULL: no memory. */
USPL_SHADOW_FN_ void *uspl_shadow_add_(struct uspl_shadow *id, const void *object, int share)
{
	struct uspl_shadow_held held;
	struct uspl_shadow_node *node = 0;
	void *found;
	int linked = 0;

	if (!object || id->magic != USPL_SHADOW_MAGIC || !uspl_shadow_ready_(id))
		return USPL_SHADOW_NULL_;
	uspl_shadow_lock_(id, &held);
	found = uspl_shadow_get(id, object);
	if (!found)
		node = uspl_shadow_take_(id);
	if (node && !id->construct) {
		uspl_shadow_zero_(id, node);
		linked = uspl_shadow_link_(id, node, (unsigned long)object);
		if (!linked)
			uspl_shadow_give_back_(id, node);
	}
	uspl_shadow_unlock_(id, &held);
	if (found)
		return share ? found : USPL_SHADOW_NULL_;
	if (!node || !id->construct)
		return linked ? node + 1 : USPL_SHADOW_NULL_;

	uspl_shadow_zero_(id, node);
	id->construct(node + 1, object);
	uspl_shadow_lock_(id, &held);
	found = uspl_shadow_get(id, object);
	if (!found)
		linked = uspl_shadow_link_(id, node, (unsigned long)object);
	uspl_shadow_unlock_(id, &held);
	if (linked)
		return node + 1;
	/* Another thread was faster, or there is no memory. */
	if (id->destroy)
		id->destroy(node + 1, object);
	uspl_shadow_lock_(id, &held);
	uspl_shadow_give_back_(id, node);
	uspl_shadow_unlock_(id, &held);
	return found && share ? found : USPL_SHADOW_NULL_;
}

/*
 * New data for the object: zero bytes, on which the constructor has run if there is one. NULL if
 * the object has data already, if there is no memory, or if the object is NULL.
 */
static __inline__ void *uspl_shadow_alloc(struct uspl_shadow *id, const void *object)
{
	return uspl_shadow_add_(id, object, 0);
}

/*
 * The object's data, made as by uspl_shadow_alloc if it has none. If several threads want it at
 * once all get the same; the constructor may have run in each of them, and the destructor on what
 * was one too many. NULL: no memory, or the object is NULL.
 */
static __inline__ void *uspl_shadow_get_or_alloc(struct uspl_shadow *id, const void *object)
{
	void *found = uspl_shadow_get(id, object);

	return found ? found : uspl_shadow_add_(id, object, 1);
}

/* Destroys and frees the object's data, if it has some. */
USPL_SHADOW_FN_ void uspl_shadow_free(struct uspl_shadow *id, const void *object)
{
	struct uspl_shadow_held held;
	struct uspl_shadow_node **link, *node = 0;

	if (!uspl_shadow_get(id, object))
		return;
	uspl_shadow_lock_(id, &held);
	link = uspl_shadow_chain_(id->table, (unsigned long)object);
	while (*link && (*link)->object != (unsigned long)object)
		link = &(*link)->next[id->table->generation];
	if (*link) {
		node = *link;
		uspl_shadow_unlink_(id, link);
	}
	if (node && !id->destroy)
		uspl_shadow_give_back_(id, node);
	uspl_shadow_unlock_(id, &held);
	if (!node || !id->destroy)
		return;
	id->destroy(node + 1, object);
	uspl_shadow_lock_(id, &held);
	uspl_shadow_give_back_(id, node);
	uspl_shadow_unlock_(id, &held);
}

/*
 * Destroys and frees the data of all objects. What other threads allocate meanwhile may stay. The
 * memory is kept for new data.
 */
USPL_SHADOW_FN_ void uspl_shadow_free_all(struct uspl_shadow *id)
{
	struct {
		struct uspl_shadow_node *node;
		const void *object;
	} some[32];
	const struct uspl_shadow_table *table = 0;
	struct uspl_shadow_held held;
	unsigned long chain = 0;
	int i, n;

	if (!__atomic_load_n(&id->table, __ATOMIC_ACQUIRE))
		return;
	do {
		uspl_shadow_lock_(id, &held);
		if (table != id->table)
			chain = 0;
		table = id->table;
		for (n = 0; chain < table->len && n < 32;) {
			struct uspl_shadow_node **link =
				(struct uspl_shadow_node **)(table + 1) + chain;

			if (!*link) {
				chain++;
				continue;
			}
			some[n].node = *link;
			some[n++].object = (const void *)(*link)->object;
			uspl_shadow_unlink_(id, link);
		}
		uspl_shadow_unlock_(id, &held);
		for (i = 0; id->destroy && i < n; i++)
			id->destroy(some[i].node + 1, some[i].object);
		uspl_shadow_lock_(id, &held);
		for (i = 0; i < n; i++)
			uspl_shadow_give_back_(id, some[i].node);
		uspl_shadow_unlock_(id, &held);
	} while (n);
}

/* Undo: no thread uses it any more. It is as before its first use then. */
USPL_SHADOW_FN_ void uspl_shadow_close_(struct uspl_shadow *id)
{
	struct uspl_shadow_table *table = id->table, *older_table;
	struct uspl_shadow_chunk *chunk = id->chunks, *older;
	unsigned int *lock = id->lock;
	unsigned long i;

	/* If this doesn't come to its end the rest stays mapped, and is never used again. */
	id->table = 0;
	id->chunks = 0;
	id->unused = 0;
	id->fresh = id->fresh_end = 0;
	id->count = 0;
	id->lock = 0;
	for (i = 0; table && id->destroy && i < table->len; i++) {
		struct uspl_shadow_node *node = ((struct uspl_shadow_node **)(table + 1))[i];

		for (; node; node = node->next[table->generation])
			id->destroy(node + 1, (const void *)node->object);
	}
	for (; chunk; chunk = older) {
		older = chunk->older;
		uspl_shadow_unmap_(chunk, chunk->len);
	}
	for (; table; table = older_table) {
		older_table = table->older;
		uspl_shadow_unmap_(table, sizeof(*table) + table->len * sizeof(void *));
	}
	if (lock)
		uspl_shadow_unmap_(lock, 4096);
}

/*
 * Defines a shadow variable of this type, at file scope, in one source of the patch.
 *
 *     void construct(void *data, const void *object)   sets up what isn't zero at first
 *     void destroy(void *data, const void *object)     releases what the data refers to
 *
 * Both may be NULL. They run with no lock held. destroy also runs at undo, for all that is left:
 * the object may be gone by then, if the program has freed it without uspl_shadow_free, so that
 * `object` is a mere number. Data is aligned to 16 bytes.
 */
/* clang-format off */
#define USPL_SHADOW(name, type, construct, destroy)                                                \
	extern struct uspl_shadow name;                                                            \
	struct uspl_shadow name = { USPL_SHADOW_MAGIC, &name, USPL_SHADOW_VERSION, sizeof(type),   \
		#name, 0, construct, destroy, 0, 0, 0, 0, 0, 0, 0 };                               \
	static void uspl_shadow_end_##name(void)                                                   \
	{                                                                                          \
		uspl_shadow_close_(&name);                                                         \
	}                                                                                          \
	USPL_POST_UNDO(uspl_shadow_end_##name)

/* In another source of the same program or library, or of a later update. */
#define USPL_SHADOW_DECLARE(name) extern struct uspl_shadow name
/* clang-format on */

#endif
