// SPDX-License-Identifier: GPL-3.0-or-later
// args.c - what a compiler was asked to do
//
// The command line is first expanded to a flat list of words (response files, the user's tree
// renamed to the copy), then each word is given a kind, from left to right, by three tables:
// options whose argument is the next word, options of the linker that are known by their beginning,
// and the suffixes of source files. A word that no table knows is an option if it has a dash, and
// the linker's if it has none: the compilers themselves see it so.

#include "create/wrapper/args.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"

enum { MAX_RESPONSE_DEPTH = 8, MAX_RESPONSE_SIZE = 64 << 20 };

/* clang-format off */
/* Options whose argument is the next word. */
static const struct { const char *name; enum args_kind kind; } with_argument[] = {
	{ "-o", ARGS_OUTPUT }, { "-x", ARGS_LANGUAGE }, { "-L", ARGS_LINKING },
	{ "-l", ARGS_LINKING }, { "-T", ARGS_LINKING }, { "-u", ARGS_LINKING },
	{ "-e", ARGS_LINKING }, { "-z", ARGS_LINKING }, { "-Xlinker", ARGS_LINKING },
	{ "-Tbss", ARGS_LINKING }, { "-Tdata", ARGS_LINKING }, { "-Ttext", ARGS_LINKING },
	{ "-D", ARGS_OPTION }, { "-U", ARGS_OPTION }, { "-I", ARGS_OPTION },
	{ "-A", ARGS_OPTION }, { "-B", ARGS_OPTION }, { "-F", ARGS_OPTION },
	{ "-G", ARGS_OPTION }, { "-MF", ARGS_OPTION }, { "-MT", ARGS_OPTION },
	{ "-MQ", ARGS_OPTION }, { "-include", ARGS_OPTION }, { "-imacros", ARGS_OPTION },
	{ "-isystem", ARGS_OPTION }, { "-iquote", ARGS_OPTION }, { "-idirafter", ARGS_OPTION },
	{ "-iprefix", ARGS_OPTION }, { "-iwithprefix", ARGS_OPTION },
	{ "-iwithprefixbefore", ARGS_OPTION }, { "-isysroot", ARGS_OPTION },
	{ "-imultilib", ARGS_OPTION }, { "-include-pch", ARGS_OPTION },
	{ "--sysroot", ARGS_OPTION }, { "--param", ARGS_OPTION }, { "-param", ARGS_OPTION },
	{ "-aux-info", ARGS_OPTION }, { "-dumpbase", ARGS_OPTION },
	{ "-dumpbase-ext", ARGS_OPTION }, { "-dumpdir", ARGS_OPTION },
	{ "-wrapper", ARGS_OPTION }, { "-target", ARGS_OPTION }, { "-arch", ARGS_OPTION },
	{ "-Xassembler", ARGS_OPTION }, { "-Xpreprocessor", ARGS_OPTION },
	{ "-Xclang", ARGS_OPTION }, { "-mllvm", ARGS_OPTION },
};

/* The linker's own options: with '*' known by their beginning, else whole. */
static const char *const linking[] = {
	"-l*", "-L*", "-Wl,*", "-T*", "-rdynamic", "-shared", "-static", "-static-pie",
	"-static-libgcc", "-static-libstdc++", "-shared-libgcc", "-pie", "-no-pie", "-s", "-r",
	"-nostartfiles", "-nodefaultlibs", "-nostdlib", "-fuse-ld=*",
};

static const struct { const char *word; enum args_mode mode; } modes[] = {
	{ "-c", ARGS_COMPILE }, { "-S", ARGS_ASSEMBLY }, { "-E", ARGS_PREPROCESS },
	{ "-M", ARGS_PREPROCESS },
	{ "-MM", ARGS_PREPROCESS }, { "-fsyntax-only", ARGS_PREPROCESS },
	{ "-cc1", ARGS_NOTHING },
	{ "-cc1as", ARGS_NOTHING }, { "-###", ARGS_NOTHING }, { "--version", ARGS_NOTHING },
	{ "--help", ARGS_NOTHING }, { "-dumpversion", ARGS_NOTHING },
	{ "-dumpmachine", ARGS_NOTHING },
	{ "-dumpfullversion", ARGS_NOTHING }, { "-dumpspecs", ARGS_NOTHING },
};

