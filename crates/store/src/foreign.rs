//! What a file from elsewhere may cost, and what it must be: the tables of a dyno and nothing else. A view in the place
//! of a table, or pages that are linked in a circle, would make a small file look like endless rows.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use rusqlite::Connection;
use rusqlite::limits::Limit;

use crate::error::Fault;
use crate::opening::{SCHEMA, beside};

/// No text or blob is longer: a load's windows of an hour are some megabytes.
const VALUE_BYTES: i32 = 128 << 20;
/// No statement is longer, of ours or in a schema.
const STATEMENT_BYTES: i32 = 64 << 10;
/// What SQLite may allocate, in all connections of this process.
const HEAP_BYTES: i64 = 160 << 20;

/// SQLite's steps for any store, and for each byte of its files: a row of a dyno's has 20 bytes or more, and takes some
/// 20 steps to be read, 60 to be deleted.
const STEPS: i64 = 50_000_000;
const STEPS_PER_BYTE: i64 = 16;
/// So many steps of one statement are counted at once.
const AT_ONCE: i32 = 1_000;

/// How many steps of SQLite are left to a connection; a statement that goes on without any is interrupted.
#[derive(Clone, Debug)]
pub(crate) struct Steps(Arc<AtomicI64>);

impl Steps {
    /// Bounds the work and the memory of a connection, which has not run a statement yet.
    pub(crate) fn of(connection: &Connection, path: &Path) -> Result<Steps, Fault> {
        let steps = Steps(Arc::default());
        steps.renew([path]);
        let left = Arc::clone(&steps.0);
        let is_over = move || left.fetch_sub(i64::from(AT_ONCE), Ordering::Relaxed) < 0;
        connection.progress_handler(AT_ONCE, Some(is_over));
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES)?;
        connection.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, STATEMENT_BYTES)?;
        connection.query_row(&format!("PRAGMA hard_heap_limit = {HEAP_BYTES}"), [], |_| Ok(()))?;
        Ok(steps)
    }

    /// Allows once more what the content of these stores can explain.
    pub(crate) fn renew<'p>(&self, stores: impl IntoIterator<Item = &'p Path>) {
        let length = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
        let bytes: u64 =
            stores.into_iter().map(|it| length(it) + length(&beside(it, "-wal"))).sum();
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.0.store(STEPS.saturating_add(bytes.saturating_mul(STEPS_PER_BYTE)), Ordering::Relaxed);
    }
}

/// A table, an index or a view: its type, its name, and the essence of the statement that made it.
type Object = (String, String, String);

/// Refuses a store whose tables are not those of the schema.
pub(crate) fn refuse_other_tables(connection: &Connection) -> Result<(), Fault> {
    let known = known()?;
    let found = objects(connection, known.len() + 1)?;
    let lacks = |all: &[Object], of: &Object| !all.contains(of);
    let odd = found.iter().find(|it| lacks(known, it)).map(|it| (it, "is none of a dyno's"));
    let odd =
        odd.or_else(|| known.iter().find(|it| lacks(&found, it)).map(|it| (it, "is missing")));
    let Some(((kind, name, _), says)) = odd else { return Ok(()) };
    let short = |text: &str| text.chars().take(60).flat_map(char::escape_debug).collect::<String>();
    Err(Fault::OtherTables(format!("the {} `{}` {says}", short(kind), short(name))))
}

/// The objects that the schema makes. They are made in memory, once.
fn known() -> Result<&'static [Object], Fault> {
    static KNOWN: OnceLock<Vec<Object>> = OnceLock::new();
    if let Some(known) = KNOWN.get() {
        return Ok(known);
    }
    let memory = Connection::open_in_memory()?;
    memory.execute_batch(SCHEMA)?;
    let made = objects(&memory, usize::MAX)?;
    Ok(KNOWN.get_or_init(|| made))
}

fn objects(connection: &Connection, most: usize) -> Result<Vec<Object>, Fault> {
    let mut statement = connection.prepare("SELECT type, name, sql FROM sqlite_schema")?;
    let object = |row: &rusqlite::Row<'_>| {
        let sql: Option<String> = row.get(2)?;
        Ok((row.get(0)?, row.get(1)?, essence(&sql.unwrap_or_default())))
    };
    let found = statement.query_map([], object)?.take(most);
    Ok(found.collect::<Result<_, _>>()?)
}

/// A statement without its comments and blanks, which have changed, and without the quotation marks that SQLite adds to
/// names.
fn essence(sql: &str) -> String {
    let code = sql.lines().map(|line| line.split_once("--").map_or(line, |(code, _)| code));
    code.flat_map(str::chars).filter(|it| !it.is_whitespace() && *it != '"').collect()
}
