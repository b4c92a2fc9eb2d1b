//! Parquet files are readable by common programs.

use crate::desk::Desk;
use crate::kept;
use std::process::Command;

/// Number of rows and sum of the values, with DuckDB, with pandas, and from the CSV with pandas.
const SCRIPT: &str = "
import duckdb, pandas
rows, total = duckdb.sql(\"SELECT count(*), sum(value) FROM 'samples.parquet' WHERE machine = 'lab (simulated)'\").fetchall()[0]
frame, csv = pandas.read_parquet('samples.parquet'), pandas.read_csv('samples.csv', keep_default_na=False)
assert list(frame.columns) == list(csv.columns), (frame.columns, csv.columns)
assert str(frame.seed.dtype).lower() == 'uint64' and frame.value.dtype == 'float64', frame.dtypes
assert frame.fillna('').astype(str).equals(csv.astype(str)) or (frame.value == csv.value).all()
print(rows, total, len(frame), frame.value.sum(), len(csv))
";

#[test]
fn issue_14_duckdb_and_pandas_read_the_parquet_export() {
    let python = std::env::var("RAIDLAB_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_modules = Command::new(&python)
        .args(["-c", "import duckdb, pandas, pyarrow"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !has_modules {
        return requirements::skip(format!(
            "{python} has no duckdb, pandas and pyarrow (pip): RAIDLAB_PYTHON names a Python that has them"
        ));
    }
    let desk = Desk::new();
    kept::store_with_samples(&desk, "raidlab.db", 1000);
    for format in ["parquet", "csv"] {
        let file = format!("samples.{format}");
        let ran = desk.run(&["export", "--format", format, "-o", &file]);
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    }
    let output = Command::new(&python)
        .current_dir(desk.folder())
        .args(["-c", SCRIPT])
        .output();
    let output = output.expect("python is run");
    let (said, errors) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{errors}");
    let figures: Vec<f64> = said
        .split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect();
    assert_eq!((figures[0], figures[1]), (1000.0, figures[3]), "{said}");
    assert_eq!((figures[2], figures[4]), (1000.0, 1000.0), "{said}");
}

#[test]
fn issue_14_a_parquet_file_is_not_written_to_a_terminal() {
    let desk = Desk::new();
    kept::store_with_samples(&desk, "raidlab.db", 4);
    let mut script = desk.command("script");
    let command = format!("{} export --format parquet", crate::desk::PROGRAM);
    script.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
    let Ok(output) = script.output() else {
        return requirements::skip("no terminal to try it on: script");
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.code() == Some(2) && said.contains("name a file with -o"),
        "{said}"
    );
}
