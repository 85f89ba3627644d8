/*
 * Completion scripts for bash, zsh and fish, generated from the tables of commands and options.
 * The scripts run the program to complete names of operations and of instructions of a file.
 */
#include "cli/cli.h"

#include <stdio.h>

/* Whether words after `hlo CMD FILE` are names of instructions in the file. */
static bool takes_names(enum command c) { return c == CMD_WHY || c == CMD_EXTRACT; }

static const char ask_names[] = "hlo ls \"$file\" 2>/dev/null | sed -n 's/^  \\([^ ]*\\) .*/\\1/p'";
static const char ask_ops[] = "hlo ops 2>/dev/null | sed -n 's/^  \\([^ ]*\\) .*/\\1/p'";

static void put_commands(struct buf *out, const char *between)
{
    for (int c = 0; c < CMD_COUNT; c++)
        buf_printf(out, "%s%s", c ? between : "", command_row((enum command)c)->name);
}

/* Writes text for use inside single quotes of a shell. */
static void put_quoted(struct buf *out, const char *text)
{
    buf_putc(out, '\'');
    for (; *text; text++)
        if (*text == '\'')
            buf_puts(out, "'\\''");
        else
            buf_putc(out, *text);
    buf_putc(out, '\'');
}

/* ---- bash ---- */

static void put_bash_options(struct buf *out, int c)
{
    for (int i = 0; i < OPT_COUNT; i++) {
        const struct option_row *row = option_row((enum option_id)i);
        if (option_belongs((enum option_id)i, (enum command)c))
            buf_printf(out, " --%s%s", row->name, row->value[0] == '=' ? "=" : "");
    }
}

static void put_bash(struct buf *out)
{
    buf_puts(out, "# bash completion of hlo\n_hlo() {\n    local cur=${COMP_WORDS[COMP_CWORD]} "
                  "cmd=${COMP_WORDS[1]} options= words= file=\n"
                  "    COMPREPLY=()\n    case $cmd in\n");
    for (int c = 0; c < CMD_COUNT; c++) {
        buf_printf(out, "    %s) options='", command_row((enum command)c)->name);
        put_bash_options(out, c);
        buf_puts(out, "' ;;\n");
    }
    buf_puts(out, "    *) options='");
    put_bash_options(out, CMD_NONE);
    buf_puts(out,
             "' ;;\n    esac\n    if [[ $cur == -* ]]; then\n"
             "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
             "        [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace\n        return\n    fi\n"
             "    case $COMP_CWORD:$cmd in\n    1:*) words='");
    put_commands(out, " ");
    buf_puts(out, "' ;;\n    *:ops) words=$(");
    buf_puts(out, ask_ops);
    buf_puts(out, ") ;;\n");
    for (int c = 0; c < CMD_COUNT; c++)
        if (takes_names((enum command)c))
            buf_printf(out, "    [3-9]:%s) file=${COMP_WORDS[2]} words=$(%s) ;;\n",
                       command_row((enum command)c)->name, ask_names);
    buf_puts(out, "    esac\n    [[ $cur != = ]] || cur=\n    COMPREPLY=($(compgen -W \"$words\" "
                  "-- \"$cur\") $(compgen -f -- \"$cur\"))\n"
                  "}\ncomplete -o filenames -F _hlo hlo\n");
}

/* ---- zsh ---- */

/* `'--name=[help]:FILE:_files'`; characters special to _arguments are escaped. */
static void put_zsh_option(struct buf *out, enum option_id id, enum command c)
{
    const struct option_row *row = option_row(id);
    SCOPED_BUF spec = {0};
    buf_printf(&spec, "%s--%s%s[", row->flags & OPTION_MANY ? "*" : "", row->name,
               row->value[0] == '=' ? "="
               : row->value[0]      ? "=-"
                                    : "");
    for (const char *at = option_help(id, c); *at; at++) {
        if (strchr("[]:\\", *at))
            buf_putc(&spec, '\\');
        buf_putc(&spec, *at);
    }
    buf_putc(&spec, ']');
    if (row->value[0] == '=')
        buf_printf(&spec, ":%s:_files", row->value + 1);
    else if (row->value[0])
        buf_puts(&spec, "::value:");
    buf_puts(out, " \\\n            ");
    put_quoted(out, spec.data);
}

