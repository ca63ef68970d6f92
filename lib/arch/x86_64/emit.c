// SPDX-License-Identifier: GPL-3.0-or-later
// emit.c - x86-64: a probe's code while it is made: bytes, and the values of arguments

#include "arch/x86_64/emit.h"

#include "arch/x86_64/x86_64.h"

const uint8_t emit_saved[] = { RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11, RBX };

void emit_bytes(struct emit *emit, const void *bytes, size_t len)
{
	buf_add(&emit->out, bytes, len);
}

void emit_32(struct emit *emit, uint32_t value)
{
	emit_bytes(emit, &value, sizeof(value));
}

void emit_64(struct emit *emit, uint64_t value)
{
	emit_bytes(emit, &value, sizeof(value));
}

/* The distance to an address from behind these four bytes. */
void emit_distance(struct emit *emit, taddr to)
{
	int64_t distance = (int64_t)(to - (emit->code->at + emit->out.len + 4));

	emit->failed |= distance != (int32_t)distance;
	emit_32(emit, (uint32_t)distance);
}

taddr emit_runtime_part(const struct emit *emit, const uint8_t *symbol)
{
	return emit->code->runtime + (taddr)(symbol - uspl_trace_begin);
}

void emit_call(struct emit *emit, const uint8_t *symbol)
{
	PUT(emit, 0xe8);
	emit_distance(emit, emit_runtime_part(emit, symbol));
}

size_t emit_n_saved(const struct emit *emit)
{
	return emit->code->program ? N_SAVED_ALL : N_SAVED;
}

static size_t emit_pushed(const struct emit *emit)
{
	return emit_n_saved(emit) * WORD + (emit->code->keep_flags ? WORD : 0) + emit->hit;
}

/* The program's value of a register into rsi or rdi. */
static void load_register(struct emit *emit, uint8_t reg, uint8_t to)
{
	int at = -1;

	for (size_t i = 0; i < emit_n_saved(emit); i++)
		if (emit_saved[i] == reg)
			at = (int)(emit_pushed(emit) - (i + 1) * WORD);
	if (at >= 0) { /* mov at(%rsp), %to */
		PUT(emit, 0x48, 0x8b, (uint8_t)(0x84 | to << 3), 0x24);
		emit_32(emit, (uint32_t)at);
	} else if (reg == RSP) { /* lea pushed(%rsp), %to */
		PUT(emit, 0x48, 0x8d, (uint8_t)(0x84 | to << 3), 0x24);
		emit_32(emit, (uint32_t)(emit_pushed(emit) + RED_ZONE));
	} else { /* mov %reg, %to */
		PUT(emit, (uint8_t)(0x48 | (reg >> 3) << 2), 0x89,
		    (uint8_t)(0xc0 | (reg & 7) << 3 | to));
	}
}

/* Extends the value in rsi from its size to 8 bytes. */
static void extend(struct emit *emit, const struct place *place)
{
	bool sign = place->is_signed;

	if (place->size == 1)
		PUT(emit, 0x48, 0x0f, sign ? 0xbe : 0xb6, 0xf6);
	else if (place->size == 2)
		PUT(emit, 0x48, 0x0f, sign ? 0xbf : 0xb7, 0xf6);
	else if (place->size == 4 && sign)
		PUT(emit, 0x48, 0x63, 0xf6);
	else if (place->size == 4)
		PUT(emit, 0x89, 0xf6);
}

/* The address of a memory operand without its displacement into rdi. Changes rsi. */
static void load_address(struct emit *emit, const struct place *place)
{
	if (place->has_base)
		load_register(emit, place->reg, RDI);
	else
		PUT(emit, 0x31, 0xff); /* xor %edi, %edi */
	if (!place->scale)
		return;
	load_register(emit, place->index, RSI);
	/* lea (%rdi,%rsi,scale), %rdi */
	PUT(emit, 0x48, 0x8d, 0x3c, (uint8_t)(__builtin_ctz(place->scale) << 6 | RSI << 3 | RDI));
}

static void load_memory(struct emit *emit, const struct place *place)
{
	if (place->symbol) {
		PUT(emit, 0x48, 0xbe); /* mov $address, %rsi */
		emit_64(emit, (uint64_t)place->number);
	} else {
		load_address(emit, place);
		PUT(emit, 0x48, 0x8d, 0xb7); /* lea displacement(%rdi), %rsi */
		emit_32(emit, (uint32_t)place->number);
	}
	/* No wider than the operand is. */
	if (place->size == 8)
		PUT(emit, 0x48, 0x8b, 0x36); /* mov (%rsi), %rsi */
	else if (place->size == 4)
		PUT(emit, 0x8b, 0x36);
	else
		PUT(emit, 0x0f, place->size == 2 ? 0xb7 : 0xb6, 0x36); /* movzx */
}

/* The argument's value into rsi. Changes rdi. */
void emit_load(struct emit *emit, const struct place *place)
{
	switch (place->kind) {
	case PLACE_REGISTER:
		load_register(emit, place->reg, RSI);
		if (place->shift)
			PUT(emit, 0x48, 0xc1, 0xee, place->shift); /* shr */
		break;
	case PLACE_VECTOR: /* movq %xmmN, %rsi */
		PUT(emit, 0x66, (uint8_t)(0x48 | (place->reg >> 3) << 2), 0x0f, 0x7e,
		    (uint8_t)(0xc0 | (place->reg & 7) << 3 | RSI));
		break;
	case PLACE_NUMBER: /* mov $number, %rsi */
		PUT(emit, 0x48, 0xbe);
		emit_64(emit, (uint64_t)place->number);
		break;
	case PLACE_MEMORY:
		load_memory(emit, place);
		break;
	}
	extend(emit, place);
}