static const struct { const char *suffix; enum args_kind kind; } suffixes[] = {
	{ "c", ARGS_SOURCE }, { "i", ARGS_SOURCE }, { "ii", ARGS_SOURCE }, { "cc", ARGS_SOURCE },
	{ "cp", ARGS_SOURCE }, { "cxx", ARGS_SOURCE }, { "cpp", ARGS_SOURCE },
	{ "CPP", ARGS_SOURCE },
	{ "c++", ARGS_SOURCE }, { "C", ARGS_SOURCE }, { "m", ARGS_SOURCE }, { "mm", ARGS_SOURCE },
	{ "s", ARGS_ASM }, { "S", ARGS_ASM }, { "sx", ARGS_ASM },
	{ "h", ARGS_HEADER }, { "hh", ARGS_HEADER }, { "H", ARGS_HEADER }, { "hpp", ARGS_HEADER },
	{ "hxx", ARGS_HEADER }, { "h++", ARGS_HEADER },
};

/*
 * Names of folders and files that configure, CMake and Meson use to try the compiler out: a
 * component of a path starts so.
 */
static const char *const probes[] = {
	"conftest", "libconftest", "CMakeTmp", "CMakeScratch", "CompilerIdC", "meson-private",
};
/* clang-format on */

struct parser {
	struct args *args;
	const char *from, *to;
	enum args_mode mode;
	const char *language;
};

/*
 * One word of a response file, by the quoting rules of gcc: blanks separate, quotes and backslashes
 * protect.
 */
static const char *response_word(const char *p, struct buf *word)
{
	char quote = '\0';

	for (; *p && (quote || !strchr(" \t\r\n\f\v", *p)); p++) {
		if (*p == '\\' && p[1])
			buf_add(word, ++p, 1);
		else if (quote && *p == quote)
			quote = '\0';
		else if (!quote && (*p == '\'' || *p == '"'))
			quote = *p;
		else
			buf_add(word, p, 1);
	}
	return p;
}

static int add_words(struct parser *parser, const char *text, int depth, struct uspl_err *err);

/* True if the response file was put in its place. */
static bool expand(struct parser *parser, const char *path, int depth, int *ret_rc,
		   struct uspl_err *err)
{
	auto_buf struct buf content = { 0 };
	struct stat st;
	const char *p;

	if (depth >= MAX_RESPONSE_DEPTH || stat(path, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_size > MAX_RESPONSE_SIZE || file_read(path, &content, err))
		return false;
	for (p = buf_str(&content); *(p += strspn(p, " \t\r\n\f\v"));) {
		auto_buf struct buf word = { 0 };

		p = response_word(p, &word);
		*ret_rc = word.oom ? uspl_fail_nomem(err)
				   : add_words(parser, buf_str(&word), depth + 1, err);
		if (*ret_rc)
			break;
	}
	return true;
}

static int add_words(struct parser *parser, const char *text, int depth, struct uspl_err *err)
{
	struct buf renamed = { 0 };
	struct args_word *word;
	int rc = 0;

	if (text[0] == '@' && text[1] && expand(parser, text + 1, depth, &rc, err))
		return rc;
	word = vec_push(&parser->args->words);
	if (!word)
		return uspl_fail_nomem(err);
	path_rename(&renamed, text, parser->from, parser->to);
	buf_add(&renamed, "", 0);
	word->text = buf_take(&renamed);
	return word->text ? 0 : uspl_fail_nomem(err);
}

static bool is_linking(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(linking); i++) {
		size_t len = strlen(linking[i]);

		if (linking[i][len - 1] == '*' ? !strncmp(word, linking[i], len - 1)
					       : !strcmp(word, linking[i]))
			return true;
	}
	return false;
}

static enum args_kind kind_of_file(const struct parser *parser, const char *name)
{
	const char *dot = strrchr(file_basename(name), '.');

	if (parser->language && strstr(parser->language, "header"))
		return ARGS_HEADER;
	if (parser->language)
		return text_starts_with(parser->language, "assembler") ? ARGS_ASM : ARGS_SOURCE;
	for (size_t i = 0; dot && i < ARRAY_SIZE(suffixes); i++)
		if (!strcmp(dot + 1, suffixes[i].suffix))
			return suffixes[i].kind;
	return ARGS_OBJECT;
}

/* Options by which a compilation also writes what it included, some with the name of the list. */
static const struct {
	const char *start;
	bool named;
} deps_options[] = {
	{ "-Wp,-MD,", true }, { "-Wp,-MMD,", true }, { "-Wp,-M", false },
	{ "-MF", true },      { "-MD", false },      { "-MMD", false },
};

/* The earliest stage wins, whatever the order of the words. */
static void note_mode(struct parser *parser, struct args_word *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (strcmp(word->text, modes[i].word))
			continue;
		if (modes[i].mode == ARGS_COMPILE || modes[i].mode == ARGS_ASSEMBLY)
			word->kind = ARGS_STAGE;
		if (modes[i].mode < parser->mode)
			parser->mode = modes[i].mode;
	}
	if (text_starts_with(word->text, "-print-") || text_starts_with(word->text, "--print-") ||
	    text_starts_with(word->text, "--help="))
		parser->mode = ARGS_NOTHING;
	for (size_t i = 0; i < ARRAY_SIZE(deps_options); i++) {
		if (!text_starts_with(word->text, deps_options[i].start))
			continue;
		parser->args->own_deps = true;
		if (deps_options[i].named)
			parser->args->deps = word->text + strlen(deps_options[i].start);
		break;
	}
}

