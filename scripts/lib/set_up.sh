# Brings a fresh Debian, Ubuntu or Raspberry Pi OS to where the other scripts can work: system packages, .venv, pinned parts.
# Sourced by scripts/run, test, check and bench. Everything it says goes to standard error; what is there already costs
# a fraction of a second.
# shellcheck shell=bash

set -euo pipefail

HOUSE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
VENV="$HOUSE/.venv"
STAMPS="$VENV/.gatehouse"
MISSING_PACKAGES=()

say() { printf '%s\n' "$*" >&2; }

give_up() {
  say "$1"
  exit 1
}

# --- system packages ---------------------------------------------------------------------------------------------

need() { # need PACKAGE CHECK…: remembers the package if the check fails
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || MISSING_PACKAGES+=("$package")
}

has_program() { command -v "$1"; }

has_file() { compgen -G "$1"; } # has_file PATTERN

has_library() { PATH="$PATH:/sbin:/usr/sbin" ldconfig -p | grep -F "$1"; }

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    give_up "Root is needed for: $*
Run it as root, or install sudo, and start again."
  fi
}

# Debian starts a server as soon as its package is installed. We only want the programs: while the packages are being
# installed a policy forbids starting anything, unless the machine has a policy of its own.
keep_services_quiet() { # keep_services_quiet COMMAND…
  local policy=/usr/sbin/policy-rc.d status=0
  if [ -e "$policy" ]; then
    "$@"
    return
  fi
  printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
  as_root chmod 755 "$policy"
  trap 'as_root rm -f /usr/sbin/policy-rc.d' EXIT
  "$@" || status=$?
  as_root rm -f "$policy"
  trap - EXIT
  return "$status"
}

# A line for each package that is unpacked or set up is progress enough.
apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null 2>&1 |
    { grep -E '^(E:|W:|Err:|dpkg: error|Need to get|Setting up)' || true; } >&2
}

install_missing_packages() {
  [ ${#MISSING_PACKAGES[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || give_up "Missing here: ${MISSING_PACKAGES[*]} (Debian's names).
This is no Debian, Ubuntu or Raspberry Pi OS: install them by your own means and start again."
  say "Installing system packages: ${MISSING_PACKAGES[*]}"
  keep_services_quiet install_packages "${MISSING_PACKAGES[@]}" ||
    give_up "apt-get could not install ${MISSING_PACKAGES[*]}; what it said stands above."
  MISSING_PACKAGES=()
}

install_packages() {
  # The lists of a fresh machine are empty, those of an old one name packages that are gone.
  apt_get update && apt_get install -y --no-install-recommends "$@"
}

# --- Python ------------------------------------------------------------------------------------------------------

is_fit() { # can this Python run the house and make an environment?
  "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

fit_python() {
  local candidate
  for candidate in /usr/bin/python3 python3 python3.13 python3.12 python3.11; do
    if is_fit "$candidate"; then
      command -v "$candidate"
      return
    fi
  done
  return 1
}

need_python() {
  [ ! -x "$VENV/bin/python" ] || return 0
  need python3-venv fit_python
}

make_environment() {
  [ ! -x "$VENV/bin/python" ] || return 0
  local python
  python=$(fit_python) || give_up "Python 3.11 or newer is needed. This machine has $(python3 --version 2>/dev/null || echo none)."
  say "Making .venv with $("$python" --version)"
  "$python" -m venv "$VENV" || give_up "The environment $VENV could not be made; what Python said stands above."
}

# Installed is what the requirement file says, letter for letter: its checksum is kept beside the environment.
install_parts() { # install_parts NAME: what requirements/NAME.txt pins, then the house itself
  local file="$HOUSE/requirements/$1.txt" sum
  make_environment
  sum=$(cat "$file" "$HOUSE/pyproject.toml" | sha256sum | cut -d' ' -f1)
  if [ "$(cat "$STAMPS/$1" 2>/dev/null || true)" != "$sum" ] && ! covered_by_tests "$1"; then
    fetch_parts "$file"
    mkdir -p "$STAMPS"
    printf '%s\n' "$sum" >"$STAMPS/$1"
  fi
}

covered_by_tests() { # everything for tests includes what runs the house
  [ "$1" = house ] || return 1
  local sum
  sum=$(cat "$HOUSE/requirements/tests.txt" "$HOUSE/pyproject.toml" | sha256sum | cut -d' ' -f1)
  [ "$(cat "$STAMPS/tests" 2>/dev/null || true)" = "$sum" ]
}

# The build backend comes first and from the pins: what has no wheel (and the house itself) is built with that one, never
# with whatever an isolated build would fetch.
fetch_parts() { # fetch_parts REQUIREMENTS
  local log="$STAMPS/pip.log" number
  mkdir -p "$STAMPS"
  number=$(grep -c '==' "$1")
  [ -x "$VENV/bin/pip" ] || "$VENV/bin/python" -m ensurepip >&2
  say "Installing the $number Python parts that ${1#"$HOUSE/"} pins; the first time takes a few minutes"
  awk '/^[^ #]/ { backend = /^setuptools==/ } backend' "$1" >"$STAMPS/backend.txt"
  {
    in_environment pip install --progress-bar off --require-hashes --no-deps -r "$STAMPS/backend.txt" &&
      in_environment pip install --progress-bar off --require-hashes --no-deps --no-build-isolation -r "$1"
  } 2>&1 | tee "$log" | show_progress "$number" || give_up "The Python parts could not be installed. pip said:
$(grep -v '^Collecting\|^Ignoring\|^  ' "$log" | tail -n 20)"
  in_environment pip install --no-deps --no-build-isolation -e "$HOUSE" >"$log" 2>&1 ||
    give_up "The house itself could not be installed into .venv. pip said:
$(tail -n 20 "$log")"
}

in_environment() { PIP_DISABLE_PIP_VERSION_CHECK=1 "$VENV/bin/python" -m "$@" </dev/null; }

show_progress() { # show_progress TOTAL: a line that counts on a terminal, a line for every twentieth part elsewhere
  local total=$1 line seen=0 step=20 ending='\n'
  [ ! -t 2 ] || { step=1 ending='\r'; }
  while IFS= read -r line; do
    case $line in
      Collecting\ *) seen=$((seen + 1)) ;;
      Installing\ *) printf '  unpacking them%-40s\n' '' >&2 && continue ;;
      *) continue ;;
    esac
    [ $((seen % step)) -ne 0 ] || printf "  %3d of %d  %-40s$ending" "$seen" "$total" "$(cut -d' ' -f2 <<<"$line")" >&2
  done
}

# --- what each command needs -----------------------------------------------------------------------------------------

prepare_to_run() {
  need_python
  need libzbar0 has_library libzbar.so.0
  install_missing_packages
  install_parts house
}

prepare_to_check() {
  need_python
  need git has_program git
  install_missing_packages
  install_parts tests
}

left_out() { [[ ",${GATEHOUSE_TEST_SKIP:-}," == *",$1,"* ]]; }

prepare_to_test() {
  need_python
  need git has_program git
  need libzbar0 has_library libzbar.so.0
  left_out postgresql || need postgresql has_postgres
  left_out redis || need redis-server has_program redis-server
  left_out rabbitmq || need rabbitmq-server has_file '/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server'
  left_out browser || need chromium has_browser
  install_missing_packages
  install_parts tests
}

has_postgres() { has_file '/usr/lib/postgresql/*/bin/initdb' || has_program initdb; }

has_browser() { has_program chromium || has_program chromium-browser || has_program google-chrome; }
