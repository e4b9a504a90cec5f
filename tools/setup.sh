#!/bin/sh
# Installs the Debian packages that building, testing and the demonstration need. Harmless to repeat: when all
# are there, nothing is called. Without root it changes nothing and says what to run. With --tests also what some tests
# need and are skipped without: a browser.
set -eu

packages="gcc g++ make git pkg-config libc6-dev diffutils zstd check fonts-dejavu-core
          libconfig-dev libzstd-dev libcsv-dev libjansson-dev libcairo2-dev
          libsdl2-dev libsdl2-ttf-dev openmpi-bin libopenmpi-dev"
case ${1-} in
    --tests) packages="$packages chromium chromium-driver nodejs" ;;
    "") ;;
    *)
        echo "tools/setup.sh: '$1' is no option; there is --tests, for what some tests need besides" >&2
        exit 2
        ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    cat >&2 <<END
tools/setup.sh: this system has no apt, so nothing was installed. Install a C11 compiler, make, git, pkg-config,
zstd, the DejaVu fonts, and the development files of libconfig, libzstd, libcsv, jansson, cairo, SDL2, SDL2_ttf,
Check and Open MPI with your own package manager; then run make.
END
    exit 1
fi

missing=
for package in $packages; do
    status=$(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done

if [ -z "$missing" ]; then
    echo "tools/setup.sh: everything is installed"
    exit 0
fi

install="apt-get install --yes --no-install-recommends$missing"
if [ "$(id -u)" != 0 ]; then
    cat >&2 <<END
tools/setup.sh: these packages are missing:$missing
Installing them needs root. Run this, then go on:
    sudo apt-get update && sudo $install
END
    exit 1
fi

echo "tools/setup.sh: installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update --quiet --quiet
$install
