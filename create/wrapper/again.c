// SPDX-License-Identifier: GPL-3.0-or-later
// again.c - how a source was compiled, for uspl-create to compile it once more

#include "create/wrapper/again.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

int again_write(const struct tool *tool, const tool_argv *argv, const char *saved,
		struct uspl_err *err)
{
	/* Options that name an output: an object, or a list of what is included. */
	static const char *const with_next[] = {
		"-o", "-MF", "-MT", "-MQ", "-dumpbase", "-aux-info"
	};
	static const char *const begins[] = { "-M", "-Wp,-M", "-save-temps", "-dumpdir" };
	auto_free char *path = NULL;
	auto_free char *cwd = NULL;
	auto_buf struct buf script = { 0 };

	if (!getenv("USPL_CC_AGAIN") || tool_is_clang(tool))
		return 0;
	cwd = realpath(".", NULL);
	if (!cwd)
		return uspl_fail_errno(err, "cannot find this folder any more");
	path = text_format("%s.again", saved);
	if (!path)
		return uspl_fail_nomem(err);
	buf_addstr(&script, "cd ");
	buf_add_shell_word(&script, cwd);
	buf_addstr(&script, "&& exec env -i ");
	for (char **variable = environ; *variable; variable++)
		buf_add_shell_word(&script, *variable);
	buf_add_shell_word(&script, tool->path);
	for (size_t i = 0; i < tool->before.n; i++)
		buf_add_shell_word(&script, tool->before.items[i]);
	for (size_t i = 0; i < argv->n; i++) {
		if (TEXT_IS_ONE_OF(argv->items[i], with_next))
			i++;
		else if (!TEXT_STARTS_WITH_ONE_OF(argv->items[i], begins))
			buf_add_shell_word(&script, argv->items[i]);
	}
	buf_addstr(&script, "\"$@\"\n");
	if (script.oom)
		return uspl_fail_nomem(err);
	return file_write(path, script.data, script.len, err);
}
