#!/usr/bin/env bash
# The project's own rules (CONTRIBUTING.md), beyond what `swift format lint` knows. Prints every offence, then fails.
#
# usage: scripts/lint.sh
#
# A line that must break a rule carries `lint:allow` and the reason.
set -euo pipefail
cd "$(dirname "$0")/.."

# Figures that only ratchet down.
readonly file_lines_max=400
readonly function_lines_max=70
readonly line_columns_max=120
readonly unchecked_sendable_max=4
readonly clause_comments_max=0
# Comments of tests that begin so; the number may only fall.
readonly test_clause_comments_max=114

found=$(mktemp)
trap 'rm -f "$found"' EXIT

# Files that git knows or would add, so that build products are never looked at. Deleted files are left out.
files() {
    git ls-files --cached --others --exclude-standard -- "$@" | sort -u | while IFS= read -r file; do
        if [ -f "$file" ]; then printf '%s\n' "$file"; fi
    done
}

# report RULE: notes each line of standard input as an offence against the rule.
report() { { grep -v 'lint:allow' || true; } | sed "s|^|lint: $1: |" >>"$found"; }

# each PATHSPEC... -- COMMAND...: runs the command over the files; a grep that finds nothing is no failure.
each() {
    local specs=()
    while [ "$1" != -- ]; do
        specs+=("$1")
        shift
    done
    shift
    files "${specs[@]}" | xargs --no-run-if-empty --delimiter='\n' "$@" || [ $? -eq 123 ]
}

# ban RULE REGEX PATHSPEC...: the expression may not occur in code; lines that are comments may speak of it.
ban() {
    local rule=$1 expression=$2
    shift 2
    each "$@" -- grep --with-filename --line-number --extended-regexp -e "$expression" |
        { grep --invert-match --extended-regexp '^[^:]+:[0-9]+:[[:space:]]*(//|# |--|\*)' || true; } | report "$rule"
}

swift=('*.swift')
sources=('Sources/*.swift' 'api/*.swift' 'lua/*.swift' 'web/*.swift' 'bench/*.swift')
tests=('Tests/*.swift' 'Tests/*.py')
code=('*.swift' '*.py' '*.js' '*.css' '*.html' '*.sh' '*.lua' '*.c' '*.h' .ci/run)

# A trap reachable from input kills every connection of the process. (Force unwraps: `swift format lint`.)
ban 'no try!' '\btry!' "${swift[@]}"
ban 'no as!' '\bas!' "${swift[@]}"
# A fuzz target has no other way to report a broken promise.
ban 'no fatalError' '\bfatalError\(' "${swift[@]}" ':!Tests/Fuzz'
ban 'no unsafeBitCast' '\bunsafeBitCast\b' "${swift[@]}"
ban 'no nonisolated(unsafe)' 'nonisolated\(unsafe\)' "${swift[@]}"
ban 'no -Ounchecked' '-Ounchecked' Package.swift Makefile '*.sh' ':!scripts/lint.sh'
# Memory that the compiler does not check lies behind these files, and nowhere else.
unsafe_files=(
    # C functions of the system
    Sources/Reactors/{Clock,DescriptorReserve,Errno,EventBuffer,Guarded,Thread,Wake}.swift
    Sources/Connections/{Resolver,Sockets}.swift
    Sources/Service/{Descriptors,Environment,Files,Supervisor}.swift
    Sources/Service/{ProcessEnvironment,ProcessSetUp,Signals}.swift
    Sources/Operations/MemoryWatch.swift
    Sources/Top/Top{Input,Output,Signals,Terminal}.swift
    Sources/switchboard/{ChildProcess,CourierProgram,DevCommand,PrivateRedis}.swift
    # OpenSSL
    Sources/Rights/Crypto/{AsymmetricKey,OpenSSLHash,Seal}.swift
    Sources/Connections/{SelfSignedCertificate,TLSClientSession,TLSContext,TLSSession}.swift
    # zlib
    Sources/Compression/{Deflater,Inflater}.swift
    # The inbound buffer and the outbound queue
    Sources/Connections/{Connection+Reading,Connection+Writing,ConnectionContext,Outbound,OutboundQueue}.swift
    # The reader of Redis's replies
    Sources/RedisLink/{RESPBuilder,RESPReader}.swift
    # The sockets of the apps' library
    Sources/SwitchboardClientLinux/ByteLink.swift
    # libcurl
    Sources/Courier/Web/{WebEngine,WebExchange}.swift
    # The bytes of a literal
    Sources/Core/ASCII.swift
)
ban 'unsafe outside its files' '\bunsafe\b' 'Sources/*.swift' 'api/*.swift' 'lua/*.swift' 'web/*.swift' \
    "${unsafe_files[@]/#/:!}"
