/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arch.h - all that the tools know about a processor
 *
 * One `struct arch` of constants and functions for each processor. Only x86-64 exists so far. Code
 * outside lib/arch knows no opcode, no register name and no relocation number.
 */
#ifndef USPL_ARCH_ARCH_H
#define USPL_ARCH_ARCH_H

#include "arch/callconv.h"
#include "base/buf.h"
#include "base/error.h"

/* What the processor writes in one piece, if it is aligned. */
#define WORD_LEN 8ull

/* What a relocation computes. S symbol, A addend, P place, G its slot in the new code's GOT. */
enum reloc_kind {
	RELOC_UNSUPPORTED = 0,
	RELOC_NONE,
	RELOC_ABS,      /* S + A */
	RELOC_PCREL,    /* S + A - P */
	RELOC_PLT,      /* S + A - P, may lead through a stub: a call or a jump to a function */
	RELOC_GOTPCREL, /* G + A - P */
	RELOC_TPOFF,    /* S's offset from the thread pointer + A */
	RELOC_GOTTPOFF, /* GOT slot that holds S's offset from the thread pointer, + A - P */
	/*
	 * A pair of GOT slots that __tls_get_addr takes, S's module and offset in its block, + A -
	 * P
	 */
	RELOC_TLSGD,
	RELOC_TLSLD,        /* the same for the beginning of the own module's block */
	RELOC_DTPOFF,       /* S's offset in its module's block, + A */
	RELOC_TLSDESC,      /* a pair of GOT slots that describes S, a function and its argument */
	RELOC_TLSDESC_CALL, /* marks the call of such a function; has no field */
	RELOC_GOTOFF,       /* S + A - GOT */
	RELOC_GOTPC,        /* GOT + A - P */
	RELOC_GOT,          /* G's distance from the GOT, + A */
	RELOC_PLTOFF,       /* S + A - GOT, may lead through a stub */
	RELOC_SIZE,         /* the symbol's size + A */
};

struct reloc_info {
	const char *name; /* "R_X86_64_PC32" */
	enum reloc_kind kind;
	uint8_t size;   /* of the field, in bytes */
	bool is_signed; /* the value must fit signed; else unsigned */
};

/* What kind of instruction it is, as far as control flow goes. */
enum insn_flow {
	INSN_PLAIN,
	INSN_CALL,      /* to a constant target */
	INSN_JUMP,      /* unconditional, to a constant target */
	INSN_COND_JUMP, /* to a constant target */
	INSN_CALL_INDIRECT,
	INSN_JUMP_INDIRECT,
	INSN_RETURN,
	INSN_TRAP, /* int3, ud2, hlt: execution doesn't go on */
};

/* arch.trace_depths */
#define TRACE_DEPTH_BACK 0x80
#define TRACE_DEPTH_CHOSEN 0xff

/* A decoded instruction, as much of it as relocating and comparing need. */
struct insn {
	uint8_t len;
	enum insn_flow flow;
	uint16_t op; /* the same for the same operation: a short and a near `je` have one op */
	bool is_nop; /* does nothing: nop in all its lengths, xchg %ax,%ax; endbr64 is no nop */
	/*
	 * Asks the kernel: a thread that waits there is behind it, and goes back to its beginning
	 * when a stop or a signal has interrupted the call.
	 */
	bool is_syscall;
	int64_t rel; /* for a constant target: its distance from the instruction's end */
	uint8_t rel_off, rel_size; /* where in the instruction that distance lies; size 0 if none */
	uint8_t disp_off, disp_size; /* the displacement of a memory operand; size 0 if none */
	uint8_t imm_off, imm_size;   /* the (last) immediate; size 0 if none */
	bool pc_relative_mem;        /* the memory operand is relative to the instruction's end */
};

/*
 * What the linker made of an instruction that reads an address (or a thread-local offset) from the
 * GOT, when it knew the value: one instruction that has it as a constant.
 */
