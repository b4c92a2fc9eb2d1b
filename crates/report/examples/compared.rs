//! Writes the page of an invented comparison for inspection: `cargo run -p report --example compared --
//! compared.html`.

#[path = "../tests/it/first_look/mod.rs"]
mod first_look;
#[expect(dead_code, reason = "this page shows some of them")]
#[path = "../tests/it/made/mod.rs"]
mod made;

use report::ComparedSide;

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "compared.html".to_owned());
    let side = |name| ComparedSide {
        name,
        is_simulated: true,
    };
    let sides = ["run 1 of old.db: First look", "run 2 of new.db: First look"].map(side);
    std::fs::write(path, report::comparison_html(&made::compared(), sides))
}
