/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * x86_64.h - what the files of this folder share: the functions that arch_x86_64 points to,
 * documented in arch.h
 */
#ifndef USPL_ARCH_X86_64_X86_64_H
#define USPL_ARCH_X86_64_X86_64_H

#include "arch/arch.h"
#include "arch/regs.h"

enum {
	X86_64_JUMP_LEN = 5,     /* jmp rel32 */
	X86_64_DETOUR_LEN = 64,  /* at most 59 bytes: see detour.c */
	X86_64_DISTANCE_LEN = 7, /* lea x(%rax), %rax, or mov $x, %reg */
	X86_64_STUB_LEN = 8,     /* jmp *slot(%rip), and two bytes to keep the next one aligned */
	X86_64_RETURN_STUB_LEN = 24, /* two pushes and a jump, and six bytes */
};

/* runtime/trace.S: the code, and the places in it that thunks call. */
extern const uint8_t uspl_trace_begin[], uspl_trace_end[], uspl_trace_call[], uspl_trace_return[],
	uspl_trace_entry[], uspl_trace_call_limited[], uspl_trace_return_limited[],
	uspl_trace_chosen[], uspl_trace_chosen_end[];
/* Those of thunks whose calls are added up. */
extern const uint8_t uspl_profile_call[], uspl_profile_return[], uspl_count_entry[];
/* And those that probes of markers call. */
extern const uint8_t uspl_mark_take[], uspl_mark_text[], uspl_mark_same[], uspl_mark_fetch[],
	uspl_mark_call[], uspl_mark_return[];
/* runtime/constructors.S */
extern const uint8_t uspl_constructors_begin[], uspl_constructors_end[];
/* runtime/listen.S: what lies behind it. */
extern const uint8_t uspl_listen_code_begin[], uspl_listen_code_end[];

/* arch.reloc */
const struct reloc_info *x86_64_reloc(uint32_t type);
/* arch.reloc_write */
int x86_64_reloc_write(const struct reloc_info *info, void *field, uint64_t value,
		       struct uspl_err *err) uspl_must_check;
/* arch.dynamic_reloc */
enum reloc_kind x86_64_dynamic_reloc(uint32_t type);
/* arch.insn_decode */
bool x86_64_insn_decode(const uint8_t *code, size_t len, struct insn *ret);
/* arch.insn_skim */
bool x86_64_insn_skim(const uint8_t *code, size_t len, struct insn *ret);
/* arch.insn_relaxed */
bool x86_64_insn_relaxed(uint32_t type, const uint8_t *pre, const struct insn *pre_insn,
			 const uint8_t *run, const struct insn *run_insn, struct relaxed_insn *ret);
/* arch.landing_mark */
size_t x86_64_landing_mark(const uint8_t *code, size_t len);
/* arch.tls_relaxed */
bool x86_64_tls_relaxed(uint32_t type, const uint8_t *pre, size_t pre_len, const uint8_t *run,
			size_t run_len, struct tls_form *ret);
/* arch.tls_relax */
bool x86_64_tls_relax(uint32_t type, uint8_t *code, uint64_t field, uint64_t len,
		      struct tls_form *ret);
/* arch.jump_encode */
bool x86_64_jump_encode(taddr from, taddr to, uint8_t *code);
/* arch.jump_target */
taddr x86_64_jump_target(taddr at, const uint8_t *code, size_t len);
/* arch.stub_encode, .return_stub_encode, .return_stub_slot, .return_place */
void x86_64_stub_encode(taddr at, taddr slot, uint8_t *code);
void x86_64_return_stub_encode(taddr at, taddr function, taddr place, uint8_t *code);
taddr x86_64_return_stub_slot(taddr at, const uint8_t *code, size_t len);
ssize_t x86_64_return_place(const uint8_t *code, size_t len, size_t *ret_len);
/* arch.detour_possible */
bool x86_64_detour_possible(enum detour_kind kind, const uint8_t *insn, uint8_t len, uint8_t field);
/* arch.detour_encode */
bool x86_64_detour_encode(const struct detour *detour, uint8_t *insn, uint8_t *code);
/* arch.thunk_call */
bool x86_64_thunk_call(const struct thunk *thunk, uint8_t *code);
/* arch.thunk_entry */
bool x86_64_thunk_entry(const struct thunk *thunk, uint8_t *code);
/* arch.ticks */
uint64_t x86_64_ticks(void);
/* arch.call_places, .call_result, .call_register */
void x86_64_call_places(const struct call_type *result, const struct call_type *args, size_t n,
			struct call_place *ret);
struct call_place x86_64_call_result(const struct call_type *type);
struct call_place x86_64_call_register(unsigned dwarf);
/* arch.thunk_bare, .thunk_flag, .thunk_stub, .listen_code */
bool x86_64_thunk_bare(const struct thunk *thunk, uint8_t *code);
bool x86_64_thunk_flag(const struct thunk *thunk, uint8_t *code);
bool x86_64_thunk_stub(const struct thunk *thunk, taddr at, uint8_t *code);
const uint8_t *x86_64_listen_code(size_t *ret_len);
/* arch.trace_runtime */
const uint8_t *x86_64_trace_runtime(size_t *ret_len);
/* arch.trace_depths */
bool x86_64_trace_depths(uint8_t *ret);
/* arch.constructor_code */
const uint8_t *x86_64_constructor_code(size_t *ret_len);
/* arch.thunk_frames */
void x86_64_thunk_frames(struct buf *section, taddr at, taddr start, uint64_t len, unsigned number,
			 uint64_t shadow);
/* arch.has_threads */
bool x86_64_has_threads(void);
/* arch.keeps_vectors */
bool x86_64_keeps_vectors(const uint8_t *code, size_t len);
/* arch.minds_return */
bool x86_64_minds_return(const uint8_t *code, size_t len);
/* arch.ignores_flags */
bool x86_64_ignores_flags(const uint8_t *code, size_t len);
/* arch.nop_encode */
bool x86_64_nop_encode(uint8_t *code, size_t len);
/* arch.nops_merge */
bool x86_64_nops_merge(uint8_t *code, size_t len, size_t have);
/* arch.fetches_whole, .fill */
bool x86_64_fetches_whole(void);
void x86_64_fill(uint8_t *code, size_t len);

/*
 * Makes registers that can be loaded by rt_sigreturn: there the kernel no longer looks for a call
 * to restart, so an interrupted system call is made again from its start, a relative time-out
 * included.
 */
void regs_restart_by_hand(struct arch_regs *regs);

#endif
