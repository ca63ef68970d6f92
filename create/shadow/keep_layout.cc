// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * keep_layout.cc - a plugin of gcc: structures keep their old layout, and new members lie elsewhere
 *
 * uspl-create compiles this for the gcc that it finds, and sources with it (shadow_auto.c). Of each
 * structure that is named in SPEC the members that are new are taken out of the layout; each access
 * to one becomes an access to the object's cell, which "uspl_auto_TYPE_at" finds by the object's
 * address. Where an object is made or cleared, its cell is dropped ("uspl_auto_TYPE_drop").
 *
 * "NEW>OLD" in the place of a member's name: that one is laid out right behind OLD, where the
 * structure has room. Such a structure, which may have no tag ("?TYPEDEF"), is as if it were
 * declared so, and nothing else is looked at but whether its members are given their first values
 * in the order that they are declared in.
 *
 * That is right only if all that happens to an object's bytes is seen. So the source is compiled
 * for its facts first (mode=scan): the structure has a size there, and its members have offsets,
 * that occur nowhere else. Whatever goes by the size of an object, or by where a member behind a
 * new one lies, then has such a number in it, however it was written. What isn't known to be
 * harmless is a fact that begins with "no".
 *
 * FACTS has a line each, with tabs: sees TYPE CELL-SIZE; uses TYPE; takes TYPE PLACE FUNCTION,
 * which is taken for an allocator; lends TYPE PLACE MEMBER, a new one whose address is taken; no
 * TYPE PLACE REASON.
 *
 * C only. Nested functions of gcc's and variables of variable size aren't looked into.
 */
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gcc-plugin.h"
#include "plugin-version.h"
#include "tree.h"
#include "tree-iterator.h"
#include "stringpool.h"
#include "attribs.h"
#include "stor-layout.h"
#include "debug.h"
#include "diagnostic-core.h"
#include "fold-const.h"
#include "langhooks.h"

int plugin_is_GPL_compatible;

/*
 * In scan mode: an object's size, which alignments divide, so that there may be arrays; where new
 * members lie, where the old ones behind them begin. None of them, nor a difference of two, is near
 * a number of few bits: programs have such ones as flags.
 */
static const HOST_WIDE_INT mark_size = 0x35a4e900, mark_far = 0x51c3d203, mark_new = 0x6d71c605;
/* What is computed from a mark is that close to it. */
static const HOST_WIDE_INT near_by = 1 << 20;
/* Cells are aligned to so many bytes. */
static const unsigned cell_align = 16;

struct shadowed {
	std::string name;
	bool tagless = false; /* the name is a typedef's, which isn't known yet */
	std::set<std::string> members;
	tree type = NULL_TREE;      /* its main variant, once it is complete */
	tree cell = NULL_TREE;      /* the structure of a cell */
	std::map<tree, tree> cells; /* a new member -> the same one of the cell */
	std::set<tree> lent;        /* new members whose address is taken */
	tree at = NULL_TREE, drop = NULL_TREE;
	bool uses = false;
	/* Not empty: new members are declared behind others, and there is no cell. */
	std::vector<std::pair<std::string, std::string>> moves;
	tree first_moved = NULL_TREE; /* of all members the first one that isn't where it was */
};

static std::vector<shadowed> all;
static std::set<tree> looked_into;
static std::set<tree> saved; /* SAVE_EXPRs that were seen in this function */
static std::set<tree> made;  /* members of cells, in expressions that occur in two places */
static std::set<std::string> told;
static bool scan, in_c;
static bool in_value; /* within what a variable holds from the start on */
static FILE *facts;
static location_t here;

static void tell(const std::string &line)
{
	if (told.insert(line).second)
		fprintf(facts, "%s\n", line.c_str());
}

static std::string place(location_t at)
{
	expanded_location loc = expand_location(at);

	/* Lines that the patch adds are numbered from a million on (create/tree/lines.h). */
	return std::string(loc.file ? loc.file : "?") + ":" + std::to_string(loc.line % 1000000);
}

static void refuse(const shadowed &s, const std::string &why)
{
	tell("no\t" + s.name + "\t" + place(here) + "\t" + why);
}

static void refuse_several(const shadowed &s)
{
	refuse(s, s.tagless ? "there are several structures with these members"
			    : "there are several structures of that name");
}

static void note_use(shadowed &s)
{
	s.uses = true;
	tell("uses\t" + s.name);
}

