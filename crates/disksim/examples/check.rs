//! `cargo run -p disksim --features catalogue --example check -- MODEL|FILE.toml …`: models against published figures.

use disksim::catalogue::{self, Model};
use disksim::comparison::compare;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for name in std::env::args().skip(1) {
        let model = match std::fs::read_to_string(&name) {
            Ok(text) => Model::parse(&name, &text)?,
            Err(_) => catalogue::find(&name)?,
        };
        for c in compare(&model).map_err(|wrong| wrong.message)? {
            let mark = if c.meets_its_goal() { " " } else { "!" };
            println!(
                "{:<22} {:<44} {:>9.3} {:>9.3} {:<4} {:>+7.1} % {mark}",
                model.file.name,
                c.what,
                c.real,
                c.model,
                c.unit,
                c.deviation_percent()
            );
        }
    }
    Ok(())
}
