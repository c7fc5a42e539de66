#!/bin/sh
# Writes Swift code that holds text files as they are: a list of paths and texts.
#
# usage: scripts/embed.sh OUTPUT FOLDER FILE...
#
# The build calls it (Plugins/EmbedFiles). Each FILE lies below FOLDER; pages that explain (*.md) are left out.
set -eu

output=$1
folder=$2
shift 2

{
    printf '// Made by scripts/embed.sh.\nenum EmbeddedFiles {\n'
    printf '    static let all: [(path: String, text: String)] = [\n'
    for file; do
        case $file in
            *.md) continue ;;
        esac
        # In such a literal nothing has a meaning but its end, which no file contains.
        printf '("%s", ####"""\n' "${file#"$folder"/}"
        cat "$file"
        printf '\n"""####),\n'
    done
    printf ']\n}\n'
} >"$output.new"
mv "$output.new" "$output"