static const char *text_of(tree name)
{
	if (name && TREE_CODE(name) == TYPE_DECL)
		name = DECL_NAME(name);
	return name && TREE_CODE(name) == IDENTIFIER_NODE ? IDENTIFIER_POINTER(name) : "";
}

/* ---- types ---- */

/* The structure that this type is, in all of its variants. */
static shadowed *shadowed_of(tree type)
{
	if (!type || TREE_CODE(type) != RECORD_TYPE)
		return NULL;
	for (shadowed &s : all)
		if (s.type && s.moves.empty() && TYPE_MAIN_VARIANT(type) == s.type)
			return &s;
	return NULL;
}

static shadowed *pointed_of(tree type)
{
	return type && POINTER_TYPE_P(type) ? shadowed_of(TREE_TYPE(type)) : NULL;
}

static shadowed *element_of(tree type)
{
	while (type && TREE_CODE(type) == ARRAY_TYPE)
		type = TREE_TYPE(type);
	return shadowed_of(type);
}

static void set_size(tree type, tree bits, tree bytes)
{
	for (tree v = type; v; v = TYPE_NEXT_VARIANT(v)) {
		TYPE_SIZE(v) = bits;
		TYPE_SIZE_UNIT(v) = bytes;
	}
}

static void set_fields(tree type, const std::vector<tree> &fields)
{
	tree first = fields.empty() ? NULL_TREE : fields[0];

	for (size_t i = 0; i < fields.size(); i++)
		DECL_CHAIN(fields[i]) = i + 1 < fields.size() ? fields[i + 1] : NULL_TREE;
	for (tree v = type; v; v = TYPE_NEXT_VARIANT(v))
		TYPE_FIELDS(v) = first;
}

/* In scan mode: sizes and offsets that can be told from all other numbers. */
static void mark_layout(const std::vector<tree> &fields, const shadowed &s)
{
	bool behind = false;

	for (tree field : fields) {
		bool is_new = s.cells.count(field);
		tree offset = DECL_FIELD_OFFSET(field);

		behind |= is_new;
		if (behind && !is_new && tree_fits_uhwi_p(offset))
			DECL_FIELD_OFFSET(field) = size_int(mark_far + tree_to_uhwi(offset));
	}
	set_size(s.type, bitsize_int(mark_size * 8), size_int(mark_size));
}

/* Lays a structure out that consists of these members. */
static void lay_out_again(tree type, const std::vector<tree> &fields)
{
	std::map<tree, tree> narrow; /* a bit-field -> its type of so many bits */

	/* As the front end gives them to layout_type: of the declared type, and of so many bits. */
	for (tree f : fields) {
		if (TREE_CODE(f) != FIELD_DECL || !DECL_BIT_FIELD_TYPE(f))
			continue;
		narrow[f] = TREE_TYPE(f);
		TREE_TYPE(f) = DECL_BIT_FIELD_TYPE(f);
		DECL_BIT_FIELD(f) = 1;
		SET_DECL_MODE(f, VOIDmode);
		if (!DECL_USER_ALIGN(f))
			SET_DECL_ALIGN(f, 1);
	}
	set_fields(type, fields);
	set_size(type, NULL_TREE, NULL_TREE);
	if (!TYPE_USER_ALIGN(type))
		SET_TYPE_ALIGN(type, BITS_PER_UNIT);
	SET_TYPE_MODE(type, VOIDmode);
	layout_type(type);
	for (auto &f : narrow)
		TREE_TYPE(f.first) = f.second;
}

/* Can the new member lie in a cell? */
static bool fits_cell(const shadowed &s, tree field)
{
	tree type = TREE_TYPE(field), size = TYPE_SIZE_UNIT(type);

	if (size && tree_fits_uhwi_p(size) && TYPE_ALIGN_UNIT(type) <= cell_align &&
	    DECL_ALIGN_UNIT(field) <= cell_align)
		return true;
	refuse(s, std::string("the new member '") + text_of(DECL_NAME(field)) +
			  "' has no size, or is aligned to more than 16 bytes");
	return false;
}

/* The structure of a cell has members like the new ones. */
static void make_cell(shadowed &s, const std::vector<tree> &added)
{
	std::vector<tree> members;

	s.cell = make_node(RECORD_TYPE);
	for (tree field : added) {
		members.push_back(copy_node(field));
		DECL_CONTEXT(members.back()) = s.cell;
		s.cells[field] = members.back();
	}
	lay_out_again(s.cell, members);
}

