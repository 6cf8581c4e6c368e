#include "formats/cmdline/verbs.h"

/* zsh reads the same script with bashcompinit. */
void gt_verbs_put_bash(const struct gt_command *cmd, FILE *to, bool zsh)
{
	const struct gt_verb *v;

	if (zsh)
		fprintf(to, "#compdef %s\nautoload -U +X bashcompinit && bashcompinit\n",
			cmd->name);
	fprintf(to, "_%s() {\n\tlocal verbs=\"", cmd->name);
	for (v = cmd->verbs; v->name; v++)
		fprintf(to, "%s%s", v == cmd->verbs ? "" : " ", v->name);
	fputs("\"\n\tCOMPREPLY=()\n\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$verbs --help --version --completion\" -- \"$2\"))\n"
	      "\t\treturn\n\tfi\n\tcase \"${COMP_WORDS[1]}\" in\n",
		to);
	for (v = cmd->verbs; v->name; v++)
		if (v->program)
			fprintf(to,
				"\t%s) type _%s >/dev/null 2>&1 || eval \"$(\"$1\" %s --completion "
				"bash)\"\n\t\t_%s \"$@\" ;;\n",
				v->name, v->program, v->name, v->program);
		else
			fprintf(to, "\t%s) COMPREPLY=($(compgen -W \"$verbs\" -- \"$2\")) ;;\n",
				v->name);
	fprintf(to, "\tesac\n}\ncomplete -o bashdefault -o default -F _%s %s\n", cmd->name,
		cmd->name);
}

void gt_verbs_put_fish(const struct gt_command *cmd, FILE *to)
{
	for (const struct gt_verb *v = cmd->verbs; v && v->name; v++) {
		fprintf(to, "complete -c %s -n __fish_use_subcommand -f -a %s -d \"%s\"\n",
			cmd->name, v->name, v->help);
		if (v->program)
			fprintf(to,
				"%s %s --completion fish | string replace 'complete -c %s' "
				"'complete -c %s -n \"__fish_seen_subcommand_from %s\"' | source\n",
				cmd->name, v->name, v->program, cmd->name, v->name);
	}
}
