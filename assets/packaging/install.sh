#!/bin/sh
# Installs labscope for one user from the files of a release, or removes it again. Needs curl or wget, tar, gzip, and
# sha256sum, shasum or openssl.
# Usage: install.sh --from URL --version VERSION [--prefix FOLDER]
#        install.sh --remove [--prefix FOLDER]
#   --from URL          the address below which the files of the release are
#   --version VERSION   such as 0.1.0
#   --prefix FOLDER     where bin and share are (default: ~/.local)
set -eu

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

from="" version="" prefix="" action=install
while [ $# -gt 0 ]; do
  case $1 in
    --from | --version | --prefix)
      [ $# -ge 2 ] && [ -n "$2" ] || fail "$1 needs a value"
      case $1 in
        --from) from=${2%/} ;;
        --version) version=${2#v} ;;
        *) prefix=$2 ;;
      esac
      shift 2
      ;;
    --remove) action=remove && shift ;;
    -h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0" && exit 0 ;;
    *) fail "$1 is not known; --help lists the options" ;;
  esac
done
if [ -z "$prefix" ]; then
  [ -n "${HOME:-}" ] || fail "HOME is not set; name a folder with --prefix"
  prefix=$HOME/.local
fi
# The list of the installed files, by which they are removed.
list=$prefix/share/labscope/installed

if [ "$action" = remove ]; then
  [ -f "$list" ] || fail "nothing that this script installed is in $prefix"
  while IFS= read -r file; do
    rm -f "$prefix/$file" || fail "$prefix/$file cannot be removed"
    echo "removed $prefix/$file"
  done < "$list"
  rm -f "$list"
  rmdir "$prefix/share/labscope" 2> /dev/null || true
  echo "Your settings and drafts are kept; labscope's documentation names their folders."
  exit 0
fi

[ -n "$from" ] || fail "name the address of the release with --from"
case $version in
  "") fail "name the version with --version" ;;
  *[!0-9A-Za-z.+-]*) fail "$version is not a version" ;;
esac
case $(uname -s) in
  Linux) system=unknown-linux-gnu ;;
  Darwin) system=apple-darwin ;;
  *) fail "there are no files for $(uname -s); build labscope with cargo" ;;
esac
case $(uname -m) in
  x86_64 | amd64) machine=x86_64 ;;
  aarch64 | arm64) machine=aarch64 ;;
  *) fail "there are no files for $(uname -m); build labscope with cargo" ;;
esac
name=labscope-$version-$machine-$system

work=$(mktemp -d) || fail "no temporary folder can be made"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

download() { # file
  if command -v curl > /dev/null; then
    curl --fail --location --silent --show-error --output "$work/$1" "$from/$1" || fail "$from/$1 cannot be downloaded; nothing was installed"
  elif command -v wget > /dev/null; then
    wget --quiet --output-document="$work/$1" "$from/$1" || fail "$from/$1 cannot be downloaded; nothing was installed"
  else
    fail "curl or wget is needed"
  fi
}

sum() { # file
  if command -v sha256sum > /dev/null; then
    sha256sum < "$1" | cut -d ' ' -f 1
  elif command -v shasum > /dev/null; then
    shasum -a 256 < "$1" | cut -d ' ' -f 1
  elif command -v openssl > /dev/null; then
    openssl dgst -sha256 < "$1" | sed 's/.* //'
  else
    fail "sha256sum, shasum or openssl is needed to check the download"
  fi
}

download SHA256SUMS
download "$name.tar.gz"
expected=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$name\.tar\.gz\$/\1/p" "$work/SHA256SUMS")
[ -n "$expected" ] || fail "SHA256SUMS does not name $name.tar.gz; nothing was installed"
actual=$(sum "$work/$name.tar.gz")
[ "$actual" = "$expected" ] || fail "$name.tar.gz has the checksum $actual, not $expected; nothing was installed"
gzip -dc "$work/$name.tar.gz" > "$work/archive.tar" && tar -xf "$work/archive.tar" -C "$work" || fail "$name.tar.gz cannot be unpacked; nothing was installed"

# All files are written beside their places first, so that a full disk leaves what was there.
cat > "$work/places" << 'END'
755 labscope bin/labscope
644 man/labscope.1 share/man/man1/labscope.1
644 completions/labscope.bash share/bash-completion/completions/labscope
644 completions/labscope.zsh share/zsh/site-functions/_labscope
644 completions/labscope.fish share/fish/vendor_completions.d/labscope.fish
644 LICENSE share/doc/labscope/LICENSE
644 LICENSES-OF-CRATES.txt share/doc/labscope/LICENSES-OF-CRATES.txt
END
cut -d ' ' -f 3 "$work/places" > "$work/installed"
undo() {
  while read -r _ _ to; do rm -f "$prefix/$to.new"; done < "$work/places"
  rm -f "$list.new"
  fail "$1 cannot be written; nothing was changed in $prefix"
}
put() { # mode, file, place
  { mkdir -p "$(dirname "$3")" && cp "$2" "$3.new" && chmod "$1" "$3.new"; } || undo "$3"
}
while read -r mode file to; do put "$mode" "$work/$name/$file" "$prefix/$to"; done < "$work/places"
put 644 "$work/installed" "$list"
"$prefix/bin/labscope.new" --version > /dev/null || {
  echo "install.sh: the program does not run on this system" >&2
  undo "$prefix/bin/labscope"
}
while read -r _ _ to; do
  mv -f "$prefix/$to.new" "$prefix/$to"
  echo "installed $prefix/$to"
done < "$work/places"
mv -f "$list.new" "$list"
case :${PATH:-}: in
  *:"$prefix/bin":*) echo "Try it: labscope demo" ;;
  *) echo "Try it: $prefix/bin/labscope demo (add $prefix/bin to PATH)" ;;
esac
echo "To remove it: install.sh --remove --prefix $prefix"