/* Lays the structure out as if it hadn't the new members; these stay known by their names. */
static void lay_out(shadowed &s)
{
	std::vector<tree> fields, old, added;
	std::set<std::string> missing = s.members;

	for (tree f = TYPE_FIELDS(s.type); f; f = DECL_CHAIN(f))
		fields.push_back(f);
	for (tree f : fields) {
		bool is_new = TREE_CODE(f) == FIELD_DECL && missing.erase(text_of(DECL_NAME(f)));

		if (is_new && !fits_cell(s, f))
			return;
		(is_new ? added : old).push_back(f);
	}
	if (!missing.empty() || old.empty()) {
		refuse_several(s);
		return;
	}
	make_cell(s, added);
	lay_out_again(s.type, old);
	for (tree f : added) {
		DECL_FIELD_OFFSET(f) = scan ? size_int(mark_new) : TYPE_SIZE_UNIT(s.type);
		DECL_FIELD_BIT_OFFSET(f) = bitsize_zero_node;
		SET_DECL_OFFSET_ALIGN(f, BITS_PER_UNIT);
		DECL_IGNORED_P(f) = 1;
	}
	set_fields(s.type, fields);
	if (scan)
		mark_layout(fields, s);
}

static size_t index_of(const std::vector<tree> &fields, const std::string &name)
{
	size_t i = 0;

	while (i < fields.size() &&
	       (TREE_CODE(fields[i]) != FIELD_DECL || name != text_of(DECL_NAME(fields[i]))))
		i++;
	return i;
}

/* Lays the structure out as if its new members were declared where there is room for them. */
static void move_members(shadowed &s)
{
	std::vector<tree> declared, fields;

	for (tree f = TYPE_FIELDS(s.type); f; f = DECL_CHAIN(f))
		declared.push_back(f);
	fields = declared;
	for (auto &move : s.moves) {
		size_t from = index_of(fields, move.first), to;
		tree field = from < fields.size() ? fields[from] : NULL_TREE;

		if (field)
			fields.erase(fields.begin() + (long)from);
		to = index_of(fields, move.second);
		if (!field || to == fields.size()) {
			refuse_several(s);
			return;
		}
		fields.insert(fields.begin() + (long)to + 1, field);
	}
	for (size_t i = 0; i < fields.size() && !s.first_moved; i++)
		if (fields[i] != declared[i])
			s.first_moved = fields[i];
	lay_out_again(s.type, fields);
}

/* Values for the members, in their order. */
static void check_values(tree values)
{
	for (shadowed &s : all) {
		bool behind = false;
		unsigned HOST_WIDE_INT i;
		tree index, value;

		if (!s.first_moved || !TREE_TYPE(values) ||
		    TYPE_MAIN_VARIANT(TREE_TYPE(values)) != s.type)
			continue;
		FOR_EACH_CONSTRUCTOR_ELT (CONSTRUCTOR_ELTS(values), i, index, value) {
			for (tree f = TYPE_FIELDS(s.type); f && f != index; f = DECL_CHAIN(f))
				behind |= f == s.first_moved;
			behind |= index == s.first_moved;
		}
		if (behind)
			refuse(s, "an object's members are given values in the order of their "
				  "declarations");
	}
}

/* What a number has to do with a structure's size or its members' places. */
enum number { NUMBER_OTHER, NUMBER_SIZE, NUMBER_OF_SIZE, NUMBER_OF_PLACE };

static bool is_near(HOST_WIDE_INT value, HOST_WIDE_INT mark)
{
	return value > mark - near_by && value < mark + near_by;
}

static enum number number_of(tree cst)
{
	HOST_WIDE_INT value;

	if (!scan || TREE_CODE(cst) != INTEGER_CST || !tree_fits_shwi_p(cst))
		return NUMBER_OTHER;
	value = tree_to_shwi(cst);
	if (value < 0)
		value = -value;
	if (value == mark_size)
		return NUMBER_SIZE;
	if (value < mark_size / 128)
		return NUMBER_OTHER;
	if (is_near(value, mark_far) || is_near(value, mark_new) ||
	    is_near(value, mark_far - mark_size) || is_near(value, mark_new - mark_size) ||
	    is_near(value, mark_new - mark_far))
		return NUMBER_OF_PLACE;
	for (int n = 1; n <= 64; n++)
		if (is_near(value, mark_size * n) || is_near(value * n, mark_size))
			return NUMBER_OF_SIZE;
	return NUMBER_OTHER;
}

