//! `cargo run -p disksim --features catalogue --example import -- FILE.diskspecs`: the model as a catalogue file.

use disksim::disksim_import;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let specs = std::env::args().nth(1).ok_or("FILE.diskspecs")?;
    let folder = Path::new(&specs).parent().unwrap_or(Path::new("."));
    let name = Path::new(&specs)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut files = |file: &str| std::fs::read_to_string(folder.join(file)).map_err(|e| e.to_string());
    print!(
        "{}",
        disksim_import::to_toml(&disksim_import::import(&name, &mut files)?)?
    );
    Ok(())
}
