#!/bin/sh
# Installs the command line of Bourse @version@ for the user who runs this script: the jar in
# ~/.local/share/bourse and the command in ~/.local/bin. PREFIX names another folder than ~/.local.
# Run it again to upgrade. To uninstall, delete both.
#
# It needs Java 17 or later, and curl or wget.
set -eu

url='@url@'
sha256=@sha256@
prefix=${PREFIX:-$HOME/.local}
jar=$prefix/share/bourse/bourse.jar
command=$prefix/bin/bourse

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

# Prints the command. It is called with the major version of Java.
launcher() {
  cat <<'END'
#!/bin/sh
# The command line of Bourse @version@.
prefix=$(dirname "$(dirname "$(readlink -f "$0")")")
END
  if [ "$1" -ge 19 ]; then
    cat <<'END'
# Java keeps an archive of the program's classes here, with which commands start sooner.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/bourse
mkdir -p "$cache" 2>/dev/null || :
set -- -jar "$prefix/share/bourse/bourse.jar" "$@"
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -XX:+IgnoreUnrecognizedVMOptions -XX:TieredStopAtLevel=1 \
  -XX:+UseSerialGC -Xms16m -Xmx256m -Xshare:auto -XX:+AutoCreateSharedArchive \
  -XX:SharedArchiveFile="$cache/bourse.jsa" -Xlog:disable -Xlog:all=error:stderr ${JAVA_OPTIONS:-} "$@"
END
  else
    cat <<'END'
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xms16m -Xmx256m \
  ${JAVA_OPTIONS:-} -jar "$prefix/share/bourse/bourse.jar" "$@"
END
  fi
}

# Called on the last line, so that a script of which only a part arrives does nothing.
main() {
  java=${JAVA_HOME:+$JAVA_HOME/bin/}java
  release=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9][0-9]*\).*/\1/p' | head -n 1)
  [ -n "$release" ] || fail "Java was not found; install Java 17 or later and run this script again"
  [ "$release" -ge 17 ] || fail "Java $release is too old; install Java 17 or later and run this script again"

  mkdir -p "$prefix/share/bourse" "$prefix/bin"
  part=$(mktemp "$jar.XXXXXX")
  new=$(mktemp "$command.XXXXXX")
  trap 'rm -f "$part" "$new"' EXIT
  if command -v curl >/dev/null; then
    curl -fsSL -o "$part" "$url/install/bourse.jar"
  elif command -v wget >/dev/null; then
    wget -q -O "$part" "$url/install/bourse.jar"
  else
    fail "neither curl nor wget was found; install one of them"
  fi
  if command -v sha256sum >/dev/null; then
    found=$(sha256sum <"$part")
  else
    found=$(shasum -a 256 <"$part")
  fi
  [ "${found%% *}" = "$sha256" ] ||
    fail "the download has the SHA-256 ${found%% *} instead of $sha256; fetch this script again"
  launcher "$release" >"$new"
  chmod 644 "$part"
  chmod 755 "$new"
  mv -f "$part" "$jar"
  # In its place, also if that is a link: what the link leads to stays.
  mv -f "$new" "$command"

  echo "Installed $("$command" --version | head -n 1) as $command"
  case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) echo "Add $prefix/bin to your PATH." ;;
  esac
  echo "Next: bourse login --url $url"
}

main "$@"
