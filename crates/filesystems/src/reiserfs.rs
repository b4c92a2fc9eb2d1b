//! ReiserFS, which was removed from Linux after 6.12.

use crate::{Amount, Checker, Filesystem, Journal, KernelSupport, Made, Mkfs, Need, Program, Request};

static MKFS: Program = Program::new("mkfs.reiserfs", "reiserfsprogs").version_argument("-V");
static REISERFSCK: Program = Program::new("reiserfsck", "reiserfsprogs").version_argument("-V");

pub const FILESYSTEM: Filesystem = Filesystem {
    words: &["reiserfs"],
    name: "ReiserFS",
    title: "ReiserFS",
    smallest_bytes: 40 << 20,
    smallest_striped_bytes: 40 << 20,
    journal: Some(Journal {
        least: Amount::Blocks(513),
        most: Amount::Blocks(32_749),
        is_in_mib: false,
        signature: "reiserfs",
        device: None,
        mount_option: Some("jdev={}"),
    }),
    has_journal_modes: true,
    kernel: KernelSupport {
        config: &["CONFIG_REISERFS_FS=y"],
        last: Some((6, 12)),
        ..KernelSupport::PLAIN
    },
    made: Made::Mkfs(Mkfs {
        block_size: &["-b", "{}"],
        computed: Some(journal),
        uuid: &["-u", "{}"],
        ..Mkfs::new(&MKFS, &["-q", "-f", "-f"])
    }),
    signatures: &["reiserfs"],
    checker: Some(Checker {
        program: &REISERFSCK,
        arguments: &["--check", "--yes", "--quiet"],
    }),
    needs: &[Need {
        file: "mkfs.reiserfs",
        package: "reiserfsprogs",
        why: "makes ReiserFS",
    }],
    mount_options: Some(
        "acl attrs barrier block-allocator commit conv data errors expose_privroot grpjquota grpquota jdev \
        jqfmt largeio noquota notail replayonly resize tails user_xattr usrjquota usrquota",
    ),
    ..Filesystem::PLAIN
};

fn journal(request: &Request) -> Result<Vec<String>, String> {
    let mut arguments = Vec::new();
    if let Some(device) = request.journal {
        arguments.extend(["-j".to_owned(), device.to_owned()]);
    }
    if let Some(bytes) = request.spec.journal_size_bytes {
        let block_bytes = request.block_bytes();
        if block_bytes == 0 || !bytes.is_multiple_of(block_bytes) {
            return Err(format!(
                "a journal of {bytes} bytes: reiserfs takes whole blocks of {block_bytes} bytes"
            ));
        }
        arguments.extend(["-s".to_owned(), (bytes / block_bytes).to_string()]);
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use crate::FilesystemKind::Reiserfs;
    use crate::FilesystemSpec;
    use crate::make::tests::{call, chosen, plain, spec};

    #[test]
    fn the_call_of_mkfs() {
        assert_eq!(plain(Reiserfs), "mkfs.reiserfs -q -f -f");
        assert_eq!(
            chosen(Reiserfs, 4096, Some(16 << 20)),
            "mkfs.reiserfs -q -f -f -b 4096 -s 4096"
        );
        let odd = FilesystemSpec {
            journal_size_bytes: Some(5000),
            ..spec(Reiserfs)
        };
        assert_eq!(
            call(&odd, false, [3, 6, 27]),
            Err("a journal of 5000 bytes: reiserfs takes whole blocks of 4096 bytes".to_owned())
        );
    }
}