static void set_value(struct parser *parser, enum args_kind kind, const char *value)
{
	if (kind == ARGS_OUTPUT)
		parser->args->output = value;
	if (kind == ARGS_LANGUAGE)
		parser->language = strcmp(value, "none") ? value : NULL;
}

/* Gives the words from i on that belong together their kind; returns how many there are. */
static size_t classify_option(struct parser *parser, size_t i)
{
	struct args_word *word = &parser->args->words.items[i];
	bool last = i + 1 >= parser->args->words.n;

	for (size_t k = 0; k < ARRAY_SIZE(with_argument); k++) {
		enum args_kind kind = with_argument[k].kind;

		if (!last && !strcmp(word->text, with_argument[k].name)) {
			if (!strcmp(word->text, "-MF")) {
				parser->args->own_deps = true;
				parser->args->deps = word[1].text;
			}
			word[0].kind = word[1].kind = kind;
			set_value(parser, kind, word[1].text);
			return 2;
		}
	}
	if (text_starts_with(word->text, "-o") && word->text[2]) {
		word->kind = ARGS_OUTPUT;
		set_value(parser, ARGS_OUTPUT, word->text + 2);
	} else if (text_starts_with(word->text, "-x") && word->text[2]) {
		word->kind = ARGS_LANGUAGE;
		set_value(parser, ARGS_LANGUAGE, word->text + 2);
	} else {
		word->kind = is_linking(word->text) ? ARGS_LINKING : ARGS_OPTION;
		note_mode(parser, word);
	}
	return 1;
}

int args_parse(int argc, char **argv, const char *from, const char *to, struct args *ret,
	       struct uspl_err *err)
{
	auto_args struct args args = { 0 };
	struct parser parser = { &args, from, to, ARGS_LINK, NULL };
	bool inputs = false;

	for (int i = 1; i < argc; i++) {
		int rc = add_words(&parser, argv[i], 0, err);

		if (rc)
			return rc;
	}
	for (size_t i = 0; i < args.words.n;) {
		struct args_word *word = &args.words.items[i];

		if (word->text[0] == '-' && word->text[1]) {
			inputs |= text_starts_with(word->text, "-l");
			i += classify_option(&parser, i);
			continue;
		}
		word->kind = kind_of_file(&parser, word->text);
		word->language = parser.language;
		args.n_sources += word->kind == ARGS_SOURCE || word->kind == ARGS_ASM;
		inputs = true;
		i++;
	}
	args.mode = inputs || args.output ? parser.mode : ARGS_NOTHING;
	*ret = args;
	args = (struct args){ 0 };
	return 0;
}

void args_release(struct args *args)
{
	struct args_word *word;

	vec_for_each (&args->words, word)
		free(word->text);
	vec_release(&args->words);
}

bool args_hides_types(const struct args_word *word)
{
	static const char *const starts[] = {
		"-gsplit-dwarf",
		"-gz",
		"-gstabs",
		"-fdebug-types-section",
		"-femit-struct-debug-",
		"-fno-standalone-debug",
		"-flimit-debug-info",
		"-Wa,--compress-debug-sections",
	};

	return word->kind == ARGS_OPTION && TEXT_STARTS_WITH_ONE_OF(word->text, starts);
}

bool args_is_probe_path(const char *path)
{
	for (const char *part = path; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (TEXT_STARTS_WITH_ONE_OF(part, probes))
			return true;
	}
	return false;
}

bool args_is_probe(const struct args *args, const char *cwd)
{
	struct args_word *word;

	if (args_is_probe_path(cwd))
		return true;
	if (args->output &&
	    (!strcmp(args->output, "/dev/null") || args_is_probe_path(args->output)))
		return true;
	vec_for_each (&args->words, word) {
		/* libtool links an object of its own to see what the linker says. */
		if (word->kind == ARGS_OBJECT && args_is_probe_path(word->text))
			return true;
		if (word->kind != ARGS_SOURCE && word->kind != ARGS_ASM)
			continue;
		if (!strcmp(word->text, "-") || !strcmp(word->text, "/dev/null") ||
		    args_is_probe_path(word->text))
			return true;
	}
	return false;
}

char *args_default_object(const char *source)
{
	const char *name = file_basename(source);
	const char *dot = strrchr(name, '.');
	int len = dot ? (int)(dot - name) : (int)strlen(name);

	return text_format("%.*s.o", len, name);
}
