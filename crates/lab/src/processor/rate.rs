//! Rates at which this machine's processor handles bytes, with the instructions that the kernel uses.
//!
//! Rates are per CPU time, not wall time, so that other load has little effect; the best of several rounds counts.
//! If the kernel would use AVX2 and this processor has none, the plain loop is measured, as in the kernel.

use super::Cost;
use aes::Aes256;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use rustix::time::{ClockId, clock_gettime};
use sha2::{Digest, Sha256};
use std::hint::black_box;

/// Buffer size of the kernel's own benchmarks: a page, which stays in the caches.
const PAGE: usize = 4096;

/// Disks of the syndrome, as in lib/raid6/algos.c.
const DISKS: usize = 8;

/// Buffers that stay in the caches, and one that does not fit.
const COPY: usize = 1 << 20;
const LARGE: usize = 256 << 20;

const ROUNDS: u32 = 9;

/// Processor time of this thread, in seconds.
pub(super) fn processor_seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Best of several rounds of `calls` calls: seconds per call.
pub(super) fn seconds(calls: u32, mut act: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let begin = processor_seconds();
        for _ in 0..calls {
            act();
        }
        best = best.min((processor_seconds() - begin) / f64::from(calls));
    }
    best
}

/// Rates in megabytes per second of everything that can be measured here.
pub(super) fn measure() -> Vec<(Cost, f64)> {
    let page: Vec<u8> = (0..PAGE).map(|i| (i * 7 + i / 256) as u8).collect();
    let rate = |bytes: usize, seconds: f64| bytes as f64 / seconds / 1e6;
    let mut target = page.clone();
    let xor_s = seconds(20_000, || xor(black_box(&mut target), black_box(&page)));
    let data: Vec<Vec<u8>> = (0..DISKS - 2)
        .map(|disk| page.iter().map(|b| b ^ disk as u8).collect())
        .collect();
    let (mut p, mut q) = (vec![0; PAGE], vec![0; PAGE]);
    let pq_s = seconds(5_000, || {
        syndrome(black_box(&data), black_box(&mut p), black_box(&mut q))
    });
    let crc_s = seconds(20_000, || {
        black_box(crc32c(black_box(&page)));
    });
    let sha_s = seconds(500, || {
        black_box(Sha256::digest(black_box(&page)));
    });
    let xxh_s = seconds(10_000, || {
        black_box(xxh64(black_box(&page)));
    });
    // XTS adds two XORs to each block, which cost next to nothing.
    let cipher = Aes256::new(&Array::from([7; 32]));
    let mut blocks = vec![Array::from([1_u8; 16]); PAGE / 16];
    let aes_s = seconds(2_000, || cipher.encrypt_blocks(black_box(&mut blocks)));
    let words = vec![7_u64; PAGE / 8];
    let scan_s = seconds(20_000, || {
        black_box(is_filled(black_box(&words)));
    });
    vec![
        (Cost::Scan, rate(PAGE, scan_s)),
        (Cost::Xor, rate(PAGE, xor_s)),
        (Cost::Pq, rate(PAGE * (DISKS - 2), pq_s)),
        (Cost::Crc32, rate(PAGE, crc_s)),
        (Cost::Sha256, rate(PAGE, sha_s)),
        (Cost::Xxhash, rate(PAGE, xxh_s)),
        (Cost::Aes, rate(PAGE, aes_s)),
    ]
}

/// Copies page by page with the kernel's instructions.
pub struct Copying {
    /// In the caches, from memory to memory, from memory to a cache, from a cache to memory; megabytes per second.
    pub copy: f64,
    pub memory: f64,
    pub memory_read: f64,
    pub memory_write: f64,
    /// In the caches.
    pub zero: f64,
}

pub(super) fn copying() -> Copying {
    let (small, mut target) = (vec![1_u8; COPY], vec![2_u8; COPY]);
    let (large, mut other) = (vec![1_u8; LARGE], vec![2_u8; LARGE]);
    let rate = |bytes: usize, seconds: f64| bytes as f64 / seconds / 1e6;
    let hot = seconds(50, || copy_pages(&mut target, &small));
    let zero = seconds(5_000, || zero_page(black_box(&mut target[..PAGE])));
    let from_memory = seconds(1, || {
        for part in large.chunks_exact(COPY) {
            copy_pages(&mut target, part);
        }
    });
    let to_memory = seconds(1, || {
        for part in other.chunks_exact_mut(COPY) {
            copy_pages(part, &small);
        }
    });
    Copying {
        copy: rate(COPY, hot),
        memory: rate(LARGE, seconds(1, || copy_pages(&mut other, &large))),
        memory_read: rate(LARGE, from_memory),
        memory_write: rate(LARGE, to_memory),
        zero: rate(PAGE, zero),
    }
}