for file in "${unsafe_files[@]}"; do
    grep --quiet --word-regexp unsafe "$file" 2>/dev/null || echo "$file: leave the list of files that may say unsafe"
done | report 'unsafe'
# Foundation brings ICU, a second event loop and megabytes; what we need of it is small and ours.
ban 'no Foundation' '^[[:space:]]*((public|internal|private|package|@preconcurrency|@testable) )*import Foundation' \
    "${sources[@]}" ':!bench/*' ':!Sources/SwitchboardClient*'
# The load tool may read and write JSON with what the toolchain links statically.
ban 'no Foundation' '^[[:space:]]*import Foundation([^E]|$)' 'bench/*.swift'
# The apps' library runs on iOS 16 and macOS 13, and nothing on Linux checks that: what came later, and what Apple's
# systems lack, stays out (docs/archive/decisions.md, D77).
client=('Sources/SwitchboardClient/*.swift')
ban 'the client imports Foundation and Apple'"'"'s own only' \
    '^[[:space:]]*((public|internal|private) )*import (([^FNSU]|F[^o]|S[^w]|N[^e]|U[^I])|FoundationE)' "${client[@]}"
later=(
    '\b(Mutex|Atomic|InlineArray|(Mutable|Output)?Span)<' '\b(Raw|MutableRaw|OutputRaw|UTF8)Span\b'
    '\b(Atomic(LazyReference|Representable)|U?Int128|RangeSet|StaticBigInt|Observations?|Predicate)\b' '<each '
    '@Observable\b' '\bisolated deinit\b' 'String\(validating:' '\bAsyncSequence<' '\bnext\(isolation'
    '\bwith(Throwing)?DiscardingTaskGroup\b' '\bTask\.(immediate|startSynchronously)' '\bTask\(name:'
    '\b(TaskPriority\.executor|withTaskExecutorPreference)\b'
)
for expression in "${later[@]}"; do ban 'not on iOS 16' "$expression" "${client[@]}"; done
ban 'no unsafeFlags for apps' 'SwitchboardClient.*swiftSettings: strict' Package.swift

# No task runtime on the data plane (docs/decisions.md, D2).
ban 'no Dispatch' '^[[:space:]]*((public|internal|private) )*import Dispatch' "${sources[@]}"
# A test waits for the thing itself, with a deadline.
ban 'no sleep in tests' '(\b|_)(sleep|usleep|nanosleep)\(' "${tests[@]}"
ban 'no sleep in sources' '\b(sleep|usleep|nanosleep)\(' "${sources[@]}"
# A path of one machine works on one machine.
each . ':!scripts/lint.sh' -- grep --with-filename --line-number --binary-files=without-match --extended-regexp \
    -e '(^|[^A-Za-z0-9_.-])/(tmp|work|root|home)/[A-Za-z]' | report 'no machine paths'