static void check_number(tree cst)
{
	/* Which structure it is of can't be told: each of those that are known by now. */
	for (shadowed &s : all) {
		if (!s.type || !s.moves.empty())
			continue;
		switch (number_of(cst)) {
		case NUMBER_SIZE:
		case NUMBER_OF_SIZE:
			refuse(s, "the size of an object is used for more than to make or "
				  "clear one");
			break;
		case NUMBER_OF_PLACE:
			refuse(s, "the place of a member is used as a number (offsetof)");
			break;
		default:
			break;
		}
	}
}

/* Another structure: has it one of ours in it, or room by the size of one? */
static void look_into(tree type)
{
	if (!looked_into.insert(type).second)
		return;
	for (tree f = TYPE_FIELDS(type); f; f = DECL_CHAIN(f)) {
		shadowed *s = TREE_CODE(f) == FIELD_DECL ? element_of(TREE_TYPE(f)) : NULL;

		if (!s)
			continue;
		here = DECL_SOURCE_LOCATION(f);
		refuse(*s,
		       std::string("an object is a part of '") + text_of(TYPE_NAME(type)) + "'");
	}
	if (TYPE_SIZE_UNIT(type))
		check_number(TYPE_SIZE_UNIT(type));
}

/* Is this the structure by that tag, or one without that has the members? */
static bool is_wanted(const shadowed &s, tree type)
{
	std::set<std::string> names;

	if (TREE_CODE(type) != RECORD_TYPE || !s.tagless)
		return TREE_CODE(type) == RECORD_TYPE && s.name == text_of(TYPE_NAME(type));
	for (tree f = TYPE_FIELDS(type); f; f = DECL_CHAIN(f))
		names.insert(text_of(DECL_NAME(f)));
	for (auto &move : s.moves)
		if (!names.count(move.first) || !names.count(move.second))
			return false;
	return !TYPE_NAME(type);
}

static void on_type(void *event, void *)
{
	tree type = (tree)event;

	if (!type || type == error_mark_node || !RECORD_OR_UNION_TYPE_P(type))
		return;
	type = TYPE_MAIN_VARIANT(type);
	if (!COMPLETE_TYPE_P(type))
		return;
	for (shadowed &s : all) {
		if (s.type == type)
			return;
		if (!is_wanted(s, type))
			continue;
		here = TYPE_STUB_DECL(type) ? DECL_SOURCE_LOCATION(TYPE_STUB_DECL(type))
					    : input_location;
		if (s.type) {
			refuse_several(s);
			return;
		}
		s.type = type;
		if (!in_c)
			refuse(s, "the source isn't in C");
		else if (s.moves.empty())
			lay_out(s);
		else
			move_members(s);
		tell("sees\t" + s.name + "\t" +
		     std::to_string(s.cell ? tree_to_uhwi(TYPE_SIZE_UNIT(s.cell)) : 0));
		return;
	}
	look_into(type);
}

/* The compiler's own, and the same with one function of ours. */
static const struct gcc_debug_hooks *own_hooks;
static struct gcc_debug_hooks our_hooks;

/* A structure is described as soon as it is complete, before on_type. */
static void describe_type(tree decl, int local)
{
	on_type(TREE_TYPE(decl), NULL);
	own_hooks->type_decl(decl, local);
}

static void on_start(void *, void *)
{
	own_hooks = debug_hooks;
	our_hooks = *debug_hooks;
	our_hooks.type_decl = describe_type;
	debug_hooks = &our_hooks;
}

/* ---- code ---- */

static tree strip(tree t)
{
	while (t && (CONVERT_EXPR_P(t) || TREE_CODE(t) == NON_LVALUE_EXPR))
		t = TREE_OPERAND(t, 0);
	return t;
}

/* What a call is to: the name of a function, or of the variable or member that points to it. */
static std::string callee_of(tree call)
{
	tree fn = CALL_EXPR_FN(call);

	for (int i = 0; fn && i < 16; i++) {
		fn = strip(fn);
		switch (TREE_CODE(fn)) {
		case FUNCTION_DECL:
		case VAR_DECL:
		case PARM_DECL:
			return text_of(DECL_NAME(fn));
		case COMPONENT_REF:
			return text_of(DECL_NAME(TREE_OPERAND(fn, 1)));
		case CALL_EXPR:
			fn = CALL_EXPR_FN(fn);
			break;
		case ADDR_EXPR:
		case INDIRECT_REF:
		case SAVE_EXPR:
			fn = TREE_OPERAND(fn, 0);
			break;
		default:
			return "";
		}
	}
	return "";
}

static bool has_word(const std::string &name, const char *word)
{
	return strcasestr(name.c_str(), word) != NULL;
}

