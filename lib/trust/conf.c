// SPDX-License-Identifier: GPL-3.0-or-later
// conf.c - small text files: keys, signatures, the policy

#include "trust/conf.h"

#include <string.h>

#include "base/text.h"

static const char key_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The text without blanks at both ends, which is changed. */
static char *trim(char *text)
{
	size_t len;

	while (is_blank(*text))
		text++;
	len = strlen(text);
	while (len && is_blank(text[len - 1]))
		len--;
	text[len] = '\0';
	return text;
}

/* What is there for people and programs: no control characters but the tab. */
static bool is_clean(const char *text, size_t len)
{
	uint32_t c;

	for (size_t i = 0, n; i < len; i += n) {
		n = text_decode(text + i, len - i, &c);
		if (!n || (text_is_control(c) && c != '\t'))
			return false;
	}
	return true;
}

static int read_line(struct conf *conf, char *text, int number, const char **section,
		     struct uspl_err *err)
{
	struct conf_line *line;
	char *end;
	bool good;

	if (!is_clean(text, strlen(text)))
		return uspl_fail(err, USPL_E_FILE, "line %d is not clean text", number);
	text = trim(text);
	if (!*text || *text == '#')
		return 0;
	line = vec_push(&conf->lines);
	if (!line)
		return uspl_fail_nomem(err);
	line->number = number;
	if (*text == '[') {
		end = text + strlen(text) - 1;
		good = end > text + 1 && *end == ']';
		*end = '\0';
		*section = text = trim(text + 1);
		good = good && *text && !strpbrk(text, "[]");
	} else {
		end = strchr(text, '=');
		good = end != NULL;
		if (end)
			*end = '\0';
		line->key = text = trim(text);
		line->value = end ? trim(end + 1) : "";
		good = good && *text && !text[strspn(text, key_letters)] && *line->value;
	}
	line->section = *section;
	if (!good)
		return uspl_fail(err, USPL_E_FILE,
				 "line %d is neither 'key = value' nor '[section]'", number);
	return 0;
}

int conf_read(const char *text, size_t len, struct conf *ret, struct uspl_err *err)
{
	auto_conf struct conf conf = { 0 };
	const char *section = "";
	char *rest, *line;

	if (len > CONF_MAX_BYTES)
		return uspl_fail(err, USPL_E_FILE, "it has more than %u bytes", CONF_MAX_BYTES);
	if (memchr(text, '\0', len))
		return uspl_fail(err, USPL_E_FILE, "it is no text");
	conf.text = strndup(text, len);
	if (!conf.text)
		return uspl_fail_nomem(err);
	rest = conf.text;
	for (int number = 1; (line = strsep(&rest, "\n")); number++) {
		int rc = read_line(&conf, line, number, &section, err);

		if (rc)
			return rc;
	}
	*ret = conf;
	conf = (struct conf){ 0 };
	return 0;
}

const char *conf_value(const struct conf *conf, const char *key)
{
	const struct conf_line *line;
	const char *found = NULL;

	vec_for_each (&conf->lines, line) {
		if (*line->section || strcmp(line->key, key) != 0)
			continue;
		if (found)
			return NULL;
		found = line->value;
	}
	return found;
}

int conf_check_keys(const struct conf *conf, const char *const *keys, struct uspl_err *err)
{
	const struct conf_line *line;

	vec_for_each (&conf->lines, line) {
		const char *const *key = keys;

		while (line->key && *key && strcmp(*key, line->key) != 0)
			key++;
		if (!line->key || !*key)
			return uspl_fail(err, USPL_E_FILE, "there is no use for line %d",
					 line->number);
		if (!conf_value(conf, line->key))
			return uspl_fail(err, USPL_E_FILE, "it has '%s' twice", line->key);
	}
	return 0;
}

bool conf_next_word(const char **list, const char **ret_word, size_t *ret_len)
{
	static const char between[] = " \t,";

	*ret_word = *list + strspn(*list, between);
	*ret_len = strcspn(*ret_word, between);
	*list = *ret_word + *ret_len;
	return *ret_len > 0;
}

void conf_release(struct conf *conf)
{
	free(conf->text);
	vec_release(&conf->lines);
}
