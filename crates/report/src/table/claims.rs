//! Claims for the terminal.

use super::TableOptions;
use crate::words::claims::{ClaimWords, how_decided, summary};

/// A block for each claim that was measured, verdict first; empty without claims.
pub(super) fn text(claims: &[ClaimWords], options: TableOptions) -> String {
    if claims.is_empty() {
        return String::new();
    }
    let mut text = vec![textwrap::fill(&summary(claims), options.width.max(20))];
    text.extend(
        claims
            .iter()
            .filter(|claim| claim.is_measured())
            .map(|claim| block(claim, options)),
    );
    let how = how_decided(claims);
    if !how.is_empty() {
        text.push(textwrap::fill(how, options.width.max(20)));
    }
    text.join("\n")
}

fn block(claim: &ClaimWords, options: TableOptions) -> String {
    const INDENT: &str = "             ";
    let says = if claim.says.is_empty() {
        &claim.compares
    } else {
        &claim.says
    };
    let mut lines = vec![format!("{}{says}", painted(claim.verdict, options.colour))];
    let mut measured = claim.effect.clone();
    if let Some(published) = &claim.published {
        let comma = if measured.is_empty() { "" } else { "; " };
        measured = format!("{measured}{comma}published: {published}");
    }
    let words = [measured, claim.deciding.clone(), claim.of.clone(), claim.note.clone()].into_iter();
    for line in words.chain(claim.warnings.iter().cloned()) {
        if !line.is_empty() {
            lines.push(format!("{INDENT}{line}"));
        }
    }
    let fill = |line: String| {
        let wrapping = textwrap::Options::new(options.width.max(40)).subsequent_indent(INDENT);
        textwrap::fill(&line, wrapping)
    };
    lines.into_iter().map(fill).collect::<Vec<_>>().join("\n")
}

/// The verdict, padded to the longest one.
fn painted(verdict: &str, colour: bool) -> String {
    let code = match (colour, verdict) {
        (false, _) => return format!("  {verdict:<11}"),
        (true, "supported") => 32,
        (true, "refuted") => 31,
        (true, _) => 33,
    };
    format!("  \u{1b}[{code}m{verdict:<11}\u{1b}[0m")
}
