//! The tables' SQL: the rows of one owner are written, and read in the order of their keys.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, params_from_iter};

use crate::cell::{Row, copied};
use crate::error::Fault;
use crate::table::{Rows, Table};

/// Writes the rows of an owner.
pub(crate) fn insert(
    connection: &Connection,
    owner: &[i64],
    tables: &[Table],
    rows: &Rows,
) -> Result<(), Fault> {
    for table in tables {
        let rows = rows.of(table);
        if rows.is_empty() {
            continue;
        }
        let columns = [&table.owners[..owner.len()], table.columns].concat();
        let placeholders = vec!["?"; columns.len()].join(", ");
        let (name, columns) = (table.name, columns.join(", "));
        let sql = format!("INSERT INTO {name} ({columns}) VALUES ({placeholders})");
        let mut statement = connection.prepare_cached(&sql)?;
        let owner: Row = owner.iter().map(|&number| Value::Integer(number)).collect();
        for row in rows {
            assert_eq!(row.len(), table.columns.len(), "{}", table.name);
            statement.execute(params_from_iter(owner.iter().chain(row)))?;
        }
    }
    Ok(())
}

/// The rows of one owner never take more memory than this: a store made by another program may try to take more.
const LARGEST: usize = 192 << 20;
/// The memory that a value takes besides its text or bytes.
const VALUE: usize = size_of::<Value>();

/// Reads the rows of an owner.
pub(crate) fn read(
    connection: &Connection,
    owner: &[i64],
    tables: &[Table],
) -> Result<Rows, Fault> {
    read_within(LARGEST, connection, owner, tables)
}

fn read_within(
    largest: usize,
    connection: &Connection,
    owner: &[i64],
    tables: &[Table],
) -> Result<Rows, Fault> {
    let mut all = Rows::default();
    let (mut bytes, mut alike) = (0, 0);
    for table in tables {
        let owners = &table.owners[..owner.len()];
        let mine: Vec<String> = owners.iter().map(|column| format!("{column} = ?")).collect();
        let keys = [owners, &table.columns[..table.keys]].concat();
        let sql = format!(
            "SELECT {} FROM {} WHERE {} ORDER BY {}",
            table.columns.join(", "),
            table.name,
            mine.join(" AND "),
            keys.join(", "),
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut found = statement.query(params_from_iter(owner))?;
        while let Some(row) = found.next()? {
            bytes += (0..table.columns.len()).map(|at| size(row.get_ref_unwrap(at))).sum::<usize>();
            if largest < bytes {
                let says = format!("more than {largest} bytes up to `{}`", table.name);
                return Err(too_much(table, owner, &says));
            }
            let cells = (0..table.columns.len()).map(|index| copied(row.get_ref_unwrap(index)));
            let cells = cells.collect::<Result<Row, String>>();
            let cells = cells.map_err(|says| Fault::Damaged(format!("{}: {says}", table.name)))?;
            if let Some(limit) = table.limit {
                let is_alike = |last: &Row| last[..limit.alike] == cells[..limit.alike];
                alike = if all.of(table).last().is_some_and(is_alike) { alike + 1 } else { 1 };
                if limit.most < alike {
                    let says = format!("more than {} {}", limit.most, limit.of);
                    return Err(too_much(table, owner, &says));
                }
            }
            all.add(table.name, cells);
        }
    }
    Ok(all)
}

fn too_much(table: &Table, owner: &[i64], says: &str) -> Fault {
    let owner = table.owners.iter().zip(owner).map(|(name, number)| format!("{name} {number}"));
    Fault::TooMuch(format!("{}: {says}", owner.collect::<Vec<_>>().join(", ")))
}

fn size(value: ValueRef<'_>) -> usize {
    VALUE
        + match value {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 0,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opening;
    use crate::table::RUN;

    #[test]
    fn rows_beyond_all_measure_are_not_read_into_memory() {
        let path = std::env::temp_dir().join(format!("dyno-ledger-{}", std::process::id()));
        let store = opening::open(&path).unwrap().connection;
        let sql = "PRAGMA foreign_keys = OFF;
                   INSERT INTO run VALUES (1, 'json', 0, 7, 0, '0.1.0');
                   WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
                   INSERT INTO run_plan SELECT 1, i, 'a', 'b', 1, 'connections', 0 FROM n";
        store.execute_batch(sql).unwrap();
        let read = |largest| read_within(largest, &store, &[1], RUN);
        assert!(read(LARGEST).is_ok());
        assert!(matches!(read(100_000), Err(Fault::TooMuch(says)) if says.contains("run_plan")));
        drop(store);
        let _ = std::fs::remove_file(path);
    }
}
