//! New UUIDs.

use crate::machine::error::Cause;
use crate::machine::executor::Executor;

/// In mdadm's format.
pub(crate) fn of_array(executor: &mut dyn Executor) -> Result<String, Cause> {
    Ok(random_hex(executor)?.join(":"))
}

/// In the format of mkfs: version 4, variant 1.
pub(crate) fn of_filesystem(executor: &mut dyn Executor) -> Result<String, Cause> {
    let hex = random_hex(executor)?.concat();
    Ok(format!(
        "{}-{}-4{}-a{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[13..16],
        &hex[17..20],
        &hex[20..]
    ))
}

/// Sixteen random bytes, as four words.
fn random_hex(executor: &mut dyn Executor) -> Result<[String; 4], Cause> {
    let bytes = executor.random()?;
    Ok([0, 4, 8, 12].map(|at| hex::encode(&bytes[at..at + 4])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::executor::System;
    use tools::Tools;

    #[test]
    fn a_uuid_is_new_and_of_mdadms_form() {
        let mut tools = Tools::find(&[]).expect("nothing is wanted");
        let mut uuid = || of_array(&mut System::new(&mut tools)).expect("random");
        let (one, two) = (uuid(), uuid());
        assert_ne!(one, two);
        let is_word = |word: &str| word.len() == 8 && word.chars().all(|c| c.is_ascii_hexdigit());
        assert!(one.split(':').count() == 4 && one.split(':').all(is_word), "{one}");
    }
}