static tree visit(tree *tp, int *walk, void *);

static void go_into(tree *tp)
{
	walk_tree(tp, visit, NULL, NULL);
}

static tree drop_call(shadowed &s, tree pointer)
{
	return build_call_expr(s.drop, 1, fold_convert(const_ptr_type_node, pointer));
}

/* Before `what` is evaluated the cell of the object goes. */
static tree drop_before(shadowed &s, tree pointer, tree what)
{
	tree both = build2(COMPOUND_EXPR, TREE_TYPE(what), drop_call(s, pointer), what);

	TREE_SIDE_EFFECTS(both) = 1;
	return both;
}

/* The same of a call that gets the object first. */
static void drop_before_call(shadowed &s, tree *tp)
{
	tree call = *tp, object = save_expr(CALL_EXPR_ARG(call, 0));

	saved.insert(object);
	CALL_EXPR_ARG(call, 0) = object;
	*tp = drop_before(s, object, call);
}

static bool has_functions(shadowed &s)
{
	if (s.at && s.drop)
		return true;
	refuse(s, "the functions for its cells are missing");
	return false;
}

/* "object->member", the member being a new one. */
static tree cell_of(shadowed &s, tree ref, tree pointer)
{
	tree cell, at;

	if (!has_functions(s))
		return ref;
	cell = build_call_expr(s.at, 1, fold_convert(const_ptr_type_node, pointer));
	/* It may be called once more, or never: nothing but the cell comes of it. */
	TREE_SIDE_EFFECTS(cell) = TREE_SIDE_EFFECTS(pointer);
	cell = build1(INDIRECT_REF, s.cell, fold_convert(build_pointer_type(s.cell), cell));
	at = build3(COMPONENT_REF, TREE_TYPE(ref), cell, s.cells[TREE_OPERAND(ref, 1)], NULL_TREE);
	TREE_THIS_VOLATILE(at) = TREE_THIS_VOLATILE(ref);
	TREE_SIDE_EFFECTS(at) = TREE_SIDE_EFFECTS(ref);
	made.insert(at);
	return at;
}

/* The structure of which a part of an object is a member; NULL: of none of ours. */
static shadowed *holder_of(tree part)
{
	return TREE_CODE(part) == COMPONENT_REF ? shadowed_of(TREE_TYPE(TREE_OPERAND(part, 0)))
						: NULL;
}

/* A variable that is there from the start to the end, once: its cell is never another object's. */
static bool is_lasting(tree decl)
{
	return VAR_P(decl) && (TREE_STATIC(decl) || DECL_EXTERNAL(decl)) &&
	       !DECL_THREAD_LOCAL_P(decl);
}

/* A member of one of ours; true: all below it was seen. */
static bool visit_member(tree *tp)
{
	tree ref = *tp, object = TREE_OPERAND(ref, 0), pointer = NULL_TREE;
	shadowed *s = shadowed_of(TREE_TYPE(object));

	if (!s)
		return false;
	if (TREE_CODE(object) == INDIRECT_REF) {
		go_into(&TREE_OPERAND(object, 0));
		pointer = TREE_OPERAND(object, 0);
	} else if (!is_lasting(object)) {
		refuse(*s, "an object isn't reached by a pointer");
		return false;
	}
	if (!s->cells.count(TREE_OPERAND(ref, 1)))
		return true;
	note_use(*s);
	if (in_value)
		refuse(*s, "a variable holds the address of a new member from the start on");
	if (scan || in_value)
		return true;
	if (!pointer) {
		TREE_ADDRESSABLE(object) = 1;
		pointer = build_fold_addr_expr(object);
	}
	*tp = cell_of(*s, ref, pointer);
	return true;
}

/* True: all below it was seen. */
static bool visit_address(tree t)
{
	tree of = TREE_OPERAND(t, 0);

	for (tree part = of; handled_component_p(part); part = TREE_OPERAND(part, 0)) {
		shadowed *s = holder_of(part);

		if (s && s->cells.count(TREE_OPERAND(part, 1)) &&
		    s->lent.insert(TREE_OPERAND(part, 1)).second)
			tell("lends\t" + s->name + "\t" + place(here) + "\t" +
			     text_of(DECL_NAME(TREE_OPERAND(part, 1))));
	}
	if (TREE_CODE(of) != INDIRECT_REF || !shadowed_of(TREE_TYPE(of)))
		return false;
	go_into(&TREE_OPERAND(of, 0));
	return true;
}

