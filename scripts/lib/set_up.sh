# Prepares a fresh Debian, Ubuntu or Raspberry Pi OS for the other scripts: system packages, .venv, pinned Python packages.
# Sourced by scripts/run, test, check and bench. All messages go to standard error; a second run takes
# a fraction of a second.
# shellcheck shell=bash

set -euo pipefail

PROJECT_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
VENV="$PROJECT_ROOT/.venv"
STAMPS="$VENV/.gatehouse"
MISSING_PACKAGES=()

say() { printf '%s\n' "$*" >&2; }

give_up() {
  say "$1"
  exit 1
}

# --- system packages ---------------------------------------------------------------------------------------------

need() { # need PACKAGE CHECK…: notes the package as missing if the check fails
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
    give_up "Root is required for: $*
Run it as root, or install sudo, and start again."
  fi
}

# Debian starts a server as soon as its package is installed, but only the programs are wanted: during the installation a
# policy forbids starting services, unless the machine has its own policy.
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

# One line for each package that is set up is enough progress.
apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null 2>&1 |
    { grep -E '^(E:|W:|Err:|dpkg: error|Need to get|Setting up)' || true; } >&2
}

install_missing_packages() {
  [ ${#MISSING_PACKAGES[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || give_up "Missing packages (Debian names): ${MISSING_PACKAGES[*]}
apt-get was not found: install them with the package manager of this system and start again."
  say "Installing system packages: ${MISSING_PACKAGES[*]}"
  keep_services_quiet install_packages "${MISSING_PACKAGES[@]}" ||
    give_up "apt-get could not install ${MISSING_PACKAGES[*]}; see its output above."
  MISSING_PACKAGES=()
}

install_packages() {
  # The package lists of a fresh machine are empty, those of an old one are out of date.
  apt_get update && apt_get install -y --no-install-recommends "$@"
}

# --- Python ------------------------------------------------------------------------------------------------------

is_usable() { # can this Python run Gatehouse and create a virtual environment?
  "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

usable_python() {
  local candidate
  for candidate in /usr/bin/python3 python3 python3.13 python3.12 python3.11; do
    if is_usable "$candidate"; then
      command -v "$candidate"
      return
    fi
  done
  return 1
}

need_python() {
  [ ! -x "$VENV/bin/python" ] || return 0
  need python3-venv usable_python
}

make_environment() {
  [ ! -x "$VENV/bin/python" ] || return 0
  local python
  python=$(usable_python) || give_up "Python 3.11 or newer is required. This machine has $(python3 --version 2>/dev/null || echo none)."
  say "Creating .venv with $("$python" --version)"
  "$python" -m venv "$VENV" || give_up "The virtual environment $VENV could not be created; see Python's output above."
}

# The checksum of what is installed is stored in the environment; a changed requirements file is installed again.
install_requirements() { # install_requirements NAME: what requirements/NAME.txt pins, then Gatehouse itself
  local file="$PROJECT_ROOT/requirements/$1.txt" sum
  make_environment
  sum=$(cat "$file" "$PROJECT_ROOT/pyproject.toml" | sha256sum | cut -d' ' -f1)
  if [ "$(cat "$STAMPS/$1" 2>/dev/null || true)" != "$sum" ] && ! covered_by_tests "$1"; then
    fetch_requirements "$file"
    mkdir -p "$STAMPS"
    printf '%s\n' "$sum" >"$STAMPS/$1"
  fi
}

covered_by_tests() { # the packages for tests include those for running
  [ "$1" = run ] || return 1
  local sum
  sum=$(cat "$PROJECT_ROOT/requirements/tests.txt" "$PROJECT_ROOT/pyproject.toml" | sha256sum | cut -d' ' -f1)
  [ "$(cat "$STAMPS/tests" 2>/dev/null || true)" = "$sum" ]
}

# The pinned build backend comes first: packages without a wheel, and Gatehouse itself, are built with it and never with
# one that an isolated build would fetch.
fetch_requirements() { # fetch_requirements REQUIREMENTS
  local log="$STAMPS/pip.log" number
  mkdir -p "$STAMPS"
  number=$(grep -c '==' "$1")
  [ -x "$VENV/bin/pip" ] || "$VENV/bin/python" -m ensurepip >&2
  say "Installing the $number Python packages pinned in ${1#"$PROJECT_ROOT/"}; the first time takes a few minutes"
  awk '/^[^ #]/ { backend = /^setuptools==/ } backend' "$1" >"$STAMPS/backend.txt"
  {
    in_environment pip install --progress-bar off --require-hashes --no-deps -r "$STAMPS/backend.txt" &&
      in_environment pip install --progress-bar off --require-hashes --no-deps --no-build-isolation -r "$1"
  } 2>&1 | tee "$log" | show_progress "$number" || give_up "The Python packages could not be installed. pip's output:
$(grep -v '^Collecting\|^Ignoring\|^  ' "$log" | tail -n 20)"
  in_environment pip install --no-deps --no-build-isolation -e "$PROJECT_ROOT" >"$log" 2>&1 ||
    give_up "Gatehouse itself could not be installed into .venv. pip's output:
$(tail -n 20 "$log")"
}

in_environment() { PIP_DISABLE_PIP_VERSION_CHECK=1 "$VENV/bin/python" -m "$@" </dev/null; }

show_progress() { # show_progress TOTAL: a counting line on a terminal, elsewhere a line for every twentieth package
  local total=$1 line seen=0 step=20 ending='\n'
  [ ! -t 2 ] || { step=1 ending='\r'; }
  while IFS= read -r line; do
    case $line in
      Collecting\ *) seen=$((seen + 1)) ;;
      Installing\ *) printf '  unpacking%-40s\n' '' >&2 && continue ;;
      *) continue ;;
    esac
    [ $((seen % step)) -ne 0 ] || printf "  %3d of %d  %-40s$ending" "$seen" "$total" "$(cut -d' ' -f2 <<<"$line")" >&2
  done
}

