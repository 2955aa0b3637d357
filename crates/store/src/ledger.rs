//! The tables' SQL: rows of one owner go in, and come out in the order of their keys.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::cell::{Row, copied};
use crate::error::Fault;
use crate::opening;
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
        let holes = vec!["?"; columns.len()].join(", ");
        let name = table.stored(opening::version(connection)?);
        let sql = format!("INSERT INTO {name} ({}) VALUES ({holes})", columns.join(", "));
        let mut statement = connection.prepare_cached(&sql)?;
        let owner: Row = owner.iter().map(|&number| Value::Integer(number)).collect();
        for row in rows {
            assert_eq!(row.len(), table.columns.len(), "{}", table.name);
            statement.execute(params_from_iter(owner.iter().chain(row)))?;
        }
    }
    Ok(())
}

/// Reads the rows of an owner. A table that an older store does not have yet has none.
pub(crate) fn read(
    connection: &Connection,
    owner: &[i64],
    tables: &[Table],
) -> Result<Rows, Fault> {
    let mut all = Rows::default();
    let version = opening::version(connection)?;
    for table in tables.iter().filter(|table| table.since <= version) {
        let owners = &table.owners[..owner.len()];
        let mine: Vec<String> = owners.iter().map(|column| format!("{column} = ?")).collect();
        let keys = [owners, &table.columns[..table.keys]].concat();
        let sql = format!(
            "SELECT {} FROM {} WHERE {} ORDER BY {}",
            table.columns.join(", "),
            table.stored(version),
            mine.join(" AND "),
            keys.join(", "),
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut found = statement.query(params_from_iter(owner))?;
        while let Some(row) = found.next()? {
            let cells = (0..table.columns.len()).map(|index| copied(row.get_ref_unwrap(index)));
            let cells = cells.collect::<Result<Row, String>>();
            let cells = cells.map_err(|says| Fault::Damaged(format!("{}: {says}", table.name)))?;
            all.add(table.name, cells);
        }
    }
    Ok(all)
}
