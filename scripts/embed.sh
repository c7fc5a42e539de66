#!/bin/sh
# Writes Swift code that holds text files as they are: a list of paths and texts.
#
# usage: scripts/embed.sh OUTPUT FOLDER FILE...
#
# The build calls it (Plugins/EmbedFiles). A FILE is known by its path below FOLDER, or by its name when it lies
# elsewhere. Pages that explain (*.md) are left out.
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
        case $file in
            "$folder"/*) path=${file#"$folder"/} ;;
            *) path=${file##*/} ;;
        esac
        # In such a literal nothing has a meaning but its end, which no file contains.
        printf '("%s", ####"""\n' "$path"
        cat "$file"
        printf '\n"""####),\n'
    done
    printf ']\n}\n'
} >"$output.new"
mv "$output.new" "$output"
