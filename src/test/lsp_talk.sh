#!/bin/sh
# Sends messages to a language server, and prints its answers: lsp_talk.sh COMMAND... <MESSAGES
# Messages and answers are JSON, one per line.
export LC_ALL=C # lengths are bytes
while IFS= read -r message; do
    printf 'Content-Length: %d\r\n\r\n%s' "${#message}" "$message"
done | { "$@"; echo; } | tr -d '\r' | sed 's/}Content-Length: [0-9]*$/}/; /^Content-Length: [0-9]*$/d; /^$/d'
