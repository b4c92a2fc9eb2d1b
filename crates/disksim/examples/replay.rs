//! `cargo run -p disksim --features catalogue --example replay -- FILE TRACE [SEED]`: how far the model is off.

use disksim::catalogue::Model;
use disksim::{disksim_import, replay};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, specs, trace, rest @ ..] = &args[..] else {
        return Err("FILE.diskspecs|FILE.toml TRACE [SEED]".into());
    };
    let seed = rest.first().map_or(Ok(1), |s| s.parse())?;
    let folder = Path::new(specs).parent().unwrap_or(Path::new("."));
    let name = Path::new(specs)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut files = |file: &str| std::fs::read_to_string(folder.join(file)).map_err(|e| e.to_string());
    let text = if name.ends_with(".toml") {
        files(&name)?
    } else {
        disksim_import::to_toml(&disksim_import::import(&name, &mut files)?)?
    };
    let model = Model::parse(&name, &text)?;
    let requests = replay::parse(trace, &std::fs::read_to_string(trace)?)?;
    let mut report = replay::run(&model, trace, &requests, seed)?;
    println!(
        "{}: {} requests, rms {:.5} ms",
        report.model, report.requests, report.rms_ms
    );
    println!(
        "mean: measured {:.3} ms, simulated {:.3} ms",
        report.measured.mean_ms, report.simulated.mean_ms
    );
    for (m, s) in report
        .measured
        .percentiles_ms
        .iter()
        .zip(&report.simulated.percentiles_ms)
    {
        println!("{:5} %: {:7.3} {:7.3}", m.0, m.1, s.1);
    }
    if std::env::var_os("ALL").is_some() {
        for d in &report.deviations {
            println!(
                "@ {} {:?} {} {} {:.3} {:.3} {}",
                d.index,
                d.request.op,
                d.request.sector,
                d.request.sectors,
                d.measured_ms,
                d.simulated_ms,
                d.request.gap_ns
            );
        }
    } else {
        report.deviations.sort_by(|a, b| {
            (b.measured_ms - b.simulated_ms)
                .abs()
                .total_cmp(&(a.measured_ms - a.simulated_ms).abs())
        });
        for d in report.deviations.iter().take(5) {
            println!("{:?}", d);
        }
    }
    Ok(())
}
