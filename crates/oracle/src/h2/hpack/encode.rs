//! Encodes header lists, in every manner that servers have.

use super::{STATIC, TABLE_BYTES, Table, huffman, push_number};

/// How fields are encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Manner {
    /// What was sent before is referred to.
    #[default]
    Indexed,
    /// Every field is put into the peer's table, and none is ever referred to: as nginx does.
    Inserted,
    /// No table: names of the static one, and literals.
    Static,
    /// Literals without Huffman's code and without names of a table.
    Plain,
    /// Literals that no proxy may index.
    Never,
    /// The table is emptied and opened again at the head of every block.
    Resizing,
}

impl Manner {
    #[cfg(test)]
    pub(crate) const ALL: [Manner; 6] = [
        Manner::Indexed,
        Manner::Inserted,
        Manner::Static,
        Manner::Plain,
        Manner::Never,
        Manner::Resizing,
    ];
}

/// One direction of a connection.
#[derive(Debug)]
pub(crate) struct Encoder {
    table: Table,
    /// The least and the last size that the peer has allowed since the last block.
    resized: Option<(usize, usize)>,
}

impl Encoder {
    pub(crate) fn new() -> Encoder {
        Encoder { table: Table::new(), resized: None }
    }

    /// The peer allows this much for its table. No more than the usual size is used.
    pub(crate) fn limit(&mut self, most: usize) {
        let most = most.min(TABLE_BYTES);
        let least = self.resized.map_or(most, |(least, _)| least.min(most));
        self.resized = Some((least, most));
    }

    /// RFC 7541, 4.2: a block begins with the changes of the table's size; the smallest is signalled, too.
    pub(crate) fn begin(&mut self, manner: Manner, out: &mut Vec<u8>) {
        let most = self.resized.map_or(self.table.most, |(_, most)| most);
        let resized = match manner {
            Manner::Resizing => Some((0, most)),
            _ => self.resized.filter(|both| *both != (self.table.most, self.table.most)),
        };
        self.resized = None;
        let Some((least, most)) = resized else { return };
        if least < most {
            self.resize(least, out);
        }
        self.resize(most, out);
    }

    fn resize(&mut self, most: usize, out: &mut Vec<u8>) {
        self.table.resize(most);
        push_number(out, 0x20, 5, most);
    }

    /// Appends one field.
    pub(crate) fn push(&mut self, name: &[u8], value: &[u8], manner: Manner, out: &mut Vec<u8>) {
        let (exact, named) = self.find(name, value, manner);
        if let Some(place) = exact {
            return push_number(out, 0x80, 7, place);
        }
        // What differs from answer to answer would only drive the rest out of the table.
        let varies = name == b"content-length" || name == b"x-oracle-delay-ns";
        match manner {
            Manner::Indexed | Manner::Resizing if varies => push_number(out, 0, 4, named),
            Manner::Indexed | Manner::Resizing | Manner::Inserted => {
                push_number(out, 0x40, 6, named);
                self.table.insert(name, value);
            }
            Manner::Static | Manner::Plain => push_number(out, 0, 4, named),
            Manner::Never => push_number(out, 0x10, 4, named),
        }
        if named == 0 {
            push_string(name, manner, out);
        }
        push_string(value, manner, out);
    }

    /// The place of the field, and that of its name or 0, as far as the manner uses places.
    fn find(&self, name: &[u8], value: &[u8], manner: Manner) -> (Option<usize>, usize) {
        if manner == Manner::Plain {
            return (None, 0);
        }
        let entries = STATIC.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let mut named = 0;
        for (at, entry) in entries.enumerate().filter(|(_, entry)| entry.0 == name) {
            if entry.1 == value && manner != Manner::Never {
                return (Some(at + 1), at + 1);
            }
            named = if named == 0 { at + 1 } else { named };
        }
        if matches!(manner, Manner::Indexed | Manner::Resizing) {
            for (at, entry) in self.table.entries.iter().enumerate() {
                if entry.parts() == (name, value) {
                    return (Some(STATIC.len() + at + 1), 0);
                }
                if named == 0 && entry.parts().0 == name {
                    named = STATIC.len() + at + 1;
                }
            }
        }
        (None, named)
    }
}

fn push_string(text: &[u8], manner: Manner, out: &mut Vec<u8>) {
    let coded = if manner == Manner::Plain { text.len() } else { huffman::coded_length(text) };
    if coded < text.len() {
        push_number(out, 0x80, 7, coded);
        huffman::encode(text, out);
    } else {
        push_number(out, 0, 7, text.len());
        out.extend_from_slice(text);
    }
}
