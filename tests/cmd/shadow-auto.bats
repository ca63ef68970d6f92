# SPDX-License-Identifier: GPL-3.0-or-later
# shadow-auto.bats - uspl-create --shadow=auto: gcc keeps new members beside the objects
# shellcheck disable=SC2030,SC2031,SC2119 # a test has a tree of its own; no options
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/hooks.bash"
	hooks_tree '-O2' shadow-auto
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/hooks.bash"
	case $TARGET_CC in *clang*) skip 'a plugin of gcc' ;; esac
	[ -r "$("$TARGET_CC" -print-file-name=plugin)/include/gcc-plugin.h" ] || skip 'needs the headers for plugins of gcc'
}

teardown() {
	target_stop
}

# What the patches have in common: a structure with two members more, in the middle and at its end.
export MEMBERS='s/^	long hits;/	long extra;\n&/; s/^	const char .name;/&\n	char marks[8];/'

# changed SED [OPTION...] - makes an update of all sources, changed by the sed script; AS is its id
changed() {
	local new=$BATS_TEST_TMPDIR/new
	rm -rf "$new"
	mkdir -p "$new/a" "$new/b"
	cp "$FIXTURE/tree"/*.[ch] "$new/a"
	cp "$FIXTURE/tree"/*.[ch] "$new/b"
	sed -i "$1" "$new"/b/conn.h "$new"/b/target.c "$new"/b/room.c
	(cd "$new" && diff -u a b > fix.patch) || :
	tool uspl-create --source="$FIXTURE/tree" --patch="$new/fix.patch" --id="${AS:-auto}" --output="$new" "${@:2}"
	UPDATE=$new/uspl-${AS:-auto}.tar.gz ID=${AS:-auto}
}

# What new code does with the members: reads, writes, adds, compares, and an element of an array.
export USES='s/return conn->hits;/conn->extra += 2;\n	if (!conn->marks[3]++)\n		conn->extra = conn->extra * 10;\n	return conn->hits + 1000 * conn->extra--;/'

@test "old and new objects, at addresses that are used again, cleared, freed, and undone" {
	changed "$MEMBERS; $USES" --shadow=auto
	expect_status 0
	expect_message "warning: 'struct conn' keeps its form, with 'extra marks' in a shadow variable: all zero in objects that exist already"
	expect_message "warning: target.c:[0-9]+: 'room_zalloc' is taken for a function that gives room for a new 'struct conn'"
	fixture_start
	expect_answer 'touch 1' 1
	expect_answer 'touch 1' 2
	apply
	expect_status 0
	expect_answer 'touch 1' 20003
	expect_answer 'touch 1' 21004
	expect_answer 'sum 1' 6
	expect_answer 'touch 2' 20001
	expect_answer 'renew 2' same
	expect_answer 'touch 2' 20001
	expect_answer 'touch 2' 21002
	expect_answer 'clear 2' 0
	expect_answer 'touch 2' 20001
	tool uspl-view --json --id=auto "$TARGET"
	expect_output '"shadows":\[\{"name":"uspl_auto_conn","objects":2,"bytes":16,"module":"target"\}\]'
	undo
	expect_status 0
	expect_answer 'touch 1' 5
	apply
	expect_status 0
	expect_answer 'touch 1' 20006
	undo
	expect_status 0
	expect_fine
}

@test "a member whose address is kept: undo leaves it where it is, and there is nothing in it when it comes back" {
	changed "$MEMBERS; s/return conn->hits;/lent = \&conn->extra;\n	strcat(conn->marks, \"x\");\n	conn->extra += (long)strlen(conn->marks);\n&/" --shadow=auto
	expect_status 0
	expect_message "warning: target.c:[0-9]+: the address of the new member 'extra' of 'struct conn' is taken: what gets it has to do with zero bytes, and undo keeps what it leads to"
	expect_message "the address of the new member 'marks' of 'struct conn' is taken"
	fixture_start
	expect_answer 'touch 1' 1
	expect_answer 'lent' 0
	apply
	expect_status 0
	expect_answer 'touch 1' 2
	expect_answer 'touch 1' 3
	expect_answer 'lent' 3
	undo
	expect_status 0
	expect_answer 'lent' 3
	expect_answer 'touch 1' 4
	expect_answer 'lent' 3
	apply
	expect_status 0
	expect_answer 'lent' 3
	expect_answer 'touch 1' 5
	expect_answer 'lent' 1
	undo
	expect_status 0
	expect_answer 'lent' 1
	expect_fine
}

@test "two sources that use the new members, objects with something behind them, a member under another name" {
	changed "$MEMBERS; $USES; s/\<name\>;/title;/; s/conn->name\>/conn->title/
		s/room_zalloc(sizeof(\*conn))/room_zalloc(sizeof(*conn) + (unsigned int)id % 8)/
		s/return conn->id + conn->hits/return conn->extra + conn->hits/" --shadow=auto
	expect_status 0
	expect_message "warning: conn.h:[0-9]+: 'struct conn' changes: 'name' is called 'title' now"
	fixture_start
	expect_answer 'touch 1' 1
	expect_answer 'sum 1' 3
	apply
	expect_status 0
	expect_answer 'touch 1' 20002
	expect_answer 'sum 1' 22
	expect_answer 'sum 2' 1
	expect_answer 'touch 2' 20001
	expect_answer 'sum 2' 21
	expect_answer 'renew 2' same
	expect_answer 'sum 2' 1
	undo
	expect_status 0
	expect_answer 'sum 1' 4
	expect_fine
}

@test "bit-fields: among others in a run, as wide as they are, signed" {
	changed 's/^	unsigned int open : 1;/	unsigned int late : 2;\n&\n	int deep : 3, flat : 30;/
		s/return conn->hits;/conn->late++;\n	conn->deep += 3;\n	conn->flat--;\n	return conn->hits + 10 * conn->late + 100 * conn->deep + 10000 * conn->flat + 1000000 * conn->open;/' --shadow=auto
	expect_status 0
	expect_message "'struct conn' keeps its form, with 'late deep flat' in a shadow variable"
	fixture_start
	expect_answer 'touch 1' 1
	apply
	expect_status 0
	expect_answer 'touch 1' 990312
	expect_answer 'touch 1' 979823
	expect_answer 'touch 1' 970134
	expect_answer 'touch 1' 959605
	expect_answer 'touch 1' 949916
	expect_answer 'touch 2' 990311
	undo
	expect_status 0
	expect_answer 'touch 1' 7
	expect_fine
}

# What the next ones have in common: a member that has room behind 'id', declared at the end, and
# objects that are copied.
export ROOMY='s/^	const char .name;/&\n	int late;/; s/return conn->hits;/conn->late += 2;\n	return conn->hits + 1000 * conn->late;/'
export COPIES='s/^KEPT static long conn_touch/KEPT static void copy(struct conn *a, const struct conn *b) { *a = *b; }\n&/
	s/conn_free(all\[id\]);/struct conn kept;\n		copy(\&kept, all[id]);\n&/
	s/^		snprintf(reply, size, "%s", old/		copy(all[id], \&kept);\n&/'

@test "an object that is a variable of the program has a cell, too" {
	local tree=$BATS_TEST_TMPDIR/variable
	mkdir "$tree"
	cp -r "$FIXTURE/tree" "$tree"
	sed -i 's/^KEPT static long conn_touch/static struct conn one = { .hits = 40 };\nKEPT int flags(void) { return 0x48000000 | (int)0x80000000; }\n&/
		s/^	conn->hits++;/&\n	one.hits++;/; s/return conn->hits;/return conn->hits + 100 * one.hits;/' "$tree/tree/target.c"
	make -s -B -C "$tree/tree"
	FIXTURE=$tree
	changed "$MEMBERS; s/^	one.hits++;/&\n	one.extra++;\n	conn->marks[2] += 2;/
		s/return conn->hits + 100/return conn->marks[2] * 10000 + one.extra * 1000000 + conn->hits + 100/
		s/^	if (!strcmp(word, \"clear\"))/	if (!strcmp(word, \"zero\"))\n		memset(\&one, 0, sizeof(one));\n&/" --shadow=auto
	expect_status 0
	expect_message "'struct conn' keeps its form, with 'extra marks' in a shadow variable"
	fixture_start
	expect_answer 'touch 1' 4101
	apply
	expect_status 0
	expect_answer 'touch 1' 1024202
	expect_answer 'touch 2' 2024301
	expect_answer 'touch 1' 3044403
	expect_answer 'zero 3' 4
	expect_answer 'touch 1' 1060104
	undo
	expect_status 0
	expect_answer 'touch 1' 205
	apply
	expect_status 0
	expect_answer 'touch 1' 1020306
	undo
	expect_status 0
	expect_fine
}

@test "objects that are copied: the member goes where there is room, and lies in the object" {
	changed "$ROOMY; $COPIES" --shadow=auto
	expect_status 0
	expect_message "warning: 'struct conn' keeps its form, with 'late' where it has room, since it can't have that in a shadow variable \(target.c:[0-9]+ an object is copied, given or taken as a whole\): objects that exist already have there what the memory held"
	expect_message "warning: conn.h:[0-9]+: 'struct conn' changes: new member 'late'"
	fixture_start
	expect_answer 'touch 1' 1
	apply
	expect_status 0
	expect_answer 'touch 1' 2002
	expect_answer 'touch 1' 4003
	expect_answer 'renew 1' same
	expect_answer 'touch 1' 6004
	expect_answer 'clear 1' 0
	expect_answer 'touch 1' 2001
	expect_answer 'touch 2' 2001
	undo
	expect_status 0
	expect_answer 'touch 1' 2
	apply
	expect_status 0
	expect_answer 'touch 1' 4003
	undo
	expect_status 0
	expect_fine
}

@test "a structure without a tag gets the member where it has room; another one like it is refused" {
	local tree=$BATS_TEST_TMPDIR/tagless
	mkdir "$tree"
	cp -r "$FIXTURE/tree" "$tree"
	sed -i 's/^struct conn {/typedef struct {/; s/^};/} conn_t;/; s/struct conn\>/conn_t/' "$tree"/tree/*.[ch]
	make -s -B -C "$tree/tree"
	FIXTURE=$tree
	changed "$ROOMY; $MEMBERS" --shadow=auto
	expect_status 1
	expect_message "'conn_t' changes: .*new member 'extra'"
	changed "$ROOMY" --shadow=auto
	expect_status 0
	expect_message "warning: 'conn_t' keeps its form, with 'late' where it has room, since it can't have that in a shadow variable \(it has no tag\)"
	fixture_start
	expect_answer 'touch 1' 1
	apply
	expect_status 0
	expect_answer 'touch 1' 2002
	expect_answer 'touch 2' 2001
	expect_answer 'sum 1' 4
	undo
	expect_status 0
	expect_answer 'touch 1' 3
	expect_fine
	changed "$ROOMY; s/^KEPT static long conn_touch/typedef struct { int id, late; } other_t;\n&/" --shadow=auto
	expect_status 1
	expect_message "'conn_t' can't keep its form.*: there are several structures with these members"
}

@test "a member where there is room: values in the order of the declarations are refused, the first ones aren't" {
	local uses='s/return conn->hits/return two[1].id + conn->hits/; s/^KEPT static long conn_touch/static struct conn two[2] ='
	changed "$ROOMY; $uses { { 7 }, { 8 } };\n&/" --shadow=auto
	expect_status 0
	expect_message "\(target.c:[0-9]+ 'two' is an object that isn't allocated\)"
	changed "$ROOMY; $uses { { 7, 8 } };\n&/" --shadow=auto
	expect_status 1
	expect_one_message
	expect_message "'struct conn' can't keep its form.*: an object's members are given values in the order of their declarations"
	changed "$ROOMY; s/^KEPT static long conn_touch/KEPT static struct conn made(void) { return (struct conn){ .hits = 8 }; }\n&/" --shadow=auto
	expect_status 1
	expect_message "'struct conn' can't keep its form.*: an object's members are given values in the order of their declarations"
}

@test "several programs: one source defines what is kept beside the objects, in each; refused where none is in all" {
	local build uses="$MEMBERS; $USES; s/return conn->id + conn->hits/return conn->extra + conn->hits/"
	mkdir "$FIXTURE/tree/other"
	printf '%s\n' '#include "conn.h"' 'int main(void) { struct conn *one = room_zalloc(sizeof(*one)); return (int)conn_sum(one); }' \
		> "$FIXTURE/tree/other/main.c"
	printf '%s\n' 'void *room_zalloc(unsigned long n) { (void)n; return 0; }' 'void room_free(void *p) { (void)p; }' \
		'long conn_sum(const void *p) { return p != 0; }' 'void answer(const char *, char *, unsigned long);' \
		'int main(void) { char reply[8]; answer("sum 1", reply, sizeof(reply)); return 0; }' > "$FIXTURE/tree/other/third.c"
	build="make && $TARGET_CC -O2 -g -I. -c -o other/main.o other/main.c && $TARGET_CC -o other/other other/main.o room.o"
	changed "$uses" --shadow=auto --build="$build"
	expect_status 0
	changed "$uses" --shadow=auto --build="$build && $TARGET_CC -O2 -g -o other/third other/third.c target.o"
	rm -r "$FIXTURE/tree/other"
	expect_status 1
	expect_one_message
	expect_message "several programs make objects of 'struct conn', or use the new members 'extra marks', and no source that does is in all of them \('[a-z/]+.c' isn't in '[a-z/]+'\)"
}

@test "refused: a program and a library with one object in both, which one process may have" {
	local cc="$TARGET_CC -O2 -g -fPIC -fvisibility=hidden"
	changed "$MEMBERS; $USES; s/return conn->id + conn->hits/return conn->extra + conn->hits/" --shadow=auto \
		--build="make CFLAGS='-O2 -g -fPIC -fvisibility=hidden' && $cc -shared -o libroom.so room.o"
	expect_status 1
	expect_one_message
	expect_message "the variable 'uspl_auto_conn' is new in '(target|libroom.so)' and in '(target|libroom.so)', which would have one for both"
	expect_message 'hint: .*--target=NAME'
}

@test "without it such a member is refused" {
	changed "$MEMBERS; $USES"
	expect_status 1
	expect_one_message
	expect_message "'struct conn' changes: new member 'extra'"
}

# refused SED REGEX - with the members and a use of them
refused() {
	changed "$MEMBERS; $USES; $1" --shadow=auto
	expect_status 1 && expect_one_message && expect_message "'struct conn' can't keep its form.*: $2" || return
}

@test "refused: what happens to the bytes of an object without its members' names" {
	local touch='s/^KEPT static long conn_touch/'
	refused "$touch"'KEPT static void copy(struct conn *a, const struct conn *b) { *a = *b; }\n&/' \
		'an object is copied, given or taken as a whole'
	refused "$touch"'KEPT static void copy(void *a, const struct conn *b, int n) { memcpy(a, b, n); }\n&/' \
		"'memcpy' gets an object as a mere address, and may copy or move it"
	refused "$touch"'KEPT static struct conn *grow(struct conn *a) { return realloc(a, sizeof(*a)); }\n&/' \
		"'realloc' gets an object as a mere address, and may copy or move it"
	refused "$touch"'KEPT static struct conn *many(int n) { return calloc(n, sizeof(struct conn)); }\n&/' \
		"'calloc' may make several objects at once"
	refused "$touch"'KEPT static struct conn *pair(void) { return malloc(sizeof(struct conn) * 2 + 1); }\n&/' \
		"'malloc' may make several objects at once"
	refused "$touch"'KEPT static struct conn *more(int n) { return malloc(sizeof(struct conn) + n * sizeof(struct conn)); }\n&/' \
		"'malloc' may make several objects at once"
	refused "$touch"'KEPT static struct conn *less(void) { return malloc(sizeof(struct conn) - 1); }\n&/' \
		"'malloc' may make several objects at once"
	refused "$touch"'KEPT static struct conn *next(struct conn *a) { return a + 1; }\n&/' 'objects lie side by side'
	refused "$touch"'KEPT static struct conn *made(void) { void *a = malloc(sizeof(struct conn)); return a; }\n&/' \
		'the size of an object is used for more than to make or clear one'
	refused "$touch"'KEPT static void half(struct conn *a) { memset(a, 0, sizeof(*a) \/ 2); }\n&/' \
		"'memset' gets an object as a mere address"
	refused "$touch"'KEPT static void some(struct conn *a) { memset(\&a->id, 0, __builtin_offsetof(struct conn, name)); }\n&/' \
		'the place of a member is used as a number'
	refused "$touch"'KEPT static void range(struct conn *a) { memset(\&a->id, 0, (unsigned long)((char *)\&a->name - (char *)\&a->id)); }\n&/' \
		'the place of a member is used as a number'
	refused "$touch"'void *elsewhere(void *);\nKEPT static void move(struct conn *a) { all[0] = elsewhere(a); }\n&/' \
		"'elsewhere' gets an object as a mere address, and may copy or move it"
}

@test "refused: objects that aren't on the heap by themselves, wide alignment" {
	local touch='s/^KEPT static long conn_touch/'
	refused "$touch"'KEPT static long here(int n) { struct conn one; one.hits = n; return conn_sum(\&one); }\n&/' \
		"'one' is an object that isn't allocated"
	refused "$touch"'static __thread struct conn one;\n&/' "'one' is an object that isn't allocated"
	refused "$touch"'static struct conn two[2];\n&/' "'two' is an object that isn't allocated"
	refused "$touch"'static struct conn one = { 7, 8 };\n&/' "the new member 'extra' of a variable is given a value"
	refused "$touch"'static struct conn one;\nlong *const at = \&one.extra;\n&/' \
		'a variable holds the address of a new member from the start on'
	refused "$touch"'static struct conn one;\nlong **at = (long *[]){ 0, \&one.extra };\n&/' \
		'a variable holds the address of a new member from the start on'
	refused "$touch"'void elsewhere(const long *);\nKEPT static void sizes(void) { elsewhere((long[]){ sizeof(struct conn) }); }\n&/' \
		'the size of an object is used for more than to make or clear one'
	refused "$touch"'static struct conn one;\nKEPT static void keep(struct conn *a) { one = *a; }\n&/' \
		'an object is copied, given or taken as a whole'
	refused "$touch"'struct two { struct conn a, b; };\n&/' "an object is a part of 'two'"
	refused 's/^	long extra;/	long extra __attribute__((aligned(32)));/' "the new member 'extra' has no size, or is aligned to more than 16 bytes"
}

@test "refused: other changes of the structure, a series" {
	changed "$MEMBERS; $USES; s/^	const char .name;/	const char *title, *subtitle;/; s/conn->name\>/conn->title/" --shadow=auto
	expect_status 1
	expect_message "'struct conn' changes: .*new member 'title'"
	changed "$MEMBERS; $USES; s/^	int id;/	short id;/" --shadow=auto
	expect_status 1
	expect_message "'struct conn' changes: 'id' changes from 'int' to 'short int', new member 'extra'"
	tool uspl-create --source="$FIXTURE/tree" --series="$BATS_TEST_TMPDIR" --shadow=auto
	expect_status 2
	expect_message '--shadow=auto is for one update, not for a series'
	tool uspl-create --source="$FIXTURE/tree" --patch=x --shadow=all
	expect_status 2
	expect_message "--shadow can only be 'auto'"
}

@test "an update on top, of a source with the members in it, is refused by apply where it meets the structure" {
	local first
	changed "$MEMBERS; $USES" --shadow=auto
	expect_status 0
	first=$BATS_TEST_TMPDIR/first.tar.gz
	mv "$UPDATE" "$first"
	fixture_start
	UPDATE=$first
	apply
	expect_status 0
	mkdir "$BATS_TEST_TMPDIR/on-top"
	cp -r "$FIXTURE/tree" "$BATS_TEST_TMPDIR/on-top"
	cp "$BATS_TEST_TMPDIR"/new/b/* "$BATS_TEST_TMPDIR/on-top/tree"
	FIXTURE=$BATS_TEST_TMPDIR/on-top AS=top
	changed 's/return conn->id + conn->hits/return conn->id + 2 * conn->hits/' --after="$first"
	expect_status 0
	apply
	expect_status 1
	expect_answer 'touch 1' 20001
	expect_answer 'sum 1' 3
	changed 's/return conn->hits + 1000/return conn->hits + 2000/' --after="$first"
	expect_status 0
	apply
	expect_status 1
	expect_answer 'touch 1' 21002
	expect_fine
}

@test "a compiler without the headers for plugins, and another compiler" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	cat > "$BATS_TEST_TMPDIR/bin/$(basename "$TARGET_CC")" <<- END
		#!/bin/sh
		for word; do
			[ "\$word" != -print-file-name=plugin ] || { echo /nowhere/plugin; exit 0; }
		done
		exec $(command -v "$TARGET_CC") "\$@"
	END
	chmod +x "$BATS_TEST_TMPDIR/bin/$(basename "$TARGET_CC")"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH changed "$MEMBERS; $USES" --shadow=auto
	expect_status 1
	expect_message "the headers for plugins of the compiler of '[a-z]+.c', gcc [0-9.]+, aren't installed"
	expect_message 'hint: they are in the package gcc-[0-9]+-plugin-dev'
}
