//! The rows of the CSV as a Parquet file, for DuckDB, pandas, Polars and Spark.

use super::figures::{Exported, Figure};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// Rows per row group: the writer keeps them in memory, and a reader can skip them.
const GROUP_ROWS: usize = 1 << 17;

/// The whole file. Missing text (an axis that a cell does not have) is null.
pub(super) fn file(exported: &Exported) -> Vec<u8> {
    written(exported).expect("writing to memory does not fail, and all columns have the schema's types")
}

fn written(exported: &Exported) -> Result<Vec<u8>> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("raidlab {}", env!("CARGO_PKG_VERSION")))
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema(exported)?, Arc::new(properties))?;
    let mut figures = exported.figures().peekable();
    while figures.peek().is_some() {
        let rows: Vec<Figure<'_>> = figures.by_ref().take(GROUP_ROWS).collect();
        let mut group = writer.next_row_group()?;
        write_group(&mut group, &rows, exported.axes().len())?;
        group.close()?;
    }
    writer.into_inner()
}

/// The columns of the CSV in its order.
fn schema(exported: &Exported) -> Result<TypePtr> {
    let fixed = exported.heading().len() - exported.axes().len();
    let columns = exported.heading().into_iter().enumerate().map(|(place, name)| {
        let (physical, logical) = match name.as_str() {
            "seed" => (Physical::INT64, Some(LogicalType::integer(64, false))),
            "trial" => (Physical::INT32, Some(LogicalType::integer(32, false))),
            "value" => (Physical::DOUBLE, None),
            _ => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repetition = if place < fixed {
            Repetition::REQUIRED
        } else {
            Repetition::OPTIONAL
        };
        let column = Type::primitive_type_builder(&name, physical)
            .with_logical_type(logical)
            .with_repetition(repetition);
        column.build().map(Arc::new)
    });
    let columns: Vec<TypePtr> = columns.collect::<Result<_>>()?;
    Type::group_type_builder("samples")
        .with_fields(columns)
        .build()
        .map(Arc::new)
}

type Group<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

fn write_group(group: &mut Group<'_>, rows: &[Figure<'_>], axes: usize) -> Result<()> {
    text(group, rows, |row| row.cell)?;
    text(group, rows, |row| row.stack)?;
    text(group, rows, |row| row.workload)?;
    text(group, rows, |row| row.machine)?;
    // Parquet stores unsigned numbers with the bits of signed ones.
    values::<Int64Type>(group, rows.iter().map(|row| row.seed.cast_signed()).collect())?;
    values::<Int32Type>(group, rows.iter().map(|row| row.trial.cast_signed()).collect())?;
    text(group, rows, |row| row.test)?;
    text(group, rows, |row| &row.metric)?;
    values::<DoubleType>(group, rows.iter().map(|row| row.value).collect())?;
    text(group, rows, |row| row.unit)?;
    text(group, rows, |row| row.better)?;
    text(group, rows, |row| &row.failed_guards)?;
    for axis in 0..axes {
        let present = |row: &Figure<'_>| i16::from(row.axes[axis].is_some());
        let levels: Vec<i16> = rows.iter().map(present).collect();
        let texts = rows.iter().filter_map(|row| row.axes[axis]).map(ByteArray::from);
        column::<ByteArrayType>(group, &texts.collect::<Vec<_>>(), Some(&levels))?;
    }
    Ok(())
}

fn text<'a>(group: &mut Group<'_>, rows: &'a [Figure<'a>], of: impl Fn(&'a Figure<'a>) -> &'a str) -> Result<()> {
    values::<ByteArrayType>(group, rows.iter().map(|row| ByteArray::from(of(row))).collect())
}

fn values<T: DataType>(group: &mut Group<'_>, values: Vec<T::T>) -> Result<()> {
    column::<T>(group, &values, None)
}

/// The next column; `levels` are 0 for rows without a value.
fn column<T: DataType>(group: &mut Group<'_>, values: &[T::T], levels: Option<&[i16]>) -> Result<()> {
    let mut column = group.next_column()?.expect("the schema has a column for each");
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}