static void put_zsh(struct buf *out)
{
    buf_puts(out, "#compdef hlo\n# zsh completion of hlo\n_hlo() {\n    local file\n    if (( "
                  "CURRENT == 2 )); then\n        "
                  "local -a commands=(\n");
    for (int c = 0; c < CMD_COUNT; c++) {
        SCOPED_BUF word = {0};
        buf_printf(&word, "%s:%s", command_row((enum command)c)->name,
                   command_row((enum command)c)->summary);
        buf_puts(out, "            ");
        put_quoted(out, word.data);
        buf_putc(out, '\n');
    }
    buf_puts(out, "        )\n        _describe command commands\n        _files\n        return\n "
                  "   fi\n    case $words[2] in\n");
    for (int c = 0; c <= CMD_COUNT; c++) {
        buf_printf(out, "    %s)\n        _arguments",
                   c < CMD_COUNT ? command_row((enum command)c)->name : "*");
        for (int i = 0; i < OPT_COUNT; i++)
            if (option_belongs((enum option_id)i, (enum command)c))
                put_zsh_option(out, (enum option_id)i, (enum command)c);
        buf_puts(out, " \\\n            '*:file:_files'\n");
        if (c < CMD_COUNT && takes_names((enum command)c))
            buf_printf(out,
                       "        file=$words[3]\n        (( CURRENT < 4 )) || compadd -- $(%s)\n",
                       ask_names);
        if (c == CMD_OPS)
            buf_printf(out, "        compadd -- $(%s)\n", ask_ops);
        buf_puts(out, "        ;;\n");
    }
    buf_puts(out, "    esac\n}\n_hlo \"$@\"\n");
}

/* ---- fish ---- */

static void put_fish_option(struct buf *out, enum option_id id, enum command c,
                            const char *condition)
{
    const struct option_row *row = option_row(id);
    buf_printf(out, "complete -c hlo -n '%s' -l %s", condition, row->name);
    if (row->letter)
        buf_printf(out, " -s %c", row->letter);
    if (row->value[0] == '=')
        buf_puts(out, " -r");
    buf_puts(out, " -d ");
    put_quoted(out, option_help(id, c));
    buf_putc(out, '\n');
}

static void put_fish(struct buf *out)
{
    buf_puts(out, "# fish completion of hlo\n");
    for (int c = 0; c < CMD_COUNT; c++) {
        buf_printf(out, "complete -c hlo -n __fish_use_subcommand -a %s -d ",
                   command_row((enum command)c)->name);
        put_quoted(out, command_row((enum command)c)->summary);
        buf_putc(out, '\n');
    }
    for (int c = 0; c <= CMD_COUNT; c++) {
        SCOPED_BUF condition = {0};
        if (c < CMD_COUNT)
            buf_printf(&condition, "__fish_seen_subcommand_from %s",
                       command_row((enum command)c)->name);
        else
            buf_puts(&condition, "__fish_use_subcommand");
        for (int i = 0; i < OPT_COUNT; i++)
            if (option_belongs((enum option_id)i, (enum command)c))
                put_fish_option(out, (enum option_id)i, (enum command)c, condition.data);
    }
    buf_puts(out, "complete -c hlo -n '__fish_seen_subcommand_from ops' -a \"(");
    buf_puts(out, ask_ops);
    buf_puts(out, ")\"\n");
    for (int c = 0; c < CMD_COUNT; c++)
        if (takes_names((enum command)c))
            buf_printf(out,
                       "complete -c hlo -n '__fish_seen_subcommand_from %s' -a \"(set -l file "
                       "(commandline -opc)[3]; %s)\"\n",
                       command_row((enum command)c)->name,
                       "hlo ls \\$file 2>/dev/null | sed -n 's/^  \\([^ ]*\\) .*/\\1/p'");
}

int print_completion(const struct options *o)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};
    static void (*const put[])(struct buf * out) = {put_bash, put_zsh, put_fish};
    struct buf out = {0};
    int shell;
    if (!option_word(o, OPT_COMPLETION, shells, COUNT_OF(shells), 0, &shell))
        return HLO_USAGE;
    put[shell](&out);
    print_buf(&out);
    return HLO_OK;
}
