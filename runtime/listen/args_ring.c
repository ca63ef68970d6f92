// SPDX-License-Identifier: MIT
// args_ring.c - the listener that puts the values of arguments and results into the thread's ring,
// beside the calls
/*
 * A record is a run of slots, as those of markers are (include/uspl/mark_abi.h):
 *
 *     first slot    time 64, the function's id 32, USPL_TRACE_ID_ARGS or _RESULT
 *     the others    twelve bytes, USPL_MARK_MORE: when the call began (8), then the values
 *
 * A call is known by its thread, its function and when it began. The first slot's id is written
 * last.
 */

#include "runtime/listen/args_ring.h"

#include "runtime/listen/memory.h"

/* The values of one record while they are put together. */
struct values {
	uint8_t bytes[USPL_LISTEN_VALUES_MAX];
	uint32_t len;
};

static uint64_t read_xmm(unsigned index)
{
	uint64_t value = 0;

	switch (index) {
#define XMM(n)                                                                                     \
	case n:                                                                                    \
		__asm__("movq %%xmm" #n ", %0" : "=r"(value));                                     \
		break;
		XMM(0)
		XMM(1)
		XMM(2)
		XMM(3)
		XMM(4)
		XMM(5)
		XMM(6)
		XMM(7)
#undef XMM
	default:
		break;
	}
	return value;
}

static uint64_t read_reg(const struct call *call, unsigned index)
{
	const uint64_t regs[] = { call->rdi, call->rsi, call->rdx, call->rcx,
				  call->r8,  call->r9,  call->rax, call->rdx };

	return index < sizeof(regs) / sizeof(*regs) ? regs[index] : 0;
}

static uint64_t read_value(const struct call_ctx *ctx, const struct uspl_listen_arg *arg)
{
	switch (arg->from) {
	case USPL_LISTEN_REG:
		return read_reg(ctx->call, arg->index);
	case USPL_LISTEN_XMM:
		return read_xmm(arg->index);
	case USPL_LISTEN_STACK:
		return ((const uint64_t *)ctx->at)[1 + arg->index];
	default:
		return 0;
	}
}

static void add_word(struct values *values, uint64_t word)
{
	__builtin_memcpy(values->bytes + values->len, &word, sizeof(word));
	values->len += sizeof(word);
}

/* A string. What can't be read is noted by its address: the program might never have read it. */
static void add_text(struct values *values, const struct uspl_listen_arg *arg, uint64_t addr)
{
	char text[USPL_LISTEN_TEXT_MAX + 1];
	uint64_t max = arg->text_max < USPL_LISTEN_TEXT_MAX ? arg->text_max : USPL_LISTEN_TEXT_MAX;
	uint64_t got = addr ? memory_copy_safely(text, addr, max + 1) : 0;
	uint8_t len = 0;

	while (len < got && len < max && text[len])
		len++;
	if (!got || (len == got && len < max)) {
		values->bytes[values->len++] = USPL_LISTEN_TEXT_GONE;
		add_word(values, addr);
		return;
	}
	values->bytes[values->len++] = len | (got > len && text[len] ? USPL_LISTEN_TEXT_CUT : 0);
	memcpy(values->bytes + values->len, text, len);
	values->len += len;
}

static void add_value(struct values *values, const struct call_ctx *ctx,
		      const struct uspl_listen_arg *arg)
{
	uint64_t value = read_value(ctx, arg);

	if (arg->kind == USPL_PROBE_TEXT)
		add_text(values, arg, value);
	else
		add_word(values, value);
}

/*
 * When the call began whose entry was recorded just now; signal handlers may have written records
 * since.
 */
static uint64_t entry_time(const struct call_ctx *ctx)
{
	const uint8_t *records = (const uint8_t *)ctx->ring + USPL_TRACE_RING_HEADER;
	uint64_t pos = __atomic_load_n(&ctx->ring->pos, __ATOMIC_RELAXED);

	for (uint64_t back = 1; back <= 64 && back * USPL_TRACE_RECORD <= pos; back++) {
		uint64_t at = (pos - back * USPL_TRACE_RECORD) & uspl_control.ring_mask;
		const struct uspl_trace_entry *entry = (const void *)(records + at);

		if ((entry->id & USPL_TRACE_ENTRY_IDS) == ctx->site->id &&
		    (uint32_t)ctx->caller == entry->caller)
			return entry->start;
	}
	return 0;
}

/* The position of n slots that are the caller's now: one instruction, for signal handlers. */
static uint64_t take_slots(const struct call_ctx *ctx, uint32_t n)
{
	uint64_t pos = (uint64_t)n * USPL_TRACE_RECORD;

	__asm__("xaddq %0, %1" : "+r"(pos), "+m"(ctx->ring->pos));
	return pos;
}

static void write_record(const struct call_ctx *ctx, uint32_t sign, const struct values *values)
{
	uint8_t *records = (uint8_t *)ctx->ring + USPL_TRACE_RING_HEADER;
	uint32_t slots = (values->len + USPL_MARK_SLOT_ROOM - 1) / USPL_MARK_SLOT_ROOM;
	uint64_t pos = take_slots(ctx, 1 + slots), mask = uspl_control.ring_mask;
	struct uspl_trace_call *head;

	head = (void *)(records + (pos & mask));
	*(volatile uint32_t *)&head->id = 0;
	head->start = ticks();
	head->duration = ctx->site->id;
	for (uint32_t i = 0; i < slots; i++) {
		uint8_t *slot = records + ((pos + (1 + i) * USPL_TRACE_RECORD) & mask);
		uint32_t at = i * USPL_MARK_SLOT_ROOM, left = values->len - at;

		*(volatile uint32_t *)(slot + USPL_MARK_SLOT_ROOM) = 0;
		memcpy(slot, values->bytes + at,
		       left < USPL_MARK_SLOT_ROOM ? left : USPL_MARK_SLOT_ROOM);
		*(volatile uint32_t *)(slot + USPL_MARK_SLOT_ROOM) = USPL_MARK_MORE;
	}
	__atomic_store_n(&head->id, sign, __ATOMIC_RELEASE);
}

void args_write_call(const struct call_ctx *ctx)
{
	uint8_t *records = (uint8_t *)ctx->ring + USPL_TRACE_RING_HEADER;
	uint64_t took = ticks() - ctx->start, pos, mask = uspl_control.ring_mask;
	bool fits = took <= UINT32_MAX;
	struct uspl_trace_call *first, *second;

	pos = take_slots(ctx, fits ? 1 : 2);
	first = (void *)(records + (pos & mask));
	second = (void *)(records + ((pos + USPL_TRACE_RECORD) & mask));
	*(volatile uint32_t *)&first->id = 0;
	first->start = ctx->start;
	first->duration = fits ? (uint32_t)took : UINT32_MAX;
	if (!fits)
		*second = (struct uspl_trace_call){ ctx->start + took, 0, USPL_TRACE_ID_LONG };
	__atomic_store_n(&first->id, ctx->site->id | (fits ? 0 : USPL_TRACE_ID_LONG),
			 __ATOMIC_RELEASE);
}

void args_enter(const struct call_ctx *ctx)
{
	const struct uspl_listen_site *site = ctx->site;
	struct values values;
	uint64_t start = ctx->config->entries ? entry_time(ctx) : ctx->start;

	values.len = 0;
	if (!site->n_args || ctx->config->halted || !start)
		return;
	add_word(&values, start);
	for (unsigned i = 0; i < site->n_args; i++)
		add_value(&values, ctx, &site->args[i]);
	write_record(ctx, USPL_TRACE_ID_ARGS, &values);
}

void args_leave(const struct call_ctx *ctx)
{
	struct values values;

	values.len = 0;
	if (!ctx->site->has_result || ctx->config->halted)
		return;
	add_word(&values, ctx->start);
	add_value(&values, ctx, &ctx->site->result);
	write_record(ctx, USPL_TRACE_ID_RESULT, &values);
}
