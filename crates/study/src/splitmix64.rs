//! SplitMix64 (Steele, Lea and Flood, 2014): random numbers that are the same on all machines and in all versions.
//!
//! The disk model has its own, `disksim::random`: it is compiled into the kernel.

/// The difference of two successive states.
pub const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64's output function: a bijection in which every input bit affects every output bit.
pub const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
