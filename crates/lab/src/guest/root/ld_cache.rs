//! The file `/etc/ld.so.cache` of a guest.
//!
//! Without it the dynamic linker tries each library in folders that it derives from the processor (glibc-hwcaps, haswell), so
//! that programs make other system calls on another machine. With it every library is found at once.
//!
//! Format: `struct cache_file_new` of glibc's `sysdeps/generic/dl-cache.h`, read by glibc 2.2 and later.

use std::cmp::Ordering;
use std::path::Path;

const MAGIC: &[u8; 20] = b"glibc-ld.so.cache1.1";
const HEADER_BYTES: usize = 48;
const ENTRY_BYTES: usize = 24;

/// `FLAG_ELF_LIBC6 | FLAG_X8664_LIB64`.
const FLAGS: u32 = 0x0303;

/// `cache_file_new_flags_endian_little`.
const LITTLE_ENDIAN: u8 = 2;

/// The cache of these libraries, which are all in one folder.
pub fn bytes(names: &[String], folder: &Path) -> Vec<u8> {
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    // The linker searches by bisection, in descending order.
    names.sort_by(|a, b| compare(b, a));
    let strings_at = HEADER_BYTES + names.len() * ENTRY_BYTES;
    let (mut entries, mut strings) = (Vec::new(), Vec::new());
    for name in &names {
        let path = folder.join(name).to_string_lossy().into_owned();
        let value = strings_at + strings.len();
        strings.extend(path.as_bytes());
        strings.push(0);
        // The name is the end of the path.
        let key = value + path.len() - name.len();
        entries.extend([FLAGS, key as u32, value as u32, 0].map(u32::to_le_bytes).concat());
        entries.extend(0_u64.to_le_bytes());
    }
    let mut cache = MAGIC.to_vec();
    cache.extend(
        [names.len() as u32, strings.len() as u32]
            .map(u32::to_le_bytes)
            .concat(),
    );
    cache.push(LITTLE_ENDIAN);
    cache.resize(HEADER_BYTES, 0);
    cache.extend(entries);
    cache.extend(strings);
    cache
}

/// The linker's own order (`_dl_cache_libcmp`): numbers are compared by value, and sort after all other characters.
fn compare(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    while let (Some(&x), Some(&y)) = (a.first(), b.first()) {
        match (x.is_ascii_digit(), y.is_ascii_digit()) {
            (true, true) => {
                let ((m, rest_a), (n, rest_b)) = (number(a), number(b));
                if m != n {
                    return m.cmp(&n);
                }
                (a, b) = (rest_a, rest_b);
            }
            (true, false) => return Ordering::Greater,
            (false, true) => return Ordering::Less,
            (false, false) if x != y => return x.cmp(&y),
            (false, false) => (a, b) = (&a[1..], &b[1..]),
        }
    }
    a.len().cmp(&b.len())
}

fn number(text: &[u8]) -> (u64, &[u8]) {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let value = text[..digits].iter().fold(0_u64, |value, digit| {
        value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'))
    });
    (value, &text[digits..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn ldconfig_reads_it() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let names = ["libc.so.6", "libblkid.so.1", "libz.so.1", "libgcc_s.so.1"].map(str::to_owned);
        std::fs::write(file.path(), bytes(&names, Path::new("/lib"))).expect("it is written");
        let Ok(output) = Command::new("/sbin/ldconfig")
            .arg("-p")
            .arg("-C")
            .arg(file.path())
            .output()
        else {
            requirements::skip("no ldconfig");
            return;
        };
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.starts_with("4 libs found"), "{text}");
        for name in names {
            assert!(
                text.contains(&format!("{name} (libc6,x86-64) => /lib/{name}")),
                "{text}"
            );
        }
    }

    #[test]
    fn numbers_are_ordered_by_value() {
        let mut names = ["libz.so.1", "libc.so.6", "lib10.so", "lib9.so", "liba.so"];
        names.sort_by(|a, b| compare(a, b));
        assert_eq!(names, ["liba.so", "libc.so.6", "libz.so.1", "lib9.so", "lib10.so"]);
    }
}