/* The structure of whose members one has this address; NULL: it is no such address. */
static shadowed *member_at(tree t)
{
	t = strip(t);
	if (!t || TREE_CODE(t) != ADDR_EXPR)
		return NULL;
	for (t = TREE_OPERAND(t, 0); handled_component_p(t); t = TREE_OPERAND(t, 0))
		if (shadowed *s = holder_of(t))
			return s;
	return NULL;
}

/*
 * The size of one object, to which something may be added that goes by no object's size: there the
 * program keeps what it can't reach by an object's members. *more: what is added; NULL: nothing is,
 * or a constant.
 */
static bool is_object_size(tree *size, tree **more)
{
	tree stripped = strip(*size);

	*more = NULL;
	if (TREE_CODE(stripped) == INTEGER_CST && number_of(stripped) != NUMBER_OTHER)
		return number_of(stripped) == NUMBER_SIZE ||
		       (number_of(stripped) == NUMBER_OF_SIZE &&
			tree_to_shwi(stripped) > mark_size &&
			is_near(tree_to_shwi(stripped), mark_size));
	if (TREE_CODE(stripped) != PLUS_EXPR)
		return false;
	for (int i = 0; i < 2; i++) {
		tree part = strip(TREE_OPERAND(stripped, i));

		if (TREE_CODE(part) != INTEGER_CST || !is_object_size(&part, more))
			continue;
		*more = &TREE_OPERAND(stripped, !i);
		return true;
	}
	return false;
}

/* A call whose result becomes a pointer to an object: is one made? True: all below was seen. */
static bool visit_birth(tree *tp, shadowed &s)
{
	tree call = strip(TREE_OPERAND(*tp, 0));
	bool all_one, sized = false;
	std::string name;

	if (!call || TREE_CODE(call) != CALL_EXPR)
		return false;
	name = callee_of(call);
	if (!has_word(name, "alloc") || has_word(name, "realloc") || has_word(name, "recalloc"))
		return false;
	for (int i = 0; i < call_expr_nargs(call); i++)
		if (pointed_of(TREE_TYPE(strip(CALL_EXPR_ARG(call, i)))))
			return false;
	all_one = has_word(name, "calloc") || has_word(name, "array");
	for (int i = 0; i < call_expr_nargs(call); i++) {
		tree *arg = &CALL_EXPR_ARG(call, i), stripped = strip(*arg);
		bool is_number = INTEGRAL_TYPE_P(TREE_TYPE(stripped));
		bool is_constant = TREE_CODE(stripped) == INTEGER_CST;
		tree *more;

		if (is_object_size(arg, &more)) {
			sized = true;
			if (more)
				go_into(more);
			continue;
		}
		/* How many? Behind the size a constant may be a flag, or a line of the source. */
		if (scan && is_number && !integer_onep(stripped) &&
		    (all_one || !sized || !is_constant))
			refuse(s, "'" + name + "' may make several objects at once");
		go_into(arg);
	}
	note_use(s);
	tell("takes\t" + s.name + "\t" + place(here) + "\t" + name);
	if (!scan && has_functions(s)) {
		tree made = save_expr(TREE_OPERAND(*tp, 0));

		saved.insert(made);
		TREE_OPERAND(*tp, 0) = drop_before(s, made, made);
	}
	return true;
}

/* memset of a whole object; true: all below was seen. */
static bool visit_clear(tree *tp, shadowed &s, const std::string &name)
{
	tree call = *tp;
	int n = call_expr_nargs(call), size = name == "memset" ? 2 : 1;
	tree len;

	if ((name != "memset" && name != "bzero" && name != "explicit_bzero") || n != size + 1)
		return false;
	len = strip(CALL_EXPR_ARG(call, size));
	if (!pointed_of(TREE_TYPE(strip(CALL_EXPR_ARG(call, 0)))) ||
	    (size == 2 && !integer_zerop(CALL_EXPR_ARG(call, 1))) ||
	    TREE_CODE(len) != INTEGER_CST || (scan && number_of(len) != NUMBER_SIZE))
		return false;
	go_into(&CALL_EXPR_ARG(call, 0));
	note_use(s);
	if (!scan && has_functions(s))
		drop_before_call(s, tp);
	return true;
}

/* What a variable holds from the start on, or at the beginning of its function. */
static void visit_first_value(tree decl)
{
	bool outer = in_value;

	if (!DECL_INITIAL(decl) || DECL_INITIAL(decl) == error_mark_node)
		return;
	in_value = TREE_STATIC(decl);
	go_into(&DECL_INITIAL(decl));
	in_value = outer;
}

