// SPDX-License-Identifier: GPL-3.0-or-later
// place_arg.c - x86-64: where an argument is, as assemblers print it

#include <stdlib.h>
#include <string.h>

#include "arch/probe_code.h"
#include "arch/x86_64/emit.h"
#include "uspl/listen_abi.h"

/* By number; a name of several sizes is looked for by its size. */
static const char *const names_64[] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi" };
static const char *const names_8_low[] = { "al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil" };
static const char *const names_8_high[] = { "ah", "ch", "dh", "bh" };

#define NAME_LEN 16
#define SYMBOL_MAX 256
#define RIP 16

static bool find(const char *const *names, size_t n, const char *name, uint8_t *ret)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], name)) {
			*ret = (uint8_t)i;
			return true;
		}
	return false;
}

/* r8 to r15, with d, w or b behind. */
static bool numbered(const char *name, uint8_t *ret)
{
	char *end;
	unsigned long n = name[0] == 'r' ? strtoul(name + 1, &end, 10) : 0;

	if (n < 8 || n > 15 || (*end && (!strchr("dwb", *end) || end[1])))
		return false;
	*ret = (uint8_t)n;
	return true;
}

/* A general register in any of its sizes. */
static bool general(const char *name, uint8_t *ret_reg, uint8_t *ret_shift)
{
	char wide[NAME_LEN];

	*ret_shift = 0;
	if (find(names_64, ARRAY_SIZE(names_64), name, ret_reg) || numbered(name, ret_reg) ||
	    find(names_8_low, ARRAY_SIZE(names_8_low), name, ret_reg))
		return true;
	if (find(names_8_high, ARRAY_SIZE(names_8_high), name, ret_reg)) {
		*ret_shift = 8;
		return true;
	}
	/* eax, ax */
	snprintf(wide, sizeof(wide), "r%.8s", name[0] == 'e' ? name + 1 : name);
	return find(names_64, ARRAY_SIZE(names_64), wide, ret_reg);
}

/* "%NAME" at *text, which is moved behind it; the name without the sign. */
static bool take_name(const char **text, char name[NAME_LEN])
{
	size_t n = 0;

	if (**text != '%')
		return false;
	for (++*text; n + 1 < NAME_LEN &&
		      ((**text >= 'a' && **text <= 'z') || (**text >= '0' && **text <= '9'));
	     ++*text)
		name[n++] = **text;
	name[n] = '\0';
	return n > 0;
}

static bool take_register(const char **text, struct place *place)
{
	char name[NAME_LEN];

	if (!take_name(text, name))
		return false;
	if (!strncmp(name, "xmm", 3)) {
		place->kind = PLACE_VECTOR;
		place->reg = (uint8_t)strtoul(name + 3, NULL, 10);
		return place->reg < 16;
	}
	place->kind = PLACE_REGISTER;
	return general(name, &place->reg, &place->shift);
}

/* The part in parentheses: base, index, scale. *text stands behind the '('. */
static bool take_inside(const char **text, struct place *place, bool *ret_rip)
{
	char name[NAME_LEN];
	uint8_t shift;

	*ret_rip = false;
	place->has_base = **text == '%';
	if (place->has_base) {
		if (!take_name(text, name))
			return false;
		*ret_rip = !strcmp(name, "rip");
		place->has_base = !*ret_rip;
		if (!*ret_rip && !general(name, &place->reg, &shift))
			return false;
	}
	if (**text == ',') {
		++*text;
		if (!take_name(text, name) || !general(name, &place->index, &shift))
			return false;
		place->scale = 1;
		if (**text == ',') {
			++*text;
			place->scale = (uint8_t)strtoul(*text, (char **)text, 0);
		}
	}
	return *(*text)++ == ')';
}

static bool is_symbol_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '$' || c == '@';
}

/* A symbol's name and what is added to it. False: out of memory. */
static bool take_symbol(const char **text, struct place *place)
{
	size_t n = 0;

	while (n < SYMBOL_MAX && is_symbol_char((*text)[n]))
		n++;
	place->symbol = strndup(*text, n);
	*text += n;
	return place->symbol;
}

static bool take_memory(const char **text, struct place *place)
{
	bool rip = false, symbol = is_symbol_char(**text) && !(**text >= '0' && **text <= '9');

	place->kind = PLACE_MEMORY;
	if (symbol && !take_symbol(text, place))
		return false;
	if (**text == '-' || **text == '+' || (**text >= '0' && **text <= '9'))
		place->number = (int64_t)strtoll(*text, (char **)text, 0);
	/* "40+x(%rip)" */
	if (!symbol && **text == '+' && is_symbol_char((*text)[1])) {
		++*text;
		symbol = true;
		if (!take_symbol(text, place))
			return false;
	}
	if (**text != '(')
		return false;
	++*text;
	if (!take_inside(text, place, &rip))
		return false;
	return rip == symbol && (place->has_base || place->scale || rip) &&
	       place->number == (int32_t)place->number &&
	       (!place->scale || strchr("\1\2\4\10", place->scale));
}

/* "-4@": its size, in front of it. */
static bool take_size(const char **text, struct place *place)
{
	char *end;
	long size = strtol(*text, &end, 10);

	place->size = 8;
	if (end == *text || (*end != '@' && !(*end == 'f' && end[1] == '@')))
		return true;
	place->is_float = *end == 'f';
	place->is_signed = size < 0;
	place->size = (uint8_t)labs(size);
	*text = end + 1 + place->is_float;
	return labs(size) <= 8 && strchr("\1\2\4\10", place->size) && place->size;
}

int place_parse(const char **text, struct place *ret, struct uspl_err *err)
{
	const char *at = *text;
	struct place place = { 0 };
	bool fine = take_size(&at, &place);

	if (fine && *at == '%') {
		fine = take_register(&at, &place);
	} else if (fine && *at == '$') {
		const char *before = ++at;

		place.kind = PLACE_NUMBER;
		place.number = (int64_t)strtoull(at, (char **)&at, 0);
		fine = at != before;
	} else if (fine) {
		const char *before = at;

		place.number = (int64_t)strtoll(at, (char **)&at, 0);
		place.kind = PLACE_NUMBER;
		if (at == before || (*at && *at != ' ')) {
			at = before;
			place.number = 0;
			fine = take_memory(&at, &place);
		}
	}
	if (!fine || (*at && *at != ' ')) {
		free(place.symbol);
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "the place of an argument isn't understood: '%s'", *text);
	}
	while (*at == ' ')
		at++;
	*text = at;
	*ret = place;
	return 0;
}

bool place_of_value(const struct call_place *from, uint8_t size, struct place *ret)
{
	/* In the order of enum uspl_listen_from's registers. */
	static const uint8_t general_regs[] = { RDI, RSI, RDX, RCX, R8, R9, RAX, RDX };
	struct place place = { .size = size };

	switch (from->from) {
	case USPL_LISTEN_REG:
		if (from->index >= ARRAY_SIZE(general_regs))
			return false;
		place.kind = PLACE_REGISTER;
		place.reg = general_regs[from->index];
		break;
	case USPL_LISTEN_XMM:
		place.kind = PLACE_VECTOR;
		place.reg = (uint8_t)from->index;
		break;
	case USPL_LISTEN_STACK: /* behind the return address */
		place.kind = PLACE_MEMORY;
		place.has_base = true;
		place.reg = RSP;
		place.number = (1 + from->index) * WORD;
		break;
	default:
		return false;
	}
	*ret = place;
	return true;
}
