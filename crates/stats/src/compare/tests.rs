//! Ratios and their errors.

use super::*;

fn cell(first_block: u64, values: &[f64]) -> Vec<InBlock> {
    values
        .iter()
        .zip(first_block..)
        .map(|(&value, block)| InBlock {
            block,
            value,
            is_drawn: false,
        })
        .collect()
}

/// A page showed 0.79 in one table and 0.75 in another for the same two stacks.
#[test]
fn issue_39_a15_one_ratio_is_shown_next_to_two_medians() {
    let (slow, fast) = (cell(0, &[8.0, 9.0, 7.5]), cell(0, &[10.0, 12.5, 10.0]));
    let effect = Effect::of(&slow, &fast, None).expect("enough values");
    assert!(effect.ratio() < 0.77, "{}", effect.ratio());
    assert_eq!(effect.shown_ratio(0.79), 0.79);
    // By the trials it cannot be this one.
    assert_eq!(effect.shown_ratio(2.0), effect.ratio());
}

#[test]
fn blocks_cancel_what_both_share() {
    // The seed changes both by a factor of three; the first is always about 10 % faster.
    let first = cell(0, &[110.0, 221.0, 329.0]);
    let second = cell(0, &[100.0, 200.0, 300.0]);
    let paired = Effect::of(&first, &second, None).expect("an effect");
    assert_eq!(paired.pairing, Pairing::Blocks(3));
    assert!(paired.p_differ() < 0.01, "{paired:?}");
    let elsewhere = cell(90, &[100.0, 200.0, 300.0]);
    let independent = Effect::of(&first, &elsewhere, None).expect("an effect");
    assert_eq!(independent.pairing, Pairing::Independent(3));
    assert!(independent.p_differ() > 0.5, "{independent:?}");
}

#[test]
fn three_that_agree_by_chance_are_held_against_the_pool() {
    let first = cell(0, &[104.0, 104.0, 104.1]);
    let second = cell(0, &[100.0, 100.0, 100.0]);
    let noisy = cell(0, &[100.0, 110.0, 91.0]);
    let pool = PooledVariance::of(&[first.clone(), second.clone(), noisy]);
    assert!(Effect::of(&first, &second, None).expect("an effect").p_differ() < 0.001);
    assert!(
        Effect::of(&first, &second, pool.as_ref())
            .expect("an effect")
            .p_differ()
            > 0.3
    );
}

#[test]
fn the_pool_is_the_residual_mean_square_of_blocks() {
    // Two-way table without interaction except a known residual, in logarithms.
    let residual = [[0.1, -0.1, 0.0], [-0.1, 0.1, 0.0], [0.0, 0.0, 0.0]];
    let cells: Vec<Vec<InBlock>> = (0..3)
        .map(|stack| {
            let value = |block: usize| (stack as f64 + 5.0 * block as f64 + residual[stack][block]).exp();
            cell(0, &[value(0), value(1), value(2)])
        })
        .collect();
    let pool = PooledVariance::of(&cells).expect("a pool");
    // Mean square 0.04 / 4; twice that for a difference.
    assert!((pool.variance - 0.02).abs() < 1e-12, "{pool:?}");
    assert_eq!(pool.degrees, 4.0);
}

#[test]
fn intervals_and_tests_agree() {
    let effect = Effect::of(&cell(0, &[11.0, 12.0, 12.5, 11.5]), &cell(0, &[10.0; 4]), None).expect("an effect");
    let interval = effect.interval(0.05);
    assert!((effect.p_above(interval.low) - 0.025).abs() < 1e-6);
    assert!((effect.p_below(interval.high) - 0.025).abs() < 1e-6);
    assert!(effect.p_equal(1.5) < 0.05 && effect.p_equal(1.2) > 0.05);
}

#[test]
fn without_noise_there_is_a_point() {
    let (five, four) = (cell(0, &[5.0; 3]), cell(9, &[4.0; 3]));
    for effect in [
        Effect::of(&five, &four, None).expect("an effect"),
        Effect::of(&five, &cell(0, &[4.0; 3]), None).expect("an effect"),
    ] {
        assert_eq!(effect.interval(0.05).basis, Basis::Identical);
        assert_eq!((effect.p_above(1.0), effect.p_below(1.0)), (0.0, 1.0));
    }
    let same = Effect::of(&five, &five, None).expect("an effect");
    assert_eq!(same.p_differ(), 1.0);
    assert_eq!(same.p_equal(1.01), 0.0);
}

#[test]
fn too_little_to_say() {
    let three = cell(0, &[1.0, 1.0, 1.1]);
    assert_eq!(Effect::of(&cell(0, &[5.0, 6.0]), &three, None), None);
    assert_eq!(Effect::of(&cell(0, &[0.0; 3]), &three, None), None);
    assert_eq!(Effect::of(&[], &[], None), None);
}

#[test]
fn holm_as_published() {
    // Four tests: 0.01, 0.04, 0.03, 0.005 become 0.03, 0.06, 0.06, 0.02.
    let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
    for (one, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
        assert!((one - expected).abs() < 1e-12, "{adjusted:?}");
    }
}

#[test]
fn trials_needed_grow_with_noise() {
    let needed = |deviation| trials_to_find(1.05_f64.ln(), deviation, 0.025, 0.95);
    // (1.96 + 1.645)² · (0.05 / 0.04879)² is 13.6 with normal quantiles; Student's need two more, plus a fifth.
    assert_eq!(needed(0.05), Some(20));
    assert_eq!(needed(0.0), Some(3));
    assert!(needed(0.1) > Some(50));
    assert_eq!(trials_to_find(0.0, 0.1, 0.025, 0.95), None);
}

/// The interval of a mean over drawn disks shrinks with trials, as if they were measurements of the disk that one has.
#[test]
fn issue_41_trials_do_not_make_a_disk_better_known() {
    let ratio = |trials: u32| {
        let value = |block: u32| 1.0 + 0.2 * f64::from(block % 5) / 4.0;
        let values = |scale: fn(f64) -> f64| -> Vec<InBlock> {
            let of_block = |block: u32| InBlock {
                block: u64::from(block),
                value: scale(value(block)),
                is_drawn: true,
            };
            (0..trials).map(of_block).collect()
        };
        Effect::of(&values(|value| value), &values(|_| 1.0), None).expect("an effect")
    };
    let width = |trials: u32| {
        let interval = ratio(trials).interval(0.05);
        interval.high / interval.low
    };
    assert!(width(10) > 1.25 && width(100) > 1.25, "{} {}", width(10), width(100));
    // Nine of ten disks are faster: no more is known of one.
    assert!(ratio(100).p_differ() > 0.05 && ratio(100).further_trials(1.0, 0.05).is_none());
}
