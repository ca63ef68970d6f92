// SPDX-License-Identifier: GPL-3.0-or-later
// candidate_test.c - how functions can be traced: by hand-made code, and by all of this program and
// its libc

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "proc/module.h"
#include "tap.h"
#include "trace/engine/untraceable.h"
#include "trace/engine/candidate.h"

struct sample {
	const char *name;
	uint8_t code[32];
	size_t len;
	enum candidate_kind kind;
	size_t site; /* candidate.len */
	const char *why;
};

/* clang-format off */
static const struct sample samples[] = {
	{ "five single NOPs", { 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3 }, 6, CANDIDATE_NOPS, 5, NULL },
	{ "one long NOP behind endbr64", { 0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x44, 0, 0, 0xc3 }, 10, CANDIDATE_NOPS, 9, NULL },
	{ "four NOPs and more", { 0x90, 0x90, 0x90, 0x90, 0x31, 0xc0, 0xc3 }, 7, CANDIDATE_MOVED, 6, NULL },
	{ "push, mov, sub", { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xc9, 0xc3 }, 10, CANDIDATE_MOVED, 8, NULL },
	{ "a return only", { 0xc3 }, 1, CANDIDATE_NONE, 0, "it ends within its first bytes" },
	{ "two bytes and no end", { 0x31, 0xc0 }, 2, CANDIDATE_NONE, 0, "it is too short" },
	{ "xor, ret, padding", { 0x31, 0xc0, 0xc3, 0xcc, 0xcc, 0xcc }, 6, CANDIDATE_NONE, 0, "it ends within its first bytes" },
	/* 2: dec; jnz 2 */
	{ "a loop into the third byte", { 0x89, 0xf8, 0xff, 0xc8, 0x75, 0xfc, 0xc3 }, 7, CANDIDATE_NONE, 0, "a branch leads into its first bytes" },
	{ "a loop to the entry", { 0xff, 0xcf, 0x90, 0x90, 0x75, 0xfa, 0xc3 }, 7, CANDIDATE_MOVED, 6, NULL },
	/* mov, syscall, ret: who waits there comes back to the fourth byte */
	{ "a system call in the fourth byte", { 0x48, 0x89, 0xf8, 0x0f, 0x05, 0xc3 }, 6, CANDIDATE_NONE, 0, "a system call is among its first bytes" },
	{ "a system call first", { 0x0f, 0x05, 0x48, 0x89, 0xc7, 0xc3 }, 6, CANDIDATE_NONE, 0, "a system call is among its first bytes" },
	{ "a system call behind the fifth byte", { 0xb8, 0x22, 0, 0, 0, 0x0f, 0x05, 0xc3 }, 8, CANDIDATE_MOVED, 5, NULL },
	/* What V8 has where nothing may come to. */
	{ "a breakpoint in the fifth byte", { 0xf3, 0x0f, 0x1e, 0xfa, 0xcc, 0x0f, 0x0b }, 7, CANDIDATE_NONE, 0, "its first instructions can't be moved" },
	{ "no instructions", { 0x55, 0x06, 0x06, 0x06, 0x06, 0x06 }, 6, CANDIDATE_NONE, 0, "its first instructions can't be decoded" },
};
/* clang-format on */

static void test_samples(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		const struct sample *s = &samples[i];
		struct image_seg seg = {
			.start = 0x1000, .len = s->len, .exec = true, .bytes = (uint8_t *)s->code
		};
		struct image_sym sym = { s->name, NULL, 0x1000, s->len, STT_FUNC, STB_GLOBAL };
		struct image image = { .start = 0x1000, .end = 0x1000 + s->len };
		candidate_vec candidates = { 0 };
		struct uspl_err err = { 0 };

		*(struct image_seg *)vec_push(&image.segs) = seg;
		*(struct image_sym *)vec_push(&image.syms) = sym;
		ok(candidates_find(&image, &candidates, &err) == 0 && candidates.n == 1 &&
			   candidates.items[0].kind == s->kind,
		   "%s", s->name);
		if (candidates.n == 1 && s->kind != CANDIDATE_NONE)
			ok(candidates.items[0].len == s->site, "%s: how long", s->name);
		if (s->why)
			ok_str(candidates.items[0].why, s->why, s->name);
		vec_release(&candidates);
		vec_release(&image.segs);
		vec_release(&image.syms);
	}
}