struct relaxed_insn {
	uint8_t off; /* of the field in the running instruction, 4 bytes, signed */
	/*
	 * RELOC_ABS or RELOC_TPOFF: the value; RELOC_PCREL: its distance from the instruction's end
	 */
	enum reloc_kind kind;
};

/*
 * An access to a thread-local variable, perhaps of several instructions, in the form that it has
 * once the variable's offset from the thread pointer is known.
 */
struct tls_form {
	uint64_t start; /* where it begins in the code (tls_relax only) */
	uint8_t len;    /* in bytes, the same before and after */
	uint8_t off;    /* of the field in it, 4 bytes, signed */
	/* What the field holds: RELOC_TPOFF, RELOC_GOTTPOFF, or RELOC_NONE if there is no field. */
	enum reloc_kind kind;
};

/* What has to be looked up before an instruction can be done. */
enum detour_kind {
	DETOUR_ADDRESS,       /* of its operand, which is relative to the pc but out of reach */
	DETOUR_DISTANCE,      /* from the thread pointer: a displacement or an immediate */
	DETOUR_SLOT_DISTANCE, /* the same, read from a slot of the GOT */
};

/* Such an instruction, and what stands in for it. */
struct detour {
	enum detour_kind kind;
	taddr insn_addr; /* where the instruction runs */
	uint8_t insn_len;
	uint8_t field;   /* where in it its relocation's field is */
	taddr code_addr; /* room for arch.detour_len bytes within reach */
	taddr slot;      /* of an address: a slot within reach that holds it */
	/*
	 * Of a distance: a function that tells it, as those of runtime/threads.S do, and the offset
	 * in the block that it is asked for: a loop's may be before it.
	 */
	taddr helper;
	int32_t offset;
};

/* What the tracer puts in front of a traced function (include/uspl/trace_abi.h). */
struct thunk {
	taddr at;      /* where it will lie, a multiple of USPL_TRACE_THUNK */
	taddr body;    /* what it runs: the function without its site */
	taddr runtime; /* the copy of runtime/trace.S within reach */
	uint32_t id;   /* of its records, 1 or more */
	taddr leave;  /* a probe that waits for the return and makes the record; 0: there is none */
	bool limited; /* only so many nested calls are recorded */
	bool heard;   /* its return is told to a listener (include/uspl/listen_abi.h) */
	bool summed;  /* its calls are added up, not recorded (include/uspl/sums_abi.h) */
	taddr flag;   /* of thunk_flag */
};

struct arch_regs; /* a thread's registers: thread/thread.h */

struct arch {
	const char *name;    /* "x86_64" */
	uint16_t machine;    /* EM_* */
	uint32_t pcrel_type; /* the relocation of a 32-bit distance, of kind RELOC_PCREL */
	uint8_t jump_len;    /* bytes that the jump at a function's entry takes */
	uint64_t reach; /* how far, in bytes, code and data may lie from code that refers to them */

	/*
	 * Relocations. Never NULL: what isn't supported has kind RELOC_UNSUPPORTED and its name, or
	 * a word for "unknown".
	 */
	const struct reloc_info *(*reloc)(uint32_t type);
	/* Writes value into the field; USPL_E_OUT_OF_REACH if it doesn't fit. */
	int (*reloc_write)(const struct reloc_info *info, void *field, uint64_t value,
			   struct uspl_err *err);

	/*
	 * What a relocation of a linked program makes of its 8 bytes, as the dynamic linker does
	 * it: RELOC_ABS or RELOC_TPOFF; RELOC_NONE for one that only the dynamic linker can
	 * compute.
	 */
	enum reloc_kind (*dynamic_reloc)(uint32_t type);

	/* Decodes one instruction at code (which has len bytes). False: not an instruction. */
	bool (*insn_decode)(const uint8_t *code, size_t len, struct insn *ret);
	/* The same, quicker; op and is_nop may not be filled in. */
	bool (*insn_skim)(const uint8_t *code, size_t len, struct insn *ret);
	/*
	 * True if a linker may have turned the instruction pre, which has a relocation of this type
	 * in its displacement, into the instruction run. Calls and jumps count too; their nop is
	 * the caller's to skip.
	 */
	bool (*insn_relaxed)(uint32_t type, const uint8_t *pre, const struct insn *pre_insn,
			     const uint8_t *run, const struct insn *run_insn,
			     struct relaxed_insn *ret);

