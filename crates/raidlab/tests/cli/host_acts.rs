//! Acts on arrays of "this machine", which is a lab guest here.

use crate::guest_host::{Machine, disks, must_say};

/// A member fails at 2 s, is removed at 3 s and added again at 9 s; then everything is compared.
const ACTS: &str = r#"
[[act]]
at = "2s"
do = "fail"
disk = 2
[[act]]
at = "3s"
do = "remove"
disk = 2
[[act]]
at = "9s"
do = "add"
disk = 2
[[act]]
when = "resync done"
do = "check"
[disks]
count = 3
[[stack]]
array = { level = 5, size = "64M", bitmap = "none" }
fs = { type = "ext4" }
[[workload]]
name = "w"
io = { rw = "randread", bs = "4K", size = "16M", runtime = "20s", direct = true }
[precision]
trials = 1
"#;

/// While the member is out of the array, no other program can use it. If the run is killed then, it leaves only
/// what `clean` can undo, and the disk, which was not held, must be released again.
#[test]
fn lab_host_a_member_that_was_removed_is_held_until_it_is_added_again() {
    let machine = Machine {
        disks: disks(3),
        ..Machine::default()
    };
    let Some(said) = machine.script(
        ACTS,
        r#"
run="$R run study.toml --on host --devices /dev/vda,/dev/vdb,/dev/vdc"
until_removed() {
    until grep -q 'vdb.*(F)' /proc/mdstat; do kill -0 $! || exit 1; sleep 0.1; done
    while grep -q vdb /proc/mdstat; do sleep 0.1; done
    sleep 1
}
sed -E 's/do = "(fail|remove|add)"/do = "slow"\ndelay = "1s"/' study.toml > slow.toml
code=0; $R run slow.toml --on host --devices /dev/vda,/dev/vdb,/dev/vdc > refused 2>&1 || code=$?; cat refused; test $code = 2
$run --dry-run | grep 'meanwhile: fail disk 2 at 2 s'
$run &
until_removed
mke2fs -q -F /dev/vdb && exit 1
mkdir other; mount -t ext4 /dev/vdb other && exit 1
mdadm --create /dev/md7 --run --quiet --level=1 --raid-devices=2 --homehost='<none>' /dev/vdb missing && exit 1
echo NOBODY GETS IT
wait $!
$R show | grep 'degraded *rebuilding *rebuilt *checking'
for disk in vda vdb vdc; do test -z "$(wipefs --noheadings /dev/$disk)"; done
run="$run --store killed.db"
$run &
until_removed
kill -9 $!; wait $! || true; sleep 1
$R clean
for disk in vda vdb vdc; do test -z "$(wipefs --noheadings /dev/$disk)"; done
test -z "$(ls /tmp/state | grep -v lock)"; grep -q md1 /proc/mdstat && exit 1
$run --destroy vdb
echo NOTHING IS LEFT
"#,
    ) else {
        return;
    };
    must_say(
        &said,
        &[
            "`slow` needs a simulated disk; run it in the lab, or leave the act out; nothing was touched",
            "NOBODY GETS IT",
            "degraded   rebuilding   rebuilt   checking",
            "undone: stop /dev/md100",
            "run the same command to continue, with `--destroy vdb`",
            "NOTHING IS LEFT",
        ],
    );
    assert_eq!(said.matches("1 trials done, 0 failed").count(), 2, "{said}");
}

/// A trial that ends while the member is removed; and one in which another program has made a filesystem on it
/// before it was held: a wrapper of mdadm does so as soon as the member is removed.
#[test]
fn lab_host_a_member_that_stays_out_is_cleared_and_one_that_others_took_is_left() {
    let study = ACTS.replace(
        "[[act]]\nat = \"9s\"\ndo = \"add\"\ndisk = 2\n[[act]]\nwhen = \"resync done\"\ndo = \"check\"\n",
        "",
    );
    assert_ne!(study, ACTS);
    let machine = Machine {
        disks: disks(3),
        ..Machine::default()
    };
    let Some(said) = machine.script(
        &study,
        r#"
run="$R run study.toml --on host --devices /dev/vda,/dev/vdb,/dev/vdc"
$run --store out.db
for disk in vda vdb vdc; do test -z "$(wipefs --noheadings /dev/$disk)"; done
echo OUT AND CLEARED
cat > mdadm <<'END'
#!/bin/bash
/tmp/real-mdadm "$@"; code=$?
case "$*" in *--remove*) /sbin/mke2fs -q -F -L MINE /dev/vdb;; esac
exit $code
END
chmod +x mdadm; cp /sbin/mdadm real-mdadm; mount --bind mdadm "$(readlink -f /sbin/mdadm)"
code=0; $run --store taken.db || code=$?; test $code = 1
blkid --probe --output value --match-tag LABEL /dev/vdb
code=0; $run --store again.db || code=$?; test $code = 2
"#,
    ) else {
        return;
    };
    must_say(
        &said,
        &[
            "OUT AND CLEARED",
            "/dev/vdb was taken over by another program after its array released it: it has ext2",
            "MINE",
        ],
    );
}
