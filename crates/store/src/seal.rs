//! Seals: SHA-256 over every value of every row, so that a changed, missing or added row is detected.

use rusqlite::types::Value;
use sha2::{Digest, Sha256};

use crate::table::{Rows, Table};

/// A seal's bytes.
pub(crate) type Seal = [u8; 32];

/// The seal over these tables' rows of one owner. `docs/store.md` has the layout.
pub(crate) fn seal(owner: &[i64], tables: &[Table], rows: &Rows) -> Seal {
    let mut hash = Sha256::new();
    hash.update(b"dyno store 1\n");
    for number in owner {
        hash.update(number.to_be_bytes());
    }
    for table in tables {
        let rows = rows.of(table);
        feed_bytes(&mut hash, b'T', table.name.as_bytes());
        hash.update((rows.len() as u64).to_be_bytes());
        for value in rows.iter().flatten() {
            feed(&mut hash, value);
        }
    }
    hash.finalize().into()
}

fn feed(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Null => hash.update(b"0"),
        Value::Integer(number) => feed_number(hash, b'i', number.to_be_bytes()),
        Value::Real(number) => feed_number(hash, b'r', number.to_bits().to_be_bytes()),
        Value::Text(text) => feed_bytes(hash, b't', text.as_bytes()),
        Value::Blob(bytes) => feed_bytes(hash, b'b', bytes),
    }
}

fn feed_number(hash: &mut Sha256, kind: u8, bytes: [u8; 8]) {
    let mut fed = [kind; 9];
    fed[1..].copy_from_slice(&bytes);
    hash.update(fed);
}

fn feed_bytes(hash: &mut Sha256, kind: u8, bytes: &[u8]) {
    feed_number(hash, kind, (bytes.len() as u64).to_be_bytes());
    hash.update(bytes);
}
