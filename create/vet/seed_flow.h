/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seed_flow.h - what a function does with a constant */
#ifndef USPL_CREATE_VET_SEED_FLOW_H
#define USPL_CREATE_VET_SEED_FLOW_H

#include "base/types.h"

struct diff;
struct objsec;

/*
 * Does code compute something with the constant of the instruction at that place, return it, or
 * hand it to a function that isn't a library's? The instructions are looked at in their order, not
 * in the order in which they may run.
 */
bool seed_flows_on(const struct diff *diff, const struct objsec *code, uint64_t at);

#endif
