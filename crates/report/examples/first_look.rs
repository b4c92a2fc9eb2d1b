//! Writes the report of an invented run for inspection: `cargo run -p report --example first_look -- report.html`.

#[path = "../tests/it/first_look/mod.rs"]
mod first_look;

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "report.html".to_owned());
    std::fs::write(path, report::html(&first_look::input()))
}
