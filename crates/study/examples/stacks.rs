//! Prints docs/stacks.md: the stacks of studies/every-stack.toml, and what cannot be.

fn main() {
    let source = include_str!("../../../studies/every-stack.toml");
    match study::read(source, "studies/every-stack.toml", &study::Known::default()) {
        Ok(plan) => print!("{}", study::stacks(&plan)),
        Err(mistakes) => {
            eprintln!("{mistakes}");
            std::process::exit(2);
        }
    }
}