# House words that the glossary of ARCHITECTURE.md replaced.
house_words=(
    '[A-Z][A-Za-z]*Desk' '(Native|EventStream|Phoenix|SocketIO|Toy)?Conversation(Step)?' 'EngineHop'
    'Hop(Book|Desk|Envelope|Home|Keys|Order|Secret)' 'Fanout(Lap|Rest)' '(Cluster|Link|Presence)News' 'ServerBoard'
    '(Lane|Read)Turns' 'TopicFeed' 'TopicAsker' 'PresenceRoom' 'OpeningTable' '(Native|Phoenix|Refused)Opening'
    '(Ask|Lease)Book' 'Rights(Keeper|Watch)' 'ErrorRetelling' 'QueueThinner' 'WebhookEars'
    'Broker(Message|Statistics)?' 'StoreScripts' 'SessionOrigin' 'RequestOrigin' 'OperationsDoor'
    '(Connection|EventStream|Polling|WebSocket)Line' 'CommandFailure' 'Outlet' 'Door'
)
for word in "${house_words[@]}"; do ban 'a house word' "\\b$word\\b" 'Sources/*.swift' 'Tests/*.swift'; done
# A comment names the thing: a clause in place of a noun ("Who ...", "What ...") hides it.
clauses=$(each "${sources[@]}" 'Plugins/*.swift' -- grep --with-filename --line-number --extended-regexp \
    -e '^[[:space:]]*///? (Who|What|Where|Whose|Whoever|Whatever)\b')
if [ "$(grep -c . <<<"$clauses")" -gt "$clause_comments_max" ]; then report 'a clause as subject' <<<"$clauses"; fi
clauses=$(each 'Tests/*.swift' -- grep --with-filename --line-number --extended-regexp \
    '^\s*///?\s*(What|Who|Where|Whose) [a-z`]')
if [ "$(grep -c . <<<"$clauses")" -gt "$test_clause_comments_max" ]; then
    report 'a clause as subject in a test' <<<"$clauses"
fi
# A reference is a file of the project, a decision (D12) or a standard.
each "${sources[@]}" "${tests[@]}" 'lua/*.lua' -- grep --with-filename --line-number --extended-regexp \
    -e '\bfailures(\.md)? [A-Z]?[0-9]|failures\.md|\b(design|wire) (section|table) [0-9]' |
    report 'a reference outside the project'

# The apps' library has one lock of its own; what it holds needs none.
ban 'one lock in the library' '@unchecked Sendable' 'Sources/SwitchboardClient*' \
    ':!Sources/SwitchboardClient/Running/Locked.swift'
unchecked=$(each "${sources[@]}" ':!Sources/SwitchboardClient*' -- \
    grep --no-filename --count --fixed-strings '@unchecked Sendable' |
    awk '{ n += $1 } END { print n + 0 }')
if [ "$unchecked" -gt "$unchecked_sendable_max" ]; then
    echo "$unchecked uses of @unchecked Sendable; at most $unchecked_sendable_max, each with its proof" |
        report 'unchecked Sendable'
fi

# What is made of files is as long as these together; the table of limits has a row for each.
each "${code[@]}" ':!clients/js/switchboard.js' -- awk -v max="$file_lines_max" \
    'FNR == max + 1 { print FILENAME ": more than " max " lines; is it still one thing?" }' | report 'file length'

# Swift's columns are counted by `swift format lint`; the ready-made bytes of recorded fixtures are not counted.
each "${code[@]}" ':!*.swift' ':!*fixtures*' -- awk -v max="$line_columns_max" \
    'length($0) > max { print FILENAME ":" FNR ": " length($0) " columns" }' | report 'line length'

# Formatted code closes a function at the column where its declaration began.
each "${swift[@]}" -- awk -v max="$function_lines_max" '
    FNR == 1 { start = 0 }
    !start && /^ *([a-z@][A-Za-z()@_]* )*(func [^ ]|init[(<?]|deinit )/ && /\{$/ {
        match($0, /^ */); close_line = sprintf("%" RLENGTH "s}", ""); start = FNR; next
    }
    start && $0 == close_line {
        if (FNR - start + 1 > max) print FILENAME ":" start ": function of " (FNR - start + 1) " lines"
        start = 0
    }' | report 'function length'

# Whitespace that only makes noise in reviews.
each "${code[@]}" '*.md' '*.conf' '*.service' Makefile -- grep --with-filename --line-number --extended-regexp \
    -e '[[:blank:]]+$' | report 'trailing blanks'

if [ -s "$found" ]; then
    cat "$found" >&2
    printf 'lint: %s offences\n' "$(wc -l <"$found")" >&2
    exit 1
fi
printf 'lint: clean, %s files\n' "$(files "${code[@]}" | wc -l)"
