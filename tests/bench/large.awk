#!/usr/bin/awk -f
# SPDX-License-Identifier: GPL-3.0-or-later
# large.awk - writes the source of a large program: large.awk -v folder=DIR -v files=N
#
# N sources of some 200 lines in folders of 50, one header that all include, main.c, a Makefile. The
# same N gives the same program. Each source has its own statics, tables of strings, and functions
# of ten sorts, with constants of its own in them, so that no two are alike: an input that is good
# for nothing is parsed, hashed, sorted, printed and counted.

function out(text) { print text > file }

# Numbers that look random, and are the same each time.
function pick(n) { seed = seed * 16807 % 2147483647; return seed % n }
function word() { return words[1 + pick(n_words)] }

function header() {
	file = folder "/common.h"
	out("#ifndef COMMON_H\n#define COMMON_H\n")
	out("#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
	out("enum status {\n\tSTATUS_FINE,\n\tSTATUS_EMPTY,\n\tSTATUS_FULL,\n\tSTATUS_WRONG,\n};\n")
	out("struct item {\n\tchar name[24];\n\tuint32_t key;\n\tint64_t value;\n\tstruct item *next;\n};\n")
	out("struct list {\n\tstruct item *first;\n\tsize_t n;\n\tenum status status;\n};\n")
	out("struct job {\n\tconst char *text;\n\tsize_t len;\n\tstruct list list;\n\tuint64_t sum;\n\tFILE *log;\n};\n")
	out("#define MIX(h, c) (((h) ^ (uint32_t)(c)) * 16777619u)\n")
	out("static inline uint32_t limit(uint32_t value, uint32_t most)\n{\n\treturn value < most ? value : most;\n}\n")
	out("static inline uint32_t turn(uint32_t x, unsigned by)\n{\n\treturn x << by | x >> (32 - by);\n}\n")
	out("static inline uint32_t fold(uint32_t x)\n{\n\treturn x ^ x >> 15;\n}\n")
	out("static inline struct item *list_push(struct list *list)\n{\n\tstruct item *item = calloc(1, sizeof(*item));\n")
	out("\tif (!item) {\n\t\tlist->status = STATUS_FULL;\n\t\treturn NULL;\n\t}\n\titem->next = list->first;\n\tlist->first = item;\n\tlist->n++;\n\treturn item;\n}\n")
	out("#endif")
	close(file)
}

function f_parse(p) {
	out("static enum status " p "_parse(struct job *job)\n{")
	out("\tconst char *at = job->text, *end = at + job->len;\n")
	out("\twhile (at < end) {\n\t\tsize_t len = strcspn(at, \"" substr(",;:|/ ", 1 + pick(5), 1) "\");")
	out("\t\tstruct item *item = list_push(&job->list);\n")
	out("\t\tif (!item)\n\t\t\treturn STATUS_FULL;")
	out("\t\tmemcpy(item->name, at, limit(len, sizeof(item->name) - " 1 + pick(6) "));")
	out("\t\titem->key = " p "_hash(item->name);")
	out("\t\titem->value = strtol(item->name, NULL, " 8 + pick(9) ");")
	out("\t\tif (item->value > " pick(9999) ")\n\t\t\t" p "_state.large++;")
	out("\t\tat += len + (at[len] != '\\0');\n\t}")
	out("\treturn job->list.n ? STATUS_FINE : STATUS_EMPTY;\n}\n")
}

# Every 40th source calls what the patch of the header changes.
function f_hash(p, i) {
	out("static uint32_t " p "_hash(const char *name)\n{\n\tuint32_t h = " 2166136261 + pick(99999) "u;\n")
	out("\tfor (; *name; name++)\n\t\th = turn(MIX(h, *name), " 1 + pick(30) ");")
	out("\treturn " (i % 40 == 7 ? "fold(h)" : "h") " % " 101 + pick(9000) ";\n}\n")
}

function f_name(p, k,   i) {
	out("static const char *" p "_name" k "(unsigned kind)\n{\n\tswitch (kind) {")
	for (i = 0; i < 6; i++)
		out("\tcase " i * (2 + k) + pick(2) ":\n\t\treturn \"" word() " " word() " " pick(999) "\";")
	out("\tdefault:\n\t\treturn " p "_words[kind % " 4 + pick(4) "];\n\t}\n}\n")
}

function f_order(p) {
	out("static int " p "_order(const void *a, const void *b)\n{\n\tconst struct item *x = *(struct item *const *)a, *y = *(struct item *const *)b;\n")
	out("\tif (x->key != y->key)\n\t\treturn x->key " (pick(2) ? "<" : ">") " y->key ? -1 : 1;")
	out("\treturn strncmp(x->name, y->name, " 4 + pick(18) ");\n}\n")
}

function f_sort(p) {
	out("static void " p "_sort(struct list *list)\n{\n\tstruct item **all = calloc(list->n + " 1 + pick(9) ", sizeof(*all)), **slot = all;\n")
	out("\tif (!all)\n\t\treturn;")
	out("\tfor (struct item *item = list->first; item; item = item->next)\n\t\t*slot++ = item;")
	out("\tqsort(all, list->n, sizeof(*all), " p "_order);")
	out("\tfor (size_t i = 0; i < list->n; i++) {\n\t\tall[i]->next = i + 1 < list->n ? all[i + 1] : NULL;\n\t\t" p "_state.sum += all[i]->key * " 3 + pick(997) ";\n\t}")
	out("\tlist->first = list->n ? all[0] : NULL;\n\tfree(all);\n}\n")
}

function f_print(p) {
	out("static void " p "_print(const struct job *job)\n{\n\tunsigned line = " pick(99) ";\n")
	out("\tif (!job->log)\n\t\treturn;")
	out("\tfor (const struct item *item = job->list.first; item; item = item->next, line++) {")
	out("\t\tfprintf(job->log, \"" word() " %u: %s is " word() ", %s\\n\", line, item->name,\n\t\t\t" p "_name0(item->key));")
	out("\t\tif (line > " 100 + pick(900) ")\n\t\t\tfprintf(job->log, \"" word() " %s %lld\\n\", " p "_name1(line),\n\t\t\t\t(long long)item->value);\n\t}\n}\n")
}

function f_sum(p, k,   a, b) {
	a = 1 + pick(997); b = 1 + pick(61)
	out("static uint64_t " p "_sum" k "(const struct list *list, uint64_t start)\n{\n\tuint64_t sum = start ^ 0x" sprintf("%x", seed) ";\n")
	out("\tfor (const struct item *item = list->first; item; item = item->next) {")
	out("\t\tif (item->value % " 2 + pick(17) " == " pick(2) ")\n\t\t\tsum += (uint64_t)item->value * " a ";")
	out("\t\telse if (item->key & " 1 * 2 ^ pick(12) ")\n\t\t\tsum ^= sum << " b ";")
	out("\t\telse\n\t\t\tsum -= item->key + " p "_weights[item->key % 8];\n\t}")
	out("\treturn sum;\n}\n")
}

function f_drop(p) {
	out("static size_t " p "_drop(struct list *list)\n{\n\tsize_t n = 0;\n")
	out("\twhile (list->first) {\n\t\tstruct item *item = list->first;\n")
	out("\t\tlist->first = item->next;\n\t\tn += item->key != " pick(5000) ";\n\t\tmemset(item, " pick(256) ", sizeof(*item));\n\t\tfree(item);\n\t}")
	out("\tlist->n = 0;\n\treturn n;\n}\n")
}

function unit(i,   p, k) {
	p = "u" i
	file = folder "/" sprintf("d%02d/u%04d.c", int(i / 50), i)
	out("/* One of " files " parts. */\n#include \"../common.h\"\n\nuint64_t run_" i "(struct job *job);\n")
	out("static struct {\n\tuint64_t sum;\n\tunsigned large, calls;\n} " p "_state;\n")
	out("static const char *const " p "_words[] = {")
	for (k = 0; k < 8; k++)
		out("\t\"" word() " of " word() " " pick(99) "\",")
	out("};\n\nstatic const uint32_t " p "_weights[8] = {")
	for (k = 0; k < 8; k++)
		out("\t" pick(32000) ",")
	out("};\n")
	f_hash(p, i); f_parse(p); f_order(p); f_sort(p)
	f_name(p, 0); f_name(p, 1); f_print(p)
	for (k = 0; k < 3; k++)
		f_sum(p, k)
	f_drop(p)
	out("uint64_t run_" i "(struct job *job)\n{")
	out("\tif (" p "_parse(job) != STATUS_FINE)\n\t\treturn " pick(77) ";")
	out("\t" p "_sort(&job->list);\n\t" p "_print(job);\n\t" p "_state.calls++;")
	for (k = 0; k < 3; k++)
		out("\tjob->sum += " p "_sum" k "(&job->list, " p "_state.sum + " k ");")
	out("\t" p "_state.sum += " p "_drop(&job->list);")
	out("\treturn job->sum + " p "_state.large;\n}")
	close(file)
}

function main_c(   i) {
	file = folder "/main.c"
	out("#include \"common.h\"\n")
	for (i = 0; i < files; i++)
		out("uint64_t run_" i "(struct job *job);")
	out("\nstatic uint64_t (*const runs[])(struct job *job) = {")
	for (i = 0; i < files; i++)
		out("\trun_" i ",")
	out("};\n\nint main(int argc, char **argv)\n{\n\tuint64_t sum = 0;\n")
	out("\tfor (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {")
	out("\t\tstruct job job = { argv[argc - 1], strlen(argv[argc - 1]), { 0 }, i, NULL };\n\n\t\tsum += runs[i](&job);\n\t}")
	out("\tprintf(\"%llu\\n\", (unsigned long long)sum);\n\treturn 0;\n}")
	close(file)
}

function makefile() {
	file = folder "/Makefile"
	out("CFLAGS = -g -O2\nOBJ = $(patsubst %.c,%.o,main.c $(wildcard d*/*.c))\n")
	out("large: $(OBJ)\n\t$(CC) -o $@ $(OBJ)\n\nobjects: $(OBJ)\n")
	out("%.o: %.c\n\t$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<\n\n-include $(OBJ:.o=.d)")
	close(file)
}

BEGIN {
	n_words = split("amber birch cedar delta ember frost grain heath ivory jolly kayak lemon maple north ocean pearl quiet river stone tiger under vivid water xenon yield zebra", words, " ")
	seed = 20261123
	for (i = 0; i * 50 < files; i++)
		system("mkdir -p '" folder "/" sprintf("d%02d", i) "'")
	header(); makefile(); main_c()
	for (i = 0; i < files; i++)
		unit(i)
}