fn copy_pages(to: &mut [u8], from: &[u8]) {
    for (to, from) in black_box(to)
        .chunks_exact_mut(PAGE)
        .zip(black_box(from).chunks_exact(PAGE))
    {
        copy_page(to, from);
    }
}

/// One string instruction, like the kernel's copies to and from user space on any processor since 2013.
#[cfg(target_arch = "x86_64")]
fn copy_page(to: &mut [u8], from: &[u8]) {
    assert_eq!(to.len(), from.len());
    // SAFETY: both have that length, and they do not overlap; the direction flag is clear.
    unsafe {
        std::arch::asm!(
            "rep movsb",
            inout("rcx") to.len() => _, inout("rdi") to.as_mut_ptr() => _, inout("rsi") from.as_ptr() => _,
            options(nostack, preserves_flags),
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn copy_page(to: &mut [u8], from: &[u8]) {
    to.copy_from_slice(from);
}

/// Like the kernel's clear_page().
#[cfg(target_arch = "x86_64")]
fn zero_page(page: &mut [u8]) {
    // SAFETY: it writes no more than the page; the direction flag is clear.
    unsafe {
        std::arch::asm!(
            "rep stosb",
            inout("rcx") page.len() => _, inout("rdi") page.as_mut_ptr() => _, in("al") 0_u8,
            options(nostack, preserves_flags),
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn zero_page(page: &mut [u8]) {
    page.fill(0);
}

/// Whether all words are equal; stops at the first that is not, so that it is compiled to a loop over words.
fn is_filled(words: &[u64]) -> bool {
    words.iter().all(|word| *word == words[0])
}

fn xor(to: &mut [u8], from: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        unsafe { xor_avx2(to, from) };
        return;
    }
    xor_words(to, from);
}

#[inline(always)]
fn xor_words(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to ^= from;
    }
}

/// The loop above, compiled for 32 bytes at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn xor_avx2(to: &mut [u8], from: &[u8]) {
    xor_words(to, from);
}

fn syndrome(data: &[Vec<u8>], p: &mut [u8], q: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        unsafe { syndrome_avx2(data, p, q) };
        return;
    }
    syndrome_bytes(data, p, q);
}

/// P and Q of RAID 6 (H. P. Anvin, "The mathematics of RAID-6"): Q by Horner's rule in GF(2⁸), modulo 0x11d. One cache
/// line of all disks at a time, as in the kernel.
#[inline(always)]
fn syndrome_bytes(data: &[Vec<u8>], p: &mut [u8], q: &mut [u8]) {
    const LINE: usize = 64;
    for (line, (p, q)) in p.chunks_exact_mut(LINE).zip(q.chunks_exact_mut(LINE)).enumerate() {
        let (mut wp, mut wq) = ([0_u8; LINE], [0_u8; LINE]);
        for disk in data.iter().rev() {
            let bytes = &disk[line * LINE..(line + 1) * LINE];
            for ((wp, wq), byte) in wp.iter_mut().zip(&mut wq).zip(bytes) {
                // All ones if the highest bit is shifted out.
                let carry = ((*wq as i8) >> 7) as u8;
                *wq = (*wq << 1) ^ (carry & 0x1d) ^ byte;
                *wp ^= byte;
            }
        }
        p.copy_from_slice(&wp);
        q.copy_from_slice(&wq);
    }
}

/// The same with the instructions of the kernel's `avx2x2`: whether a compiler makes them of the loop above changes the rate by ten
/// times.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn syndrome_avx2(data: &[Vec<u8>], p: &mut [u8], q: &mut [u8]) {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi8, _mm256_and_si256, _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_set1_epi8,
        _mm256_setzero_si256, _mm256_storeu_si256, _mm256_xor_si256,
    };
    const VECTOR: usize = 32;
    const LINE: usize = 2 * VECTOR;
    let (zero, polynomial) = (_mm256_setzero_si256(), _mm256_set1_epi8(0x1d));
    // SAFETY: each pointer is that of 32 bytes; no alignment is needed.
    let load = |bytes: &[u8; VECTOR]| unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
    let store = |bytes: &mut [u8; VECTOR], vector: __m256i| {
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), vector) }
    };
    let times_two = |q: __m256i| {
        // All ones where the highest bit is shifted out.
        let carry = _mm256_and_si256(_mm256_cmpgt_epi8(zero, q), polynomial);
        _mm256_xor_si256(_mm256_add_epi8(q, q), carry)
    };
    for (line, (p, q)) in p.chunks_exact_mut(LINE).zip(q.chunks_exact_mut(LINE)).enumerate() {
        let (mut wp, mut wq) = ([zero; 2], [zero; 2]);
        for disk in data.iter().rev() {
            let (bytes, _) = disk[line * LINE..(line + 1) * LINE].as_chunks();
            for (half, bytes) in bytes.iter().enumerate() {
                let bytes = load(bytes);
                wq[half] = _mm256_xor_si256(times_two(wq[half]), bytes);
                wp[half] = _mm256_xor_si256(wp[half], bytes);
            }
        }
        for (bytes, vector) in p.as_chunks_mut().0.iter_mut().zip(wp) {
            store(bytes, vector);
        }
        for (bytes, vector) in q.as_chunks_mut().0.iter_mut().zip(wq) {
            store(bytes, vector);
        }
    }
}

