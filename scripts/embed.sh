#!/bin/sh
# Writes Swift code that holds files as they are: a list of paths and texts.
#
# usage: scripts/embed.sh OUTPUT FOLDER FILE...
#
# The build calls it (Plugins/EmbedScripts). Each FILE lies below FOLDER; those that end in .lua and .json are taken.
set -eu

output=$1
folder=$2
shift 2

{
    printf '// Made by scripts/embed.sh.\nenum EmbeddedFiles {\n'
    printf '    static let all: [(path: String, text: String)] = [\n'
    for file; do
        case $file in
            *.lua | *.json) ;;
            *) continue ;;
        esac
        # In such a literal nothing has a meaning but its end, which no script contains.
        printf '("%s", ####"""\n' "${file#"$folder"/}"
        cat "$file"
        printf '\n"""####),\n'
    done
    printf ']\n}\n'
} >"$output.new"
mv "$output.new" "$output"