/* A call that gets an object as a mere address; true: all below was seen. */
static bool visit_given(tree *tp, shadowed &s)
{
	tree call = *tp, type = TREE_TYPE(call);
	std::string name = callee_of(call);

	if (visit_clear(tp, s, name))
		return true;
	if (name == "free") {
		if (scan || !s.drop || !s.uses)
			return false;
		go_into(&CALL_EXPR_ARG(call, 0));
		drop_before_call(s, tp);
		return true;
	}
	if ((POINTER_TYPE_P(type) && VOID_TYPE_P(TREE_TYPE(type))) || has_word(name, "cpy") ||
	    has_word(name, "copy") || has_word(name, "move") || has_word(name, "dup") ||
	    has_word(name, "swap") || has_word(name, "memset") || has_word(name, "bzero"))
		refuse(s, "'" + name +
				  "' gets an object as a mere address, and may copy or move "
				  "it");
	return false;
}

static bool visit_call(tree *tp)
{
	for (int i = 0; i < call_expr_nargs(*tp); i++) {
		tree arg = CALL_EXPR_ARG(*tp, i);
		shadowed *s = pointed_of(TREE_TYPE(strip(arg)));

		if (s && !pointed_of(TREE_TYPE(arg)))
			return visit_given(tp, *s);
	}
	return false;
}

static void visit_conversion(tree t)
{
	tree from = TREE_TYPE(TREE_OPERAND(t, 0));
	shadowed *s = POINTER_TYPE_P(from) ? pointed_of(TREE_TYPE(from)) : NULL;

	if (s && POINTER_TYPE_P(TREE_TYPE(t)) && !pointed_of(TREE_TYPE(TREE_TYPE(t))))
		refuse(*s, "the address of a pointer to an object becomes another one's");
}

static tree visit(tree *tp, int *walk, void *)
{
	tree t = *tp;
	bool done = false;
	shadowed *s;

	if (TYPE_P(t)) {
		*walk = 0;
		return NULL_TREE;
	}
	if (EXPR_P(t) && EXPR_HAS_LOCATION(t))
		here = EXPR_LOCATION(t);
	switch (TREE_CODE(t)) {
	case SAVE_EXPR:
		done = !saved.insert(t).second;
		break;
	case INTEGER_CST:
		check_number(t);
		break;
	case CONSTRUCTOR:
		check_values(t);
		break;
	case COMPOUND_LITERAL_EXPR:
		visit_first_value(COMPOUND_LITERAL_EXPR_DECL(t));
		break;
	case COMPONENT_REF:
		done = made.count(t) || visit_member(tp);
		break;
	case ADDR_EXPR:
		done = visit_address(t);
		break;
	case CALL_EXPR:
		done = visit_call(tp);
		break;
	CASE_CONVERT:
		s = pointed_of(TREE_TYPE(t));
		done = s && visit_birth(tp, *s);
		if (!done)
			visit_conversion(t);
		break;
	case POINTER_DIFF_EXPR:
	case MINUS_EXPR:
		s = member_at(TREE_OPERAND(t, 0));
		if (!s)
			s = member_at(TREE_OPERAND(t, 1));
		if (s)
			refuse(*s, "the distance of a member from another place is computed");
		break;
	case POINTER_PLUS_EXPR:
	case PREINCREMENT_EXPR:
	case PREDECREMENT_EXPR:
	case POSTINCREMENT_EXPR:
	case POSTDECREMENT_EXPR:
		s = pointed_of(TREE_TYPE(t));
		if (s)
			refuse(*s, "objects lie side by side");
		break;
	default:
		break;
	}
	*walk = !done;
	if (done || !(EXPR_P(t) || TREE_CODE(t) == CONSTRUCTOR))
		return NULL_TREE;
	s = shadowed_of(TREE_TYPE(t));
	if (s)
		refuse(*s, "an object is copied, given or taken as a whole");
	return NULL_TREE;
}

/* An object that is a variable with a value: no new member may be given one. */
static void visit_value(shadowed &s, tree values)
{
	unsigned HOST_WIDE_INT i;
	tree index, value;

	FOR_EACH_CONSTRUCTOR_ELT (CONSTRUCTOR_ELTS(values), i, index, value) {
		if (s.cells.count(index))
			refuse(s, std::string("the new member '") + text_of(DECL_NAME(index)) +
					  "' of a variable is given a value");
		in_value = true;
		go_into(&CONSTRUCTOR_ELT(values, i)->value);
		in_value = false;
	}
}

