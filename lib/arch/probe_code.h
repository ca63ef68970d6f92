/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probe_code.h - the code that a marker's site leads to: a test of its arguments, and a record of
 * them
 *
 * Each probe of each site has code of its own, made for it: where the arguments are is known when
 * it is made, so nothing is looked up when it runs. Probes at one site are a chain: each keeps all
 * registers, and ends with a jump, its *chain slot*, to the next one. The last one's chain slot
 * leads to what stood at the site, and on behind it (its *end*).
 */
#ifndef USPL_ARCH_PROBE_CODE_H
#define USPL_ARCH_PROBE_CODE_H

#include "arch/callconv.h"
#include "base/buf.h"
#include "base/error.h"

enum place_kind { PLACE_REGISTER, PLACE_VECTOR, PLACE_NUMBER, PLACE_MEMORY };

/* Where an argument is when a thread comes to the site. */
struct place {
	enum place_kind kind;
	uint8_t size; /* 1, 2, 4 or 8 bytes */
	bool is_signed, is_float;
	uint8_t reg;    /* REGISTER, VECTOR; MEMORY: the base */
	uint8_t shift;  /* REGISTER: bits that its value begins at (%ah: 8) */
	uint8_t index;  /* MEMORY */
	uint8_t scale;  /* MEMORY: 0 without an index, else 1, 2, 4 or 8 */
	bool has_base;  /* MEMORY */
	int64_t number; /* NUMBER; MEMORY: the displacement */
	char *symbol;   /* MEMORY relative to the pc: the caller adds its address to number */
};

/*
 * Reads one place as assemblers print it ("%rax", "$5", "-8(%rbp)", "4(%rax,%rcx,8)", "x+4(%rip)"),
 * with a size before it as sys/sdt.h has it ("-4@%eax", "8f@%xmm0"), from *text on, which is moved
 * behind it and the blanks there. Without a size it is 8 bytes. USPL_E_UNSUPPORTED for what isn't
 * understood. The symbol is the caller's to free.
 */
int place_parse(const char **text, struct place *ret, struct uspl_err *err) uspl_must_check;
/*
 * Where a value of `size` bytes of a call is (arch/callconv.h), at the function's first
 * instruction, or behind its return. false: nowhere.
 */
bool place_of_value(const struct call_place *from, uint8_t size, struct place *ret);

enum probe_relation {
	PROBE_EQUAL,
	PROBE_UNEQUAL,
	PROBE_LESS,
	PROBE_LESS_EQUAL,
	PROBE_GREATER,
	PROBE_GREATER_EQUAL,
	PROBE_BITS, /* any of these is set */
};

enum { PROBE_PASS = -1, PROBE_SKIP = -2 };

/*
 * A comparison of an argument. Tests begin with the first one. Floating-point numbers are compared
 * as C compares them: only PROBE_UNEQUAL is true of what is no number.
 */
struct probe_test {
	uint8_t arg;
	enum probe_relation relation;
	uint64_t value;   /* if the argument's place is_float: the bits of a number of its size */
	const char *text; /* not NULL: the argument is a string, and compared with this one */
	int if_true, if_false; /* the next test, always a later one, or PROBE_PASS, PROBE_SKIP */
};

/* An argument, and where in a record it goes (uspl/mark_abi.h). */
struct probe_arg {
	struct place place;
	uint16_t slot;  /* of the record, 16 bytes each */
	uint8_t offset; /* in the slot */
	uint8_t width;  /* 4 or 8 bytes; 0: a string, */
	uint16_t slots; /* that takes so many slots from there on */
};

struct probe_code {
	taddr at;
	taddr runtime;  /* the copy of runtime/trace.S within reach */
	uint32_t id;    /* of its records */
	uint16_t slots; /* of a record */
	const struct probe_arg *args;
	const struct probe_test *tests;
	size_t n_args, n_tests;
	taddr program;     /* uspl_probe of a user's (uspl/probe.h), 0 if there is none; */
	const char *name;  /* and the marker's name for it, */
	const char *types; /* and a letter for each argument (uspl/probe.h) */
	bool careful; /* strings may lead to where nothing is: the kernel is asked to copy them */
	bool keep_flags; /* they may be in use at the site */
	taddr site;      /* what stood there, */
	const uint8_t *old;
	size_t old_len; /* is moved; the instructions within must be movable */
	size_t before;  /* bytes of it are done before the probe; */
	/* it is run when the function returns, by a thunk, whose body is the chain slot */
	bool at_return;
	size_t skip; /* bytes behind that need not be done: the NOP; the rest is done at the end */
};

/* Where the parts of the code are. */
struct probe_parts {
	/* behind what is done before the probe: where the chain slot of another one leads */
	taddr inner;
	taddr chain_slot; /* lies in eight aligned bytes */
	taddr end;        /* where the chain slot leads as long as no other probe follows */
};

/*
 * Appends the probe's code, to lie at code->at, to buf; the chain slot leads nowhere yet. Fails if
 * something is out of reach or can't be moved.
 */
int probe_encode(const struct probe_code *code, struct buf *buf, struct probe_parts *ret,
		 struct uspl_err *err) uspl_must_check;

/*
 * Looks at a function that is to be a probe's program, or one that it calls: len bytes of whole
 * instructions. USPL_E_UNSUPPORTED if it uses other registers than general ones, asks the kernel,
 * goes to a place that can't be known, or takes stack without bounds; *ret_stack: bytes of it,
 * without what its callees take. Where it leaves its bytes bounded_encode looks.
 */
int confined_check(const uint8_t *code, size_t len, uint64_t *ret_stack,
		   struct uspl_err *err) uspl_must_check;

#define BOUNDED_INSNS 524280 /* a run is cut short before it has done more instructions */
#define BOUNDED_STACK 144    /* what counts may take of the stack */

struct bounded_function {
	size_t at, len;
};

/* A probe's program as it was linked, for an address; bounded_encode makes a copy of it. */
struct bounded_program {
	taddr from;
	const uint8_t *code;
	size_t len;
	/*
	 * Those that confined_check has let pass, sorted, none within another one; nothing else of
	 * the code is copied.
	 */
	const struct bounded_function *functions;
	size_t n_functions;
	size_t entry; /* of the function that begins it */
	taddr to;     /* where the copy will lie */
	/*
	 * Two words that the copy counts in: runs that were cut short, and runs that weren't begun
	 * since a hundred had been.
	 */
	taddr counters;
};

/*
 * Appends a copy that ends, whatever it does, to be called at its first byte with a struct uspl_hit
 * in the first argument's register. A run that takes too long returns 0. The length doesn't depend
 * on addresses. USPL_E_UNSUPPORTED: it goes into the middle of an instruction or of another
 * function, refers to code as if that was data, uses all registers, or is too long to be run.
 */
int bounded_encode(const struct bounded_program *program, struct buf *buf,
		   struct uspl_err *err) uspl_must_check;

#endif
