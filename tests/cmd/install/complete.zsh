# SPDX-License-Identifier: GPL-3.0-or-later
# complete.zsh - what lines become by the TAB key in zsh: complete.zsh BIN COMPLETION-FOLDER LINE...
zmodload zsh/zpty
bin=$1 folder=$2
shift 2
for line in "$@"; do
	zpty shell zsh -f -i
	zpty -w shell "PS1=; PATH=$bin:\$PATH; fpath=($folder \$fpath); autoload -U compinit; compinit -D -u
		show() { print -r -- \"<\$BUFFER>\"; BUFFER= }
		zle -N show; bindkey '^I' complete-word; bindkey '^G' show; echo REA''DY"
	while zpty -r shell out; do [[ $out != *READY* ]] || break; done
	zpty -n -w shell "$line"$'\t\007'
	while zpty -r shell out; do
		[[ $out != *'<uspl'*'>'* ]] || { print -r -- "${${out##*<}%%>*}"; break; }
	done
	zpty -d shell
done