# --- what each command needs -----------------------------------------------------------------------------------------

# What tickets are drawn with, and the letters of all languages that they are drawn in.
need_pages() {
  need libpangocairo-1.0-0 has_library libpangocairo-1.0.so.0
  need fonts-noto-core has_file '/usr/share/fonts/*/noto/NotoSansArabic-Regular.*'
  need fonts-noto-cjk has_file '/usr/share/fonts/*/noto/NotoSansCJK-Regular.*'
}

prepare_to_run() {
  need_python
  need libzbar0 has_library libzbar.so.0
  need_pages
  install_missing_packages
  install_requirements run
}

prepare_to_check() {
  need_python
  need git has_program git
  install_missing_packages
  install_requirements tests
}

prepare_to_bench() { # after prepare_to_test
  need wrk has_program wrk
  install_missing_packages
}

is_excluded() { [[ ",${GATEHOUSE_TEST_SKIP:-}," == *",$1,"* ]]; }

prepare_to_test() {
  need_python
  need git has_program git
  need libzbar0 has_library libzbar.so.0
  need_pages
  need poppler-utils has_program pdftoppm
  is_excluded postgresql || need postgresql has_postgres
  is_excluded postgresql || need pgbouncer has_pgbouncer
  is_excluded redis || need redis-server has_program redis-server
  is_excluded rabbitmq || need rabbitmq-server has_file '/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server'
  is_excluded browser || need chromium has_browser
  is_excluded nginx || need nginx has_nginx
  is_excluded cups || need cups-daemon has_cups
  is_excluded cups || need cups-client has_program lpadmin
  need systemd has_program systemd-analyze
  need prometheus has_program promtool
  need curl has_program curl
  need nodejs has_program node
  install_missing_packages
  install_requirements tests
}

has_postgres() { has_file '/usr/lib/postgresql/*/bin/initdb' || has_program initdb; }

has_pgbouncer() { has_file /usr/sbin/pgbouncer || has_program pgbouncer; }

has_nginx() { PATH="$PATH:/usr/sbin" command -v nginx; }

has_cups() { PATH="$PATH:/usr/sbin" command -v cupsd; }

has_browser() { has_program chromium || has_program chromium-browser || has_program google-chrome; }