	/*
	 * The length of the instruction that code begins with if it only marks a place where
	 * indirect branches may lead; else 0.
	 */
	size_t (*landing_mark)(const uint8_t *code, size_t len);

	/*
	 * The same for thread-local variables: pre is the instruction with a relocation of this
	 * type, and what follows; run is what may have become of it.
	 */
	bool (*tls_relaxed)(uint32_t type, const uint8_t *pre, size_t pre_len, const uint8_t *run,
			    size_t run_len, struct tls_form *ret);
	/*
	 * Rewrites such an access, with its field at `field` in code (len bytes), to count from the
	 * thread pointer; the new field is the caller's to fill. False: it isn't of a form that can
	 * be rewritten.
	 */
	bool (*tls_relax)(uint32_t type, uint8_t *code, uint64_t field, uint64_t len,
			  struct tls_form *ret);

	/* Writes the jump from `from` to `to` into code (jump_len bytes); false if out of reach. */
	bool (*jump_encode)(taddr from, taddr to, uint8_t *code);
	/* If code (len bytes, at `at`) begins with such a jump, its target; else 0. */
	taddr (*jump_target)(taddr at, const uint8_t *code, size_t len);

	/*
	 * A stub that jumps to the address in the slot at `slot`, for calls out of reach: its size,
	 * and its code.
	 */
	uint8_t stub_len;
	void (*stub_encode)(taddr at, taddr slot, uint8_t *code);
	/*
	 * A stub behind which the function returns to a return place, and that to the stub's
	 * caller: its size, and its code. The slots hold the function's address and the place's.
	 */
	uint8_t return_stub_len;
	void (*return_stub_encode)(taddr at, taddr function, taddr place, uint8_t *code);
	/* If code (len bytes, at `at`) begins with such a stub: its slot of the function; 0. */
	taddr (*return_stub_slot)(taddr at, const uint8_t *code, size_t len);
	/*
	 * Where in code (len bytes) a return place is: behind a call, instructions that take one
	 * word from the stack and return. *ret_len is their length. -1: there is none.
	 */
	ssize_t (*return_place)(const uint8_t *code, size_t len, size_t *ret_len);
	/* True if an instruction with its field there has a form that goes through a detour. */
	bool (*detour_possible)(enum detour_kind kind, const uint8_t *insn, uint8_t len,
				uint8_t field);
	/*
	 * Changes it so (insn: its bytes), with code (detour_len bytes) to go through; the effect
	 * is the same, on all registers and flags. False if it can't be done.
	 */
	uint8_t detour_len;
	bool (*detour_encode)(const struct detour *detour, uint8_t *insn, uint8_t *code);
	/* The length of the instruction that ends what tls_relax makes, if it has a field. */
	uint8_t distance_len;
	/* True if this machine has what runtime/threads.S needs. */
	bool (*has_threads)(void);
	/*
	 * True if the function that code (len bytes) begins with changes no vector register, as far
	 * as that can be seen.
	 */
	bool (*keeps_vectors)(const uint8_t *code, size_t len);
	/*
	 * True if the function that code (len bytes) begins with reads its return address before it
	 * does anything else with the stack: it wants to know its caller, or to return there twice.
	 * Or if it changes to another stack: then it has none.
	 */
	bool (*minds_return)(const uint8_t *code, size_t len);
	/* True if the code that begins there sets all flags before it reads one. */
	bool (*ignores_flags)(const uint8_t *code, size_t len);
	/*
	 * Writes a thunk (USPL_TRACE_THUNK bytes) that records entry and return, or the entry only.
	 * False if the runtime or the body is out of reach.
	 */
	bool (*thunk_call)(const struct thunk *thunk, uint8_t *code);
	bool (*thunk_entry)(const struct thunk *thunk, uint8_t *code);
	/* The same for one that records nothing and only goes to the body. */
	bool (*thunk_bare)(const struct thunk *thunk, uint8_t *code);
	/* And for one that sets the byte thunk->flag to 1 in the first call, and calls nothing. */
	bool (*thunk_flag)(const struct thunk *thunk, uint8_t *code);
	/*
	 * Writes what tells a listener of a call, and goes on to thunk->body: USPL_LISTEN_STUB
	 * bytes for a place `at`. False if something is out of reach.
	 */
	bool (*thunk_stub)(const struct thunk *thunk, taddr at, uint8_t *code);
	/* The listeners, to be copied behind the runtime and its control page; *ret_len bytes. */
	const uint8_t *(*listen_code)(size_t *ret_len);
	/*
	 * Where n arguments are when a function that returns `result` (NULL: nothing is known of
	 * it) is entered, and where the result is when it has returned.
	 */
	void (*call_places)(const struct call_type *result, const struct call_type *args, size_t n,
			    struct call_place *ret);
	struct call_place (*call_result)(const struct call_type *type);
	/* The place that DWARF calls by this number. */
	struct call_place (*call_register)(unsigned dwarf);
	/* The clock that the runtime reads; it goes at the same rate on all processors. */
	uint64_t (*ticks)(void);
	/* The runtime that thunks call, to be copied into the target; *ret_len bytes. */
	const uint8_t *(*trace_runtime)(size_t *ret_len);
	/*
	 * Where the runtime's return address is, for each of its bytes (as many as trace_runtime
	 * tells): how many words of the stack there are from the stack pointer to the return
	 * address, both counted, while a thread is before the instruction that begins there. Or'ed
	 * to it is TRACE_DEPTH_BACK where the return address is still in the shadow, and what lies
	 * in its place is what the thunk has pushed. 0: there is no such instruction, or nothing is
	 * known. TRACE_DEPTH_CHOSEN: the thread has read where the thunk leads to and goes there,
	 * whatever the thunk says by now. False if something isn't understood.
	 */
	bool (*trace_depths)(uint8_t *ret);
	/*
	 * What times constructors (include/uspl/constructor_abi.h), to be copied into the target;
	 * *ret_len bytes.
	 */
	const uint8_t *(*constructor_code)(size_t *ret_len);
	/*
	 * Appends an .eh_frame section with one record that tells unwinders how to pass through
	 * thunks of calls at [start, start + len); `at` is where the section will lie. number:
	 * of the session of markers whose thunks they are (include/uspl/mark_abi.h), 0 for the
	 * tracer's. shadow: as in struct uspl_trace_region. Sets buf->oom when out of memory.
	 */
	void (*thunk_frames)(struct buf *section, taddr at, taddr start, uint64_t len,
			     unsigned number, uint64_t shadow);

