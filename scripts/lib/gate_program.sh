# The gate's program in an environment of its own under $PREFIX, a new one for each version. Sourced by scripts/install-gate.
# shellcheck shell=bash

wants() { [[ " ${EXTRAS[*]} " == *" $1 "* ]]; }

restore_extras() { # an upgrade keeps the options of the first installation
  local extra
  [ -e "$PREFIX/current/.extras" ] || return 0
  while read -r extra; do
    wants "$extra" || [ ! -e "$PROJECT_ROOT/requirements/$extra.txt" ] || EXTRAS+=("$extra") # an older version had others
  done <"$PREFIX/current/.extras"
}

checksum() { # of everything that is installed: the pins of the chosen options and the program itself
  local extra
  {
    for extra in $(printf '%s\n' "${EXTRAS[@]}" | LC_ALL=C sort); do cat "$PROJECT_ROOT/requirements/$extra.txt"; done
    cat "$PROJECT_ROOT/pyproject.toml"
    find "$PROJECT_ROOT/gate_app" "$PROJECT_ROOT/shared" "$PROJECT_ROOT/hardware" -type f ! -name '*.pyc' -print0 | LC_ALL=C sort -z | xargs -0 cat
  } | sha256sum | cut -c1-12
}

# Each version has its own environment and is activated atomically: a failed upgrade changes nothing.
install_program() {
  VENV="$PREFIX/$(checksum)"
  STAMPS="$VENV/.gatehouse"
  if [ -e "$VENV/.whole" ]; then
    say "This version is already installed."
    return
  fi
  if [ "$DRY" = yes ]; then
    printf 'would create %s with %s, and install this checkout into it\n' "$VENV" "$(printf 'requirements/%s.txt ' "${EXTRAS[@]}")"
    return
  fi
  rm -rf "$VENV"
  mkdir -p "$PREFIX"
  make_environment
  mkdir -p "$STAMPS"
  local extra
  for extra in "${EXTRAS[@]}"; do fetch_pinned "$PROJECT_ROOT/requirements/$extra.txt"; done
  install_checkout
  "$VENV/bin/gatehouse-gate" --help >/dev/null || give_up "The new version does not start. The previous gate is untouched."
  printf '%s\n' "${EXTRAS[@]}" >"$VENV/.extras"
  touch "$VENV/.whole"
}

fetch_pinned() { # fetch_pinned REQUIREMENTS: the build backend first, then everything, checked by hash
  local number log="$STAMPS/pip.log"
  number=$(grep -c '==' "$1")
  say "Installing the $number Python packages pinned in ${1#"$PROJECT_ROOT/"}"
  awk '/^[^ #]/ { backend = /^setuptools==/ } backend' "$1" >"$STAMPS/backend.txt"
  {
    in_environment pip install --progress-bar off --require-hashes --no-deps -r "$STAMPS/backend.txt" &&
      in_environment pip install --progress-bar off --require-hashes --no-deps --no-build-isolation -r "$1"
  } 2>&1 | tee "$log" | show_progress "$number" || give_up "The Python packages could not be installed. The previous gate is untouched. pip's output:
$(tail -n 20 "$log")"
}

install_checkout() {
  # From a copy, because building leaves files in the source tree.
  local copy log="$STAMPS/pip.log"
  copy=$(mktemp -d)
  tar -C "$PROJECT_ROOT" --exclude=.git --exclude=.venv --exclude=.cache --exclude=var --exclude=tests -cf - . | tar -C "$copy" -xf -
  in_environment pip install --no-deps --no-build-isolation "$copy" >"$log" 2>&1 || give_up "The program could not be installed. pip's output:
$(tail -n 20 "$log")"
  rm -rf "$copy"
}

activate() {
  run ln -sfn "$VENV" "$PREFIX/current.new"
  run mv -Tf "$PREFIX/current.new" "$PREFIX/current"
}

remove_older_versions() {
  local each
  for each in "$PREFIX"/*/; do
    each=${each%/}
    [ -L "$each" ] || [ "$each" = "$VENV" ] || [ ! -d "$each" ] || run rm -rf "$each"
  done
}
