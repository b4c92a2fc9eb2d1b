//! The smallest part of a list that still has a property (ddmin, Zeller and Hildebrandt 2002).

/// Maximum number of parts tried at once.
const BATCH_MAX: usize = 24;

/// Gets parts of a list, and returns the index of the first one with the property.
pub type FirstTrue<'a, T, E> = dyn FnMut(&[Vec<T>]) -> Result<Option<usize>, E> + 'a;

/// A part of `items`, in order, that has a property according to `first_true`, while no tried part without one of
/// its items has it.
///
/// # Errors
/// Those of `first_true`.
pub fn smaller<T: Clone, E>(items: Vec<T>, first_true: &mut FirstTrue<'_, T, E>) -> Result<Vec<T>, E> {
    if items.is_empty() || first_true(&[Vec::new()])?.is_some() {
        return Ok(Vec::new());
    }
    let (mut items, mut pieces) = (items, 2);
    while items.len() > 1 {
        let size = items.len().div_ceil(pieces);
        let chunks: Vec<Vec<T>> = items.chunks(size).map(<[T]>::to_vec).collect();
        let without = |left_out: usize| {
            let others = chunks.iter().enumerate().filter(|(number, _)| *number != left_out);
            others.flat_map(|(_, chunk)| chunk.clone()).collect()
        };
        let complements: Vec<Vec<T>> = match chunks.len() {
            // With two pieces, the complements are the pieces.
            ..=2 => Vec::new(),
            count => (0..count).map(without).collect(),
        };
        let only = chunks.len();
        let mut found = None;
        let candidates = [chunks, complements].concat();
        for (batch, some) in candidates.chunks(BATCH_MAX).enumerate() {
            if let Some(index) = first_true(some)? {
                found = Some(batch * BATCH_MAX + index);
                break;
            }
        }
        match found {
            Some(index) => {
                pieces = if index < only { 2 } else { (pieces - 1).max(2) };
                items = candidates[index].clone();
            }
            None if size == 1 => break,
            None => pieces = (pieces * 2).min(items.len()),
        }
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shrink(all: u32, is: impl Fn(&[u32]) -> bool) -> (Vec<u32>, usize) {
        let mut tried = 0;
        let mut first_true = |parts: &[Vec<u32>]| {
            tried += parts.len();
            Ok::<_, ()>(parts.iter().position(|part| is(part)))
        };
        let found = smaller((0..all).collect(), &mut first_true).expect("no error");
        (found, tried)
    }

    #[test]
    fn what_is_needed_is_left() {
        for needed in [vec![], vec![5], vec![0, 99], vec![3, 4, 50, 77]] {
            let (found, tried) = shrink(100, |part| needed.iter().all(|one| part.contains(one)));
            assert_eq!(found, needed);
            assert!(tried < 300, "{tried}");
        }
        assert!(shrink(0, |_| true).0.is_empty());
        assert_eq!(shrink(1, |part| !part.is_empty()).0, [0]);
    }

    #[test]
    fn each_item_that_is_left_is_needed() {
        // Any three of the even numbers.
        let is = |part: &[u32]| part.iter().filter(|one| *one % 2 == 0).count() >= 3;
        let (found, _) = shrink(60, is);
        assert_eq!(found.len(), 3);
        assert!(is(&found));
    }
}