static void on_declaration(void *event, void *)
{
	tree decl = (tree)event, initial;
	shadowed *s;

	if (!decl || decl == error_mark_node || TREE_CODE(decl) != VAR_DECL)
		return;
	here = DECL_SOURCE_LOCATION(decl);
	s = element_of(TREE_TYPE(decl));
	initial = DECL_INITIAL(decl);
	if (s && shadowed_of(TREE_TYPE(decl)) && is_lasting(decl)) {
		if (scan && initial && initial != error_mark_node &&
		    TREE_CODE(initial) == CONSTRUCTOR)
			visit_value(*s, initial);
		return;
	}
	if (s)
		refuse(*s, std::string("'") + text_of(DECL_NAME(decl)) +
				   "' is an object that isn't allocated");
	if (!scan || TREE_TYPE(decl) == error_mark_node)
		return;
	if (TYPE_SIZE_UNIT(TREE_TYPE(decl)))
		check_number(TYPE_SIZE_UNIT(TREE_TYPE(decl)));
	if (TREE_STATIC(decl))
		visit_first_value(decl);
}

/* The functions for cells come first in the source. */
static bool is_for_cells(tree fn)
{
	std::string name = text_of(DECL_NAME(fn));

	for (shadowed &s : all) {
		if (name == "uspl_auto_" + s.name + "_at")
			s.at = fn;
		if (name == "uspl_auto_" + s.name + "_drop")
			s.drop = fn;
	}
	return name.compare(0, 5, "uspl_") == 0;
}

static void on_function(void *event, void *)
{
	tree fn = (tree)event;

	if (!fn || TREE_CODE(fn) != FUNCTION_DECL || is_for_cells(fn))
		return;
	here = DECL_SOURCE_LOCATION(fn);
	for (tree parm = DECL_ARGUMENTS(fn); parm; parm = DECL_CHAIN(parm)) {
		shadowed *s = shadowed_of(TREE_TYPE(parm));

		if (s)
			refuse(*s, "an object is copied, given or taken as a whole");
	}
	saved.clear();
	made.clear();
	go_into(&DECL_SAVED_TREE(fn));
}

static void on_end(void *, void *)
{
	if (facts && (ferror(facts) || fclose(facts)))
		fatal_error(UNKNOWN_LOCATION, "the facts cannot be written");
	facts = NULL;
}

/* SPEC has a line for each structure: its name and its new members, with blanks. */
static bool read_spec(const char *path)
{
	FILE *file = fopen(path, "r");
	char word[256];
	int c = 0;

	for (bool first = true; file && fscanf(file, "%255s", word) == 1; first = c == '\n') {
		if (first)
			all.push_back(shadowed());
		char *behind = strchr(word, '>');

		if (behind)
			*behind++ = '\0';
		if (first) {
			all.back().tagless = *word == '?';
			all.back().name = word + all.back().tagless;
		} else if (behind) {
			all.back().moves.push_back({ word, behind });
		} else {
			all.back().members.insert(word);
		}
		c = fgetc(file);
	}
	if (file)
		fclose(file);
	return !all.empty();
}

int plugin_init(struct plugin_name_args *info, struct plugin_gcc_version *version)
{
	const char *spec = NULL;

	if (!plugin_default_version_check(version, &gcc_version))
		return 1;
	for (int i = 0; i < info->argc; i++) {
		if (!strcmp(info->argv[i].key, "spec"))
			spec = info->argv[i].value;
		if (!strcmp(info->argv[i].key, "mode"))
			scan = !strcmp(info->argv[i].value, "scan");
		if (!strcmp(info->argv[i].key, "facts"))
			facts = fopen(info->argv[i].value, "w");
	}
	if (!spec || !facts || !read_spec(spec))
		return 1;
	register_callback(info->base_name, PLUGIN_START_UNIT, on_start, NULL);
	in_c = !strncmp(lang_hooks.name, "GNU C", 5) && strncmp(lang_hooks.name, "GNU C++", 7);
	register_callback(info->base_name, PLUGIN_FINISH_TYPE, on_type, NULL);
	register_callback(info->base_name, PLUGIN_FINISH, on_end, NULL);
	if (!in_c)
		return 0;
	register_callback(info->base_name, PLUGIN_FINISH_DECL, on_declaration, NULL);
	register_callback(info->base_name, PLUGIN_PRE_GENERICIZE, on_function, NULL);
	return 0;
}