/* The code of a large function is looked at piece by piece: a loop at its end, and a part of it. */
static void test_large(void)
{
	enum { LEN = 200000 };
	static const uint8_t loop[] = { 0xe9, 0, 0, 0, 0 };
	static const struct {
		const char *name;
		int into; /* the byte that the loop leads to; -1: there is no loop, but half an insn */
		const char *why;
	} kinds[] = {
		{ "a loop of 200000 bytes into the third byte", 2,
		  "a branch leads into its first bytes" },
		{ "a loop of 200000 bytes to the entry", 0, NULL },
		{ "200000 bytes with what is no code among the last", -1,
		  "its code can't be decoded" },
	};
	uint8_t *code = malloc(LEN);

	for (size_t i = 0; code && i < ARRAY_SIZE(kinds); i++) {
		struct image_seg seg = { .start = 0x1000, .len = LEN, .exec = true, .bytes = code };
		struct image_sym sym = { kinds[i].name, NULL, 0x1000, LEN, STT_FUNC, STB_GLOBAL };
		struct image image = { .start = 0x1000, .end = 0x1000 + LEN };
		int32_t back = kinds[i].into - LEN;
		candidate_vec candidates = { 0 };
		struct uspl_err err = { 0 };

		/* mov %eax, %ecx, but for one that makes the next ones lie at odd places. */
		for (size_t at = 0; at < LEN; at += 2)
			memcpy(code + at, (uint8_t[]){ 0x89, 0xc1 }, 2);
		for (size_t at = 11; at + 2 <= LEN; at += 2)
			memcpy(code + at, (uint8_t[]){ 0x89, 0xc1 }, 2);
		memcpy(code + 8, (uint8_t[]){ 0x48, 0x89, 0xc1 }, 3);
		memcpy(code + LEN - sizeof(loop), loop, sizeof(loop));
		memcpy(code + LEN - sizeof(back), &back, sizeof(back));
		if (kinds[i].into < 0)
			memset(code + LEN - 40, 0x06, 40);
		*(struct image_seg *)vec_push(&image.segs) = seg;
		*(struct image_sym *)vec_push(&image.syms) = sym;
		ok(candidates_find(&image, &candidates, &err) == 0 && candidates.n == 1 &&
			   !candidates.items[0].why == !kinds[i].why,
		   "%s", kinds[i].name);
		if (candidates.n == 1 && kinds[i].why && candidates.items[0].why)
			ok_str(candidates.items[0].why, kinds[i].why, kinds[i].name);
		vec_release(&candidates);
		vec_release(&image.segs);
		vec_release(&image.syms);
	}
	free(code);
}

/* Names are the same with the version that a library's own symbol table has behind them. */
static void test_versions(void)
{
	static const struct {
		const char *name;
		bool entry_only;
		const char *why;
	} named[] = {
		{ "dlsym", true, NULL },
		{ "dlsym@GLIBC_2.2.5", true, NULL },
		{ "vfork@@GLIBC_2.2.5", true, NULL },
		{ "dlsymbol@@V1", false, NULL },
		{ "dls@@V1", false, NULL },
		{ "clone@@GLIBC_2.2.5", false, "it isn't entered by a call" },
	};
	const struct image image = { .start = 0x1000, .end = 0x2000 };
	const candidate_vec none = { 0 };
	struct untraceable untraceable;

	untraceable_init(&untraceable, &image, &none);
	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		const struct candidate candidate = { .entry = 0x1000, .name = named[i].name };
		const char *why = untraceable_why(&untraceable, named[i].name);

		ok(untraceable_entry_only(&untraceable, &candidate) == named[i].entry_only,
		   "%s: its entry only", named[i].name);
		ok(!why == !named[i].why && (!why || !strcmp(why, named[i].why)), "%s: why not",
		   named[i].name);
	}
}

/* Everything that this process maps: no function may bring the finder down, most can be traced. */
static void test_modules(void)
{
	struct uspl_err err = { 0 };
	module_vec modules = { 0 };
	struct proc *proc = NULL;
	const struct module *module;
	size_t all = 0, traced = 0;

	if (proc_open_readonly(getpid(), &proc, &err) || modules_read(proc, &modules, &err)) {
		ok(false, "modules: %s", err.msg);
		return;
	}
	vec_for_each (&modules, module) {
		struct image *image = NULL;
		candidate_vec candidates = { 0 };
		const struct candidate *candidate;

		if (module->is_vdso || module_image(proc, module, &image, &err))
			continue;
		if (!candidates_find(image, &candidates, &err))
			vec_for_each (&candidates, candidate) {
				all++;
				traced += candidate->kind != CANDIDATE_NONE;
			}
		vec_release(&candidates);
		image_free(image);
	}
	ok(all > 2000 && traced > all * 8 / 10, "of %zu functions here %zu can be traced", all,
	   traced);
	modules_release(&modules);
	proc_free(proc);
}

int main(void)
{
	test_samples();
	test_large();
	test_versions();
	test_modules();
	return tap_done();
}
