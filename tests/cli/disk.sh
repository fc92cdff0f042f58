# Disks that are full or cannot be written, real ones: small file systems of this test's own, in a mount namespace of its
# own, which root can make. The compile cache, the store and the baselines are each put there.
if [ "${1-}" != inside ]; then
    [ "$(id -u)" = 0 ] && unshare -m sh -c 'mount -t tmpfs -o size=64k none /mnt' 2>/dev/null ||
        { echo "skip - full disks: mounting needs root and its capabilities"; exit 77; }
    exec unshare -m sh "$0" inside
fi
. "${PW_SOURCE:?}/tests/lib.sh"
need_opencl
cd "$scratch" || exit 1
mkdir small
trap 'umount "$scratch/small" 2>/dev/null; rm -rf "$scratch"' EXIT
small() { umount small 2>/dev/null; mount -t tmpfs -o "size=$1" none small && chmod 1777 small; }
fill() { dd if=/dev/zero of=small/fill bs=1k 2>/dev/null; }

"$PORTWRIGHT" make-graph 'Abs-13 (float32[64])' -o abs.onnx >/dev/null || exit 1
check="$PORTWRIGHT check abs.onnx --op Abs --no-timing"

# The cache is full, has little room, cannot be written: the check works without it and says why.
# shellcheck disable=SC2086
for how in full little read-only; do
    case $how in
    full) small 64k; fill; why="No space left on device" ;;
    little) small 4m; why="are free there" ;;
    read-only) small 64m; mkdir small/portwright; mount -o remount,ro none small; why="Read-only file system" ;;
    esac
    exits "a cache that is $how" 0 env XDG_CACHE_HOME="$scratch/small" $check --db ""
    says "it is named" "$scratch/err" "the compile cache $scratch/small/portwright cannot be used"
    says "with the reason" "$scratch/err" "$why"
    says "and what to do" "$scratch/err" "set XDG_CACHE_HOME"
done
data=/usr/include/onnx/backend/test/data/node/test_abs
if [ -d "$data" ]; then
    exits "conformance" 0 env XDG_CACHE_HOME="$scratch/small" "$PORTWRIGHT" conformance "$data" --target opencl
    says "says it, too" "$scratch/err" "$why"
fi

# It fills up while kernels are compiled: what fails is put to the disk, not to the kernel.
small 34m
(
    XDG_CACHE_HOME=$scratch/small TMPDIR=$scratch
    export XDG_CACHE_HOME TMPDIR
    # shellcheck disable=SC2086
    $check --db "" >"$scratch/out" 2>"$scratch/err" & # once it has begun, everything is taken
    check_pid=$!
    until [ -d small/portwright/shared ] || ! kill -0 $check_pid 2>/dev/null; do :; done
    fill
    wait $check_pid
    echo $? >"$scratch/code"
)
case $(cat code) in
1) says "a cache that fills up is what failed" "$scratch/out" "is full" ;;
*) ok "the kernel was compiled before the disk was full" ;;
esac

# Store and baselines.
small 128k
fill
# shellcheck disable=SC2086
{
    exits "a store on a full disk: the check still judges" 0 $check --db small/x.db
    says "and says that nothing was recorded" "$scratch/err" "small/x.db"
    says "with the reason" "$scratch/err" "full"
    exits "a baseline on a full disk" 2 "$PORTWRIGHT" baseline record abs.onnx --no-timing --db "" --baselines small
    says "is refused with the reason" "$scratch/err" "No space left on device"
    [ -z "$(find small -name '*pending*')" ] && ok "and leaves nothing half" || not_ok "and leaves nothing half"
    small 64m
    mount -o remount,ro none small
    exits "a store that cannot be written" 0 $check --db small/x.db
    says "is named" "$scratch/err" "small/x.db"
    exits "a baseline that cannot" 2 "$PORTWRIGHT" baseline record abs.onnx --no-timing --db "" --baselines small
    says "is, too" "$scratch/err" "Read-only file system"
}
finish