fn crc32c(bytes: &[u8]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has SSE 4.2.
        return unsafe { crc32c_sse42(bytes) };
    }
    bytes.iter().fold(!0, |crc, &byte| crc32c_byte(crc, byte))
}

/// Three streams at a time, as in the kernel's crc32c-intel; the final combination is left out.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn crc32c_sse42(bytes: &[u8]) -> u64 {
    use std::arch::x86_64::_mm_crc32_u64;
    let words = bytes.len() / 8;
    let third = words / 3;
    let word = |index: usize| {
        let bytes = &bytes[index * 8..index * 8 + 8];
        u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
    };
    let (mut a, mut b, mut c) = (!0_u64, 0, 0);
    for index in 0..third {
        a = _mm_crc32_u64(a, word(index));
        b = _mm_crc32_u64(b, word(third + index));
        c = _mm_crc32_u64(c, word(2 * third + index));
    }
    (3 * third..words).fold(a ^ b ^ c, |crc, index| _mm_crc32_u64(crc, word(index)))
}

fn crc32c_byte(crc: u64, byte: u8) -> u64 {
    const POLYNOMIAL: u64 = 0x82f6_3b78;
    (0..8).fold(crc ^ u64::from(byte), |crc, _| {
        (crc >> 1) ^ (POLYNOMIAL & (crc & 1).wrapping_neg())
    })
}

/// The rounds of XXH64 (Y. Collet), 32 bytes at a time; the finalisation is left out. Calls of iterators that a compiler does not
/// inline would take eight times as long as the rounds.
fn xxh64(bytes: &[u8]) -> u64 {
    const PRIME_1: u64 = 0x9e37_79b1_85eb_ca87;
    const PRIME_2: u64 = 0xc2b2_ae3d_27d4_eb4f;
    const LANES: usize = 4;
    let mut lanes = [PRIME_1.wrapping_add(PRIME_2), PRIME_2, 0, PRIME_1.wrapping_neg()];
    for stripe in bytes.as_chunks::<32>().0 {
        let words = stripe.as_chunks::<8>().0;
        for lane in 0..LANES {
            let word = u64::from_le_bytes(words[lane]);
            let sum = lanes[lane].wrapping_add(word.wrapping_mul(PRIME_2));
            lanes[lane] = sum.rotate_left(31).wrapping_mul(PRIME_1);
        }
    }
    lanes[0] ^ lanes[1] ^ lanes[2] ^ lanes[3]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn multiply(a: u8, b: u8) -> u8 {
        let (mut a, mut product) = (a, 0);
        for bit in 0..8 {
            if b >> bit & 1 == 1 {
                product ^= a;
            }
            a = (a << 1) ^ if a & 0x80 != 0 { 0x1d } else { 0 };
        }
        product
    }

    /// The timed code is correct: Q is the sum of the data times powers of 2.
    #[test]
    fn the_syndrome_is_that_of_raid_6() {
        let data: Vec<Vec<u8>> = (0..6_u8)
            .map(|disk| (0..128).map(|i| (i as u8).wrapping_mul(disk + 3)).collect())
            .collect();
        let (mut p, mut q) = (vec![0; 128], vec![0; 128]);
        syndrome(&data, &mut p, &mut q);
        for at in 0..128 {
            let mut power = 1;
            let (mut sum, mut weighted) = (0, 0);
            for disk in &data {
                sum ^= disk[at];
                weighted ^= multiply(disk[at], power);
                power = multiply(power, 2);
            }
            assert_eq!((p[at], q[at]), (sum, weighted), "byte {at}");
        }
    }

    #[test]
    fn xor_is_xor() {
        let mut to = vec![0b1100; 100];
        xor(&mut to, &[0b1010; 100]);
        assert_eq!(to, vec![0b0110; 100]);
    }

    /// RFC 3720, B.4: 32 bytes of zeros.
    #[test]
    fn the_checksum_is_crc32c() {
        let crc = [0_u8; 32].iter().fold(0xffff_ffff, |crc, &byte| crc32c_byte(crc, byte));
        assert_eq!(!(crc as u32), 0x8a91_36aa);
    }

    #[test]
    fn every_rate_is_above_nothing() {
        for (cost, rate) in measure() {
            assert!(rate.is_finite() && rate > 1.0, "{} {rate}", cost.name());
        }
    }
}