	/*
	 * Writes one instruction of len bytes, at most 9, that does nothing; false if there is
	 * none.
	 */
	bool (*nop_encode)(uint8_t *code, size_t len);
	/*
	 * Where the instructions that begin in the first len bytes of code, two or more, do nothing
	 * (NOPs, behind a landing mark perhaps): makes them one instruction that does nothing
	 * either, by other bytes before the last one. A thread that stands where one of them began
	 * finds what does nothing up to the same end, before and after. False, and nothing is
	 * changed, if they are something else, or the last one goes on behind `have`.
	 */
	bool (*nops_merge)(uint8_t *code, size_t len, size_t have);
	/*
	 * True if a thread that fetches an instruction has all of a store to an aligned word of
	 * eight bytes, or nothing. False for emulators: code is written only while all threads
	 * stand still then. USPL_FETCH in the environment, `pieces` or `whole`, answers instead.
	 * Takes some 0.1 ms in a virtual machine.
	 */
	bool (*fetches_whole)(void);
	/* Fills len bytes with instructions that trap, for room that no thread should run. */
	void (*fill)(uint8_t *code, size_t len);
};

extern const struct arch arch_x86_64;

/* The processor that this program was built for, the only one that it can patch. */
static inline const struct arch *arch_native(void)
{
	return &arch_x86_64;
}

#endif
