//! docs/disks.md: each model of the catalogue, compared with published figures of its disk; data/disk-fit.toml: how many of
//! them it meets, for reports.

use disksim::catalogue;
use disksim::comparison::{Comparison, INDEPENDENT_MIN, compare, independent_figures};
use std::fmt::Write;
use study::wording::count;

/// What is written from the comparisons.
pub struct Written {
    /// docs/disks.md.
    pub page: String,
    /// data/disk-fit.toml.
    pub fit: String,
}

/// Runs all models; the error names one that cannot be run.
pub fn written() -> Result<Written, String> {
    let mut page = String::from(HEAD);
    let mut missed = String::new();
    let mut fit = String::from(FIT_HEAD);
    for entry in catalogue::list() {
        let model = catalogue::find(&entry.name).map_err(|error| error.to_string())?;
        let figures = compare(&model).map_err(|wrong| format!("{}: {}", entry.name, wrong.message))?;
        let _ = writeln!(page, "\n## {}\n\n{}.", entry.name, entry.title);
        let independent = independent_figures(&model);
        if independent < INDEPENDENT_MIN {
            let _ = writeln!(page, "\nHardly checked: {}.", count(independent, "independent figure"));
        }
        let by_deviation = |one: &&Comparison, other: &&Comparison| {
            let [one, other] = [one, other].map(|figure| figure.deviation_percent().abs());
            one.total_cmp(&other)
        };
        let Some(worst) = figures.iter().max_by(by_deviation) else {
            continue;
        };
        let mut deviations: Vec<f64> = figures.iter().map(|figure| figure.deviation_percent().abs()).collect();
        deviations.sort_by(f64::total_cmp);
        let _ = writeln!(
            fit,
            "\n[{}]\nfigures = {}\nmet = {}\nmedian_percent = {:.0}\nworst = {:?}\noff_percent = {:.0}",
            entry.name,
            figures.len(),
            figures.iter().filter(|figure| figure.meets_its_goal()).count(),
            deviations[deviations.len() / 2],
            worst.what,
            worst.deviation_percent()
        );
        page.push_str(
            "\n| figure | real | simulated | off | goal | how sure | source |\n|---|---|---|---|---|---|---|\n",
        );
        for figure in &figures {
            row(&mut page, figure);
            if !figure.meets_its_goal() {
                let _ = writeln!(
                    missed,
                    "| {} | {} | {:+.1} % | {:.0} % |",
                    entry.name,
                    figure.what,
                    figure.deviation_percent(),
                    figure.goal_percent
                );
            }
        }
    }
    page.push_str("\n# Goals that are missed\n\n| model | figure | off | goal |\n|---|---|---|---|\n");
    page.push_str(&missed);
    Ok(Written { page, fit })
}

const FIT_HEAD: &str = "# Written by `make docs`: published figures of each disk, how many of them its model meets within their goals, and the \
                        one from which it\n# is farthest. docs/disks.md has them all.\n";

const HEAD: &str = "# Disk models of the catalogue, compared with published figures

Written by `make docs`; `raidlab disk check [MODEL]` prints the same. *Fitted* means that the model was made from this
figure, so that meeting it says little. *Follows* means that it says nothing beyond another figure in the list: requests
of one job take depth ÷ IOPS on average, so of a mean and a rate of the same run only one counts, and none if the model was
made from the other. A model with fewer than three figures that are independent and not guesses says so. *Unverified*
figures are general knowledge for which no document was found. All simulated figures are those of the disk alone, without
a kernel.

Models of your own: [study.md](study.md#disk-models-of-your-own).
";

fn row(page: &mut String, figure: &Comparison) {
    let off = format!("{:+.1} %", figure.deviation_percent());
    let _ = writeln!(
        page,
        "| {} | {} {unit} | {} {unit} | {} | {:.0} % | {}{}{} | {} |",
        figure.what,
        short(figure.real),
        short(figure.model),
        if figure.meets_its_goal() {
            off
        } else {
            format!("**{off}**")
        },
        figure.goal_percent,
        format!("{:?}", figure.sure).to_lowercase(),
        if figure.put_in { ", fitted" } else { "" },
        if figure.follows { ", follows" } else { "" },
        figure.source.replace('|', "/"),
        unit = figure.unit,
    );
}

/// At most four digits.
fn short(value: f64) -> String {
    match value {
        v if v >= 1000.0 => format!("{v:.0}"),
        v if v >= 100.0 => format!("{v:.1}"),
        v if v >= 10.0 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}
