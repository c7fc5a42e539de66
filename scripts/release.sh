#!/usr/bin/env bash
# Makes a release of the programs in .build/release: a Debian package, a tarball with the same files, a container file,
# a bill of materials, the symbols for a debugger, and the sums of all of them.
#
# usage: scripts/release.sh [--binaries DIR] [--out DIR] [--level N]
#   --binaries  where the programs are; default .build/release (`make release` builds them before)
#   --out       default .build/dist; what lies there is replaced
#   --level     how much is compressed, 0 to 9; default 6
#
# Times in the files are SOURCE_DATE_EPOCH, by default that of the commit. Two builds of one commit make the same files
# (scripts/reproducible.sh).
set -euo pipefail
cd "$(dirname "$0")/.."

binaries=.build/release out=.build/dist level=6
while [ $# -gt 0 ]; do
    case $1 in
    --binaries) binaries=${2:?} && shift 2 ;;
    --out) out=${2:?} && shift 2 ;;
    --level) level=${2:?} && shift 2 ;;
    *) printf 'usage: scripts/release.sh [--binaries DIR] [--out DIR] [--level N]\n' >&2 && exit 2 ;;
    esac
done
readonly binaries out level programs=(switchboard switchboard-courier)

fail() {
    printf 'release: %s\n' "$*" >&2
    exit 1
}

for tool in dpkg-deb dpkg-shlibdeps strip objcopy readelf xz python3; do
    command -v "$tool" >/dev/null || fail "there is no '$tool': run 'scripts/packages.sh release'"
done
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export LC_ALL=C TZ=UTC
umask 022

version=$(sed -n 's/^ *public static let text = "\(.*\)"$/\1/p' Sources/Core/ProductVersion.swift)
architecture=$(dpkg --print-architecture)
# Debian sorts 1.1.0~rc.1 before 1.1.0.
readonly version architecture packaged=${version//-/\~}
readonly name=switchboard_${packaged}_$architecture
for program in "${programs[@]}"; do
    said=$("$binaries/$program" --version) || fail "$binaries/$program does not run"
    [ "$said" = "switchboard $version" ] ||
        fail "$binaries/$program is '$said', and the sources are version $version: build it anew"
    scripts/check-binary.sh "$binaries/$program"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
readonly root=$work/root package=$work/package symbols=$work/$name.debug

# put MODE SOURCE... DIRECTORY: installs files below the root.
put() {
    local mode=$1 directory=$root/${*: -1}
    mkdir -p "$directory"
    install -m "$mode" "${@:2:$#-2}" "$directory"
}

# put_tree DIRECTORY FIND_EXPRESSION...: installs what `find` names, at the same places below the directory.
put_tree() {
    local file mode
    while IFS= read -r file; do
        [ -x "$file" ] && mode=755 || mode=644
        put "$mode" "$file" "$1/$(dirname "$file")"
    done < <(find "${@:2}" -type f -print | sort)
}

# Programs go without symbols; a debugger finds those by the build id.
mkdir -p "$symbols"
for program in "${programs[@]}"; do
    put 755 "$binaries/$program" usr/bin
    objcopy --only-keep-debug "$binaries/$program" "$symbols/$program.debug"
    strip --strip-all --remove-section=.comment --remove-section=.swift_ast "$root/usr/bin/$program"
    if strings --all "$root/usr/bin/$program" | grep --fixed-strings "$PWD/"; then
        fail "$program names the folder in which it was built"
    fi
done
install -m 755 deploy/health "$root/usr/bin/switchboard-health"

put 644 deploy/systemd/switchboard-{gateway,worker,courier}.service lib/systemd/system
install -D -m 644 deploy/package/sysusers.conf "$root/usr/lib/sysusers.d/switchboard.conf"
install -D -m 644 deploy/package/logrotate "$root/etc/logrotate.d/switchboard"
put 640 deploy/package/gateway.json etc/switchboard
mkdir -p "$root/etc/switchboard/tls"
chmod 750 "$root/etc/switchboard" "$root/etc/switchboard/tls"

readonly documentation=usr/share/doc/switchboard
put 644 deploy/package/copyright "$documentation"
put_tree "$documentation" ./*.md docs lua/README.md deploy/README.md \
    \( -path './*.md' -o -name '*.md' -o -name '*.json' -o -name '*.py' \)
put_tree usr/share/switchboard/ deploy/secrets.sh deploy/*.conf deploy/*.yaml deploy/prometheus deploy/grafana \
    deploy/systemd/redis-* \( -name '*.sh' -o -name '*.conf' -o -name '*.yaml' -o -name '*.json' \)
mv "$root/usr/share/switchboard/deploy"/* "$root/usr/share/switchboard/"
rmdir "$root/usr/share/switchboard/deploy"

# The libraries, as packages of this system and as components of the bill.
mkdir -p "$work/shlibs/debian" "$root/DEBIAN"
printf 'Source: switchboard\n\nPackage: switchboard\nArchitecture: any\n' >"$work/shlibs/debian/control"
depends=$(cd "$work/shlibs" && dpkg-shlibdeps -O "${programs[@]/#/-e$root/usr/bin/}" 2>"$work/shlibs.log") || {
    cat "$work/shlibs.log" >&2
    fail "dpkg-shlibdeps failed"
}
depends=${depends#shlibs:Depends=}
scripts/sbom.py --version "$version" "${programs[@]/#/$root/usr/bin/}" >"$work/$name.cdx.json"
install -m 644 "$work/$name.cdx.json" "$root/$documentation/switchboard.cdx.json"

# The package: its control files, then both halves with one time, one owner and a fixed order.
install -m 755 deploy/package/{postinst,prerm,postrm} "$root/DEBIAN"
install -m 644 deploy/package/conffiles "$root/DEBIAN"
size=$(du --summarize --apparent-size --block-size=1024 --exclude=DEBIAN "$root" | cut -f 1)
sed -e "s/@VERSION@/$packaged/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@SIZE@/$size/" \
    -e "s/@DEPENDS@/$depends/" deploy/package/control.in >"$root/DEBIAN/control"
(cd "$root" && find . -type f -not -path './DEBIAN/*' -not -path './etc/*' -printf '%P\0' | sort --zero-terminated |
    xargs --null md5sum) >"$root/DEBIAN/md5sums"
find "$root" "$symbols" -print0 | xargs --null touch --no-dereference --date="@$SOURCE_DATE_EPOCH"
mkdir -p "$package"
dpkg-deb --build --root-owner-group -Zxz -z"$level" --threads-max=1 "$root" "$package/$name.deb" >/dev/null
rm -r "$root/DEBIAN"

# pack NAME DIRECTORY: a tarball of a directory, under the archive's own name.
pack() {
    tar --create --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --directory="$2" --transform="s,^\.,$1," . | xz --threads=1 "-$level" >"$package/$1.tar.xz"
}
pack "$name" "$root"
pack "$name.debug" "$symbols"
install -m 644 "$work/$name.cdx.json" "$package"
sed "s/@PACKAGE@/$name.deb/" deploy/package/Containerfile >"$package/Containerfile"
(cd "$package" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)

rm -rf "$out"
mkdir -p "$(dirname "$out")"
cp -r "$package" "$out"
printf 'release: version %s of %s in %s\n' "$version" "$(date --iso-8601=seconds --date="@$SOURCE_DATE_EPOCH")" "$out"
cat "$out/SHA256SUMS"
