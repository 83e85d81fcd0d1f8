# Provides Node 24 on Debian 13, the reference of README.md, on any Debian machine. Sourced by .ci/run; uses its as_root, install_packages,
# $scratch and $tests_folder. The root file system is made once and cached outside the checkout.

node24_cache="${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/easel-ci"
node24_root="$node24_cache/debian13-node24"
# The reason, in one line, if the second test run is not possible.
node24_missing=''
# The command that runs its arguments under Node 24; set by prepare_node24.
in_node24=()

# Prints the address of the first Debian archive in apt's configuration.
debian_mirror() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 2>/dev/null | head -n 1
}

make_node24_root() {
  local making mirror proxy='' arch package
  case $(dpkg --print-architecture) in
    amd64) arch=x64 ;;
    arm64) arch=arm64 ;;
    *) node24_missing='there is no Node 24 for this processor in the package registry'; return 1 ;;
  esac
  command -v debootstrap >/dev/null || install_packages debootstrap || { node24_missing='debootstrap could not be installed'; return 1; }
  mirror=$(debian_mirror)
  [[ -n $mirror ]] || { node24_missing='apt names no Debian archive'; return 1; }
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  if ! mkdir -p "$node24_cache" || ! making=$(mktemp -d "$node24_cache/making.XXXXXX"); then
    node24_missing="$node24_cache cannot be written"
    return 1
  fi
  chmod 755 "$making"
  # Packages are only unpacked: configuring them needs rights that a container may lack, and Node does not need it.
  if ! as_root env ${proxy:+"http_proxy=$proxy"} timeout 5m debootstrap --variant=minbase --foreign trixie "$making" "$mirror" >"$scratch/debootstrap.log" 2>&1; then
    node24_missing="debootstrap of trixie failed: $(tail -n 1 "$scratch/debootstrap.log" | sed 's#[a-z]*://[^ ]*#the archive#g')"
  elif ! unpack_all "$making"; then
    node24_missing='the packages of trixie could not be unpacked'
  elif ! npm install --prefix "$scratch/node24" --no-save --ignore-scripts --loglevel=error "node-linux-$arch@24" >"$scratch/node24.log" 2>&1; then
    node24_missing='the package registry gave no Node 24'
  else
    as_root install -D "$scratch/node24/node_modules/node-linux-$arch/bin/node" "$making/usr/local/bin/node"
    # Renamed into place, so that a concurrent run never sees an incomplete root.
    as_root rm -rf "$node24_root"
    as_root mv --no-target-directory "$making" "$node24_root" || node24_missing='the root could not be put in its place'
  fi
  as_root rm -rf "$making"
  [[ -z $node24_missing ]]
}

unpack_all() {
  local package
  for package in "$1"/var/cache/apt/archives/*.deb; do as_root dpkg-deb --extract "$package" "$1" || return 1; done
  as_root rm -rf "$1/var/cache/apt/archives" "$1/debootstrap"
}

# Uses a separate mount namespace, so that all mounts end with the process.
in_node24_chroot() {
  as_root unshare --mount --propagation private bash -euc '
    root=$1 user=$2 checkout=$3 scratch=$4
    shift 4
    for file in passwd group hosts resolv.conf nsswitch.conf; do if [[ -e /etc/$file ]]; then cp -fL "/etc/$file" "$root/etc/$file"; fi; done
    for place in /proc /sys /dev /tmp "$checkout" "$scratch"; do
      mkdir -p "$root$place"
      mount --rbind "$place" "$root$place"
    done
    exec chroot --userspec="$user" "$root" /usr/bin/env --ignore-environment --chdir="$checkout" "$@"
  ' bash "$node24_root" "$(id -u):$(id -g)" "$PWD" "$scratch" "${node24_environment[@]}" "$@"
}

# For containers without mounts: runs the same Node with the dynamic loader and libraries of Debian 13.
in_node24_loader() {
  env --ignore-environment "${node24_environment[@]}" "PATH=$scratch/node24-bin:$PATH" "$@"
}

patch_node24() {
  local library_dir
  command -v patchelf >/dev/null || install_packages patchelf || return 1
  library_dir=$(dirname "$(find "$node24_root/usr/lib" -name libc.so.6 -print -quit)")
  mkdir -p "$scratch/node24-bin"
  cp "$node24_root/usr/local/bin/node" "$scratch/node24-bin/node"
  patchelf --set-interpreter "$(find "$library_dir" -name 'ld-linux-*' -print -quit)" --set-rpath "$library_dir" "$scratch/node24-bin/node"
}

# True if Node 24 runs with a C library that is new enough for its uWebSockets.js binary.
node24_works() {
  [[ -x $node24_root/usr/local/bin/node ]] || return 1
  "$@" node -e '
    require("uWebSockets.js");
    if (!process.version.startsWith("v24.")) process.exit(1);
    console.log(`Node ${process.version}, glibc ${process.report.getReport().header.glibcVersionRuntime}`);
  ' 2>"$scratch/node24-works.log"
}

# Sets in_node24, or node24_missing if that fails.
prepare_node24() {
  local name round
  node24_environment=("PATH=/usr/local/bin:/usr/bin:/bin" "HOME=/tmp" "TMPDIR=$tests_folder" "CI=true" "CHROMIUM_PATH=none" "TEST_DATABASES=embedded")
  for name in TEST_DATABASE_URL TEST_REDIS_URL; do
    if [[ -n ${!name:-} ]]; then node24_environment+=("$name=${!name}"); fi
  done
  # The cached root may be damaged, for example by a full disk; it is then made again.
  for round in kept made; do
    if [[ $round == made || ! -d $node24_root ]]; then make_node24_root || return 1; fi
    if node24_works in_node24_chroot; then in_node24=(in_node24_chroot); return 0; fi
    if patch_node24 && node24_works in_node24_loader; then in_node24=(in_node24_loader); return 0; fi
  done
  node24_missing='Node 24 runs neither in a chroot nor by the loader of Debian 13'
  return 1
}
